import { type PlannedCondition, withConditions } from "@postern/core/conditions.ts";
import { apiVersionOf, type Kind, type KubeObject } from "@postern/core/kind.ts";
import type { Condition } from "@postern/core/kinds/condition.ts";
import { type KubeClient, parseBody } from "./client.ts";
import { KubeError } from "./errors.ts";

/** The part of the status that one controller owns. */
export interface OwnStatus {
  /** The types of its conditions. */
  conditions: readonly string[];
  /** Its fields beside the conditions. */
  fields: readonly string[];
}

/** An object that may have a status. */
export type WithStatus = KubeObject & {
  status?: { conditions?: readonly Condition[] } & Record<string, unknown>;
};

/**
 * What to apply so that our part of the status is as planned, or undefined when it is so already.
 * Fields that are not planned are left out, and so removed by the server; another's are never named.
 */
export function statusChange(
  object: WithStatus,
  own: OwnStatus,
  planned: {
    conditions: readonly (PlannedCondition | Condition)[];
    fields: Record<string, unknown>;
  },
  now: Date,
  list?: Kind["conditionList"],
): Record<string, unknown> | undefined {
  const all = object.status?.conditions?.filter((each) => own.conditions.includes(each.type)) ?? [];
  const current = list === "whole" ? firstOfEach(all) : all;
  const observedGeneration = object.metadata.generation ?? 0;
  // One that is only carried along says itself for which generation it was decided.
  const desired = planned.conditions.map((each) =>
    list === "whole" ? withSeverity(each) : { observedGeneration, ...withoutSeverity(each) },
  );
  const conditions = withConditions(current, desired, own.conditions, now);
  const changed =
    conditions !== current ||
    current.length < all.length ||
    own.fields.some((field) => !same(object.status?.[field], planned.fields[field]));
  if (!changed) return undefined;
  const status: Record<string, unknown> = {};
  for (const field of own.fields)
    if (planned.fields[field] !== undefined) status[field] = planned.fields[field];
  if (conditions.length > 0) status.conditions = conditions;
  return status;
}

/** Cluster API passes over a condition that is False and does not say how bad that is, when it sums conditions up. */
function withSeverity<T extends PlannedCondition | Condition>(condition: T): T {
  return condition.status === "False" ? { severity: "Error", ...condition } : condition;
}

/** Only the conditions of Cluster API have the field. What the API server drops would be written again and again. */
function withoutSeverity({ severity: _, ...condition }: PlannedCondition): PlannedCondition {
  return condition;
}

/**
 * Apply our part of the status, as the named field manager; the answer are the versions that this made.
 * Leaving a field out of an apply only gives up our claim on it: what another manager has set too, such as the
 * operator that was here before us, stays. That is taken away by a second write.
 */
export async function writeStatus(
  client: KubeClient,
  kind: Kind,
  object: WithStatus,
  own: OwnStatus,
  status: Record<string, unknown>,
  fieldManager: string,
  signal?: AbortSignal,
): Promise<string[]> {
  if (kind.conditionList === "whole")
    return writeWhole(client, kind, object, own, status, fieldManager, signal);
  const { namespace, name, uid } = object.metadata;
  const place = { kind, namespace, name };
  const options = { subresource: "status", fieldManager, ...(signal && { signal }) } as const;
  // An apply that takes the last field out of a status leaves null there, which no schema takes.
  if (Object.keys(status).length === 0) {
    const latest = await client.get<WithStatus>(place, signal);
    const leftovers =
      latest?.metadata.uid === uid ? latest && leftoverOf(latest, own, status) : undefined;
    return leftovers ? [versionIn(await client.patch(place, "merge", leftovers, options))] : [];
  }
  const body = {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    // With the uid a new object of the same name is never taken for this one.
    metadata: { name, ...(namespace && { namespace }), ...(uid && { uid }) },
    status,
  };
  const answer = await client.patch(place, "apply", body, { ...options, force: true });
  const versions = [versionIn(answer)];
  if (!removesFields(object, own, status)) return versions;
  const leftovers = leftoverOf(parseBody(answer), own, status);
  if (leftovers !== undefined)
    versions.push(versionIn(await client.patch(place, "merge", leftovers, options)));
  return versions;
}

