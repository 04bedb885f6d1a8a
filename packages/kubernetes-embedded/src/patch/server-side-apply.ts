import type { Stored } from "../resource.ts";
import { appliedProblems } from "./applied-problems.ts";
import { type Changes, same } from "./compare.ts";
import { conflictRefusal, conflictsWith } from "./conflicts.ts";
import {
  difference,
  type FieldSet,
  hasPath,
  intersection,
  isEmpty,
  union,
  without,
} from "./field-set.ts";
import { type FieldType, objectType } from "./field-type.ts";
import { fieldsOf, withNamedFields } from "./fields-of.ts";
import { kubectl, lastApplied, withLastApplied } from "./last-applied.ts";
import {
  apiVersionOf,
  decodeManagers,
  encodeManagers,
  identity,
  type Manager,
  type Managers,
  manageable,
  type Owned,
  reduced,
  resetFields,
  timeText,
} from "./managers.ts";
import { mergeApplied } from "./merge-applied.ts";
import { changesByVersion, emptyObject, recordUpdate } from "./record-update.ts";
import { type Patched, type Refusal, unreadable } from "./refusal.ts";
import { removeFields } from "./remove-fields.ts";

/** A server-side apply. */
export interface Apply {
  resource: Owned & { kind: string };
  /** The other versions that are served; who manages fields by one that is not, no longer does. */
  others?: readonly Owned[];
  /** The stored object; undefined where one is created. */
  live: Stored | undefined;
  /** What was sent, as it was sent. */
  applied: Stored;
  manager: string;
  force: boolean;
  subresource?: string | undefined;
  now: number;
}

/**
 * The object after a server-side apply, with who manages which field; defaults are not filled in yet. Where nothing
 * changes, neither does `managedFields`. Without force, it is refused where it would change what others manage.
 */
export function serverSideApply(apply: Apply): Patched {
  const { resource, others = [], applied, force, subresource, now } = apply;
  const unfit = unfitToApply(apply);
  if (unfit) return { refused: unfit };
  const live = withManagers(apply);
  const type = objectType(resource.schema);
  const apiVersion = apiVersionOf(resource);
  const managers = servedManagers(live, [resource, ...others]);
  const who: Omit<Manager, "set" | "time"> = {
    manager: apply.manager,
    operation: "Apply",
    apiVersion,
    ...(subresource && { subresource }),
  };
  const id = identity(who);
  const last = managers.get(id);
  const set = without(fieldsOf(type, applied), resetFields(resource, subresource));
  managers.set(id, { ...who, set });
  const merged = mergeApplied(type, apply.live && live, applied) as Stored;
  const object = last ? pruned(type, merged, last, managers) : merged;

  const changes = changesByVersion({ resource, others, before: live, after: object, subresource });
  const conflicts = force ? [] : conflictsWith(managers, id, changes);
  const granted = apply.manager === kubectl ? lastApplied(type, live) : {};
  const left = conflicts.filter(({ path }) => !hasPath(granted, path));
  if (left.length > 0) return { refused: conflictRefusal(left) };
  const after = managersAfter(managers, id, changes);
  const own = manageable(set);
  // Whoever only says what is so already gets no time, as in the API server.
  const time = same(live, object) ? last?.time : timeText(now);
  if (!isEmpty(own)) after.set(id, { ...who, ...(time && { time }), set: own });
  const managedFields = encodeManagers(after);
  const { managedFields: _, ...metadata } = object.metadata ?? {};
  const result = { ...object, metadata: { ...metadata, ...(managedFields && { managedFields }) } };
  return { object: apply.manager === kubectl ? withLastApplied(result, applied) : result };
}

function unfitToApply({ resource, applied }: Apply): Refusal | undefined {
  const { kind = "", apiVersion = "", metadata } = applied;
  if (kind !== resource.kind || apiVersion !== apiVersionOf(resource)) {
    const message = `invalid object type: ${typeText(apiVersion, kind)}`;
    return unreadable(message).refused;
  }
  if ((metadata?.managedFields ?? null) !== null) {
    return unreadable("metadata.managedFields must be nil").refused;
  }
  const problems = appliedProblems(objectType(resource.schema), applied);
  if (problems.length === 0) return undefined;
  const name = `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}; ${typeText(apiVersion, kind)}`;
  const told = problems.length === 1 ? problems[0] : ["errors:", ...problems].join("\n  ");
  return {
    code: 500,
    reason: "",
    message: `failed to create typed patch object (${name}): ${told}`,
  };
}

function typeText(apiVersion: string, kind: string): string {
  const [version, group] = apiVersion.split("/").reverse();
  return `${group ? `${group}/` : "/"}${version}, Kind=${kind}`;
}

/** The stored object. Where nobody is known to manage it, all that is in it was there before the first apply. */
function withManagers({ resource, others, live, subresource, now }: Apply): Stored {
  if (live === undefined) return emptyObject(resource);
  if (live.metadata.managedFields?.length) return live;
  const manager = "before-first-apply";
  const { managedFields: _, ...metadata } = live.metadata;
  const given = { before: undefined, after: { ...live, metadata }, manager, subresource, now };
  const entries = recordUpdate({ resource, ...(others && { others }), ...given });
  return { ...live, metadata: { ...metadata, ...(entries && { managedFields: entries }) } };
}

function servedManagers(live: Stored, versions: readonly Owned[]): Managers {
  const served = new Set(versions.map(apiVersionOf));
  const managers: Managers = decodeManagers(live.metadata.managedFields) ?? new Map();
  return new Map([...managers].filter(([, manager]) => served.has(manager.apiVersion)));
}

/** The merged object without what its applier said before and no longer says, unless somebody else manages it. */
function pruned(type: FieldType, merged: Stored, last: Manager, managers: Managers): Stored {
  const named = (set: FieldSet) => withNamedFields(type, set);
  const before = named(last.set);
  const all = named(fieldsOf(type, merged));
  const first = removeFields(type, merged, before);
  const managed = named([...managers.values()].map(({ set }) => set).reduce(union, {}));
  const kept = union(named(fieldsOf(type, first)), managed);
  const second = removeFields(type, merged, difference(all, kept));
  const gone = difference(all, named(fieldsOf(type, second)));
  // Only what was said before: what nobody ever managed stays.
  return removeFields(type, merged, intersection(gone, before)) as Stored;
}

function managersAfter(
  managers: Managers,
  applier: string,
  changes: (apiVersion: string) => Changes | undefined,
): Managers {
  const after: Managers = new Map();
  for (const [id, manager] of managers) {
    const theirs = changes(manager.apiVersion);
    const left = id !== applier && theirs ? reduced(manager, theirs) : undefined;
    if (left) after.set(id, left);
  }
  return after;
}
