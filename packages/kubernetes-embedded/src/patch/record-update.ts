import type { ManagedFields, Schema, Stored } from "../resource.ts";
import { type Changes, compare } from "./compare.ts";
import { type FieldSet, isEmpty, union } from "./field-set.ts";
import { objectType } from "./field-type.ts";
import {
  apiVersionOf,
  capped,
  changesBut,
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
import { isMap } from "./refusal.ts";

/** A create, an update, or a patch other than an apply. */
export interface Update {
  resource: Owned;
  /** The other versions that are served; who manages fields by one that is not, no longer does. */
  others?: readonly Owned[];
  /** The stored object; undefined where one is created. */
  before: Stored | undefined;
  /** The object as it was sent or patched, pruned and with its defaults, before anything else is done to it. */
  after: Stored;
  manager: string;
  subresource?: string | undefined;
  now: number;
}

/** Who manages which field after an update. */
export function recordUpdate(update: Update): ManagedFields[] | undefined {
  const { resource, others = [], before, now } = update;
  const managers = managersBefore(update);
  // Whoever threw the managers away wants none, until somebody applies.
  if (managers.size === 0 && before !== undefined) return undefined;
  const changes = changesByVersion({ ...update, before: before ?? emptyObject(resource), others });
  const own = changes(apiVersionOf(resource)) as Changes;
  const result: Managers = new Map();
  for (const [id, manager] of managers) {
    const theirs = changes(manager.apiVersion);
    const left = theirs && reduced(manager, theirs);
    if (left) result.set(id, left);
  }
  const set = manageable(union(own.added, own.modified));
  if (!isEmpty(set)) addUpdate(result, update, set, timeText(now));
  return encodeManagers(capped(result));
}

function addUpdate(managers: Managers, update: Update, set: FieldSet, time: string): void {
  const who = {
    manager: update.manager || "unknown",
    operation: "Update",
    apiVersion: apiVersionOf(update.resource),
    ...(update.subresource && { subresource: update.subresource }),
  } as const;
  const id = identity(who);
  const previous: Manager | undefined = managers.get(id);
  managers.set(id, { ...who, time, set: previous ? union(set, previous.set) : set });
}

/** People may write managers themselves, but not by a subresource, and an unreadable list is as none. */
function managersBefore({ resource, before, after, subresource }: Update): Managers {
  const stored = () => decodeManagers(before?.metadata.managedFields) ?? new Map();
  if (subresource) return stored();
  const given: unknown = after.metadata.managedFields;
  if (isReset(resource, given)) return new Map();
  const decoded = decodeManagers(given);
  return decoded && decoded.size > 0 ? decoded : stored();
}

/** One empty entry throws all managers away; an empty list does too, but not of a custom resource. */
function isReset({ builtIn }: Owned, entries: unknown): boolean {
  if (!Array.isArray(entries)) return false;
  if (entries.length === 0) return builtIn;
  return entries.length === 1 && Object.keys(entries[0]).length === 0;
}

/**
 * The changes of a write, as each version of the resource sees them, worked out once for each; undefined for a
 * version that is not served.
 */
export function changesByVersion({
  resource,
  others,
  before,
  after,
  subresource,
}: {
  resource: Owned;
  others: readonly Owned[];
  before: Stored;
  after: Stored;
  subresource?: string | undefined;
}): (apiVersion: string) => Changes | undefined {
  const worked = new Map<string, Changes | undefined>();
  const [from, to] = [comparable(before), comparable(after)];
  return (apiVersion) => {
    if (worked.has(apiVersion)) return worked.get(apiVersion);
    const isOwn = apiVersion === apiVersionOf(resource);
    const version = isOwn ? resource : others.find((other) => apiVersionOf(other) === apiVersion);
    const all = version && compare(objectType(version.schema), from, to);
    // A write to the object resets the status of its own version alone, as in the API server.
    const resets = all && (isOwn || subresource === "status");
    const changes = resets ? changesBut(resetFields(resource, subresource), all) : all;
    worked.set(apiVersion, changes);
    return changes;
  };
}

/** An object without what the API server says of it, which changes with every write and which nobody manages. */
function comparable(object: Stored): unknown {
  const { apiVersion: _, kind: __, metadata, ...rest } = object;
  const { managedFields, resourceVersion, generation, uid, creationTimestamp, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

/** What an object is compared with that is new. A built-in has its parts from the start, if empty, as Go has them. */
export function emptyObject({ builtIn, schema }: Owned): Stored {
  const parts = builtIn ? Object.entries(schema.properties ?? {}) : [];
  const structs = parts.filter(([, { type, properties }]) => type === "object" && properties);
  const empty = structs.map(([name, struct]) => [name, emptyStruct(struct)] as const);
  return { ...Object.fromEntries(empty), metadata: {} } as Stored;
}

function emptyStruct({ properties = {} }: Schema): Record<string, unknown> {
  const parts = Object.entries(properties).filter(([, { default: given }]) => isMap(given));
  return Object.fromEntries(parts.map(([name, struct]) => [name, emptyStruct(struct)]));
}