/** How often a list that others write too is read again. */
const wholeTries = 4;

/** The same where the conditions are one list: it is written whole, in the version in which it was read. */
async function writeWhole(
  client: KubeClient,
  kind: Kind,
  object: WithStatus,
  own: OwnStatus,
  status: Record<string, unknown>,
  fieldManager: string,
  signal?: AbortSignal,
): Promise<string[]> {
  const { namespace, name, uid } = object.metadata;
  const place = { kind, namespace, name };
  const options = { subresource: "status", fieldManager, ...(signal && { signal }) } as const;
  let latest = object;
  for (let tries = 1; ; tries++) {
    const body = {
      metadata: { resourceVersion: latest.metadata.resourceVersion, ...(uid && { uid }) },
      status: {
        ...Object.fromEntries(own.fields.map((field) => [field, status[field] ?? null])),
        conditions: inPlace(latest.status?.conditions ?? [], own, conditionsIn(status)),
      },
    };
    try {
      return [versionIn(await client.patch(place, "merge", body, options))];
    } catch (error) {
      if (!(error instanceof KubeError && error.status === 409) || tries === wholeTries)
        throw error;
      // Our own steps of this reconcile may be what changed it.
      const found = await client.get<WithStatus>(place, signal);
      if (found === undefined || found.metadata.uid !== uid) throw error;
      latest = found;
    }
  }
}

/** Everybody's conditions as they are, and ours where they stood, each once. */
function inPlace(
  all: readonly Condition[],
  own: OwnStatus,
  planned: readonly Condition[],
): readonly Condition[] {
  const retained = firstOfEach(all.filter(({ type }) => own.conditions.includes(type)));
  const made = all.flatMap((each) => {
    if (!own.conditions.includes(each.type)) return [each];
    return retained.includes(each) ? planned.filter(({ type }) => type === each.type) : [];
  });
  return [...made, ...planned.filter(({ type }) => !retained.some((each) => each.type === type))];
}

/** The first condition of each type; the same array where there is only one of each. */
function firstOfEach(all: readonly Condition[]): readonly Condition[] {
  const first = new Map<string, Condition>();
  for (const each of all) if (!first.has(each.type)) first.set(each.type, each);
  return first.size === all.length ? all : [...first.values()];
}

/** Whether an apply is meant to remove something that is there. */
function removesFields(
  object: WithStatus,
  own: OwnStatus,
  status: Record<string, unknown>,
): boolean {
  const retained = typesIn(status);
  return (
    own.fields.some(
      (field) => object.status?.[field] !== undefined && status[field] === undefined,
    ) ||
    (object.status?.conditions ?? []).some(
      ({ type }) => own.conditions.includes(type) && !retained.has(type),
    )
  );
}

/** What removes our part of an answer that should not be there any more; undefined where nothing is left. */
function leftoverOf(answer: WithStatus, own: OwnStatus, status: Record<string, unknown>): unknown {
  const retained = typesIn(status);
  const current = answer.status?.conditions ?? [];
  const conditions = current.filter(
    ({ type }) => !own.conditions.includes(type) || retained.has(type),
  );
  const fields = own.fields.filter(
    (field) => answer.status?.[field] !== undefined && status[field] === undefined,
  );
  if (fields.length === 0 && conditions.length === current.length) return undefined;
  // A status with nothing in it is refused by some schemas: an empty list is something.
  const bare = Object.keys(answer.status ?? {}).length === fields.length;
  return {
    // The list is written whole: with the version, a change of somebody else is not overwritten.
    metadata: { resourceVersion: answer.metadata.resourceVersion },
    status: {
      ...Object.fromEntries(fields.map((field) => [field, null])),
      ...((bare || conditions.length < current.length) && { conditions }),
    },
  };
}

function typesIn(status: Record<string, unknown>): Set<string> {
  return new Set(conditionsIn(status).map(({ type }) => type));
}

function conditionsIn(status: Record<string, unknown>): readonly Condition[] {
  return (status.conditions ?? []) as readonly Condition[];
}

/** The resourceVersion in the text of an object, without parsing the rest of it. */
export function versionIn(text: string): string {
  return /"resourceVersion":"([^"]+)"/.exec(text)?.[1] ?? "";
}

function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) =>
    same((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
  );
}
