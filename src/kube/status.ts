import { type PlannedCondition, withConditions } from "../model/conditions.ts";
import { apiVersionOf, type Kind, type KubeObject } from "../model/kind.ts";
import type { Condition } from "../model/kinds/condition.ts";
import type { KubeClient } from "./client.ts";

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
  planned: { conditions: readonly PlannedCondition[]; fields: Record<string, unknown> },
  now: Date,
): Record<string, unknown> | undefined {
  const held =
    object.status?.conditions?.filter((each) => own.conditions.includes(each.type)) ?? [];
  const observedGeneration = object.metadata.generation ?? 0;
  const wanted = planned.conditions.map(({ type, status, reason, message }) => ({
    type,
    status,
    reason,
    message,
    observedGeneration,
  }));
  const conditions = withConditions(held, wanted, own.conditions, now);
  const changed =
    conditions !== held ||
    own.fields.some((field) => !same(object.status?.[field], planned.fields[field]));
  if (!changed) return undefined;
  const status: Record<string, unknown> = {};
  for (const field of own.fields)
    if (planned.fields[field] !== undefined) status[field] = planned.fields[field];
  if (conditions.length > 0) status.conditions = conditions;
  return status;
}

/** Apply our part of the status, as the named field manager; the answer is the object's new version. */
export async function writeStatus(
  client: KubeClient,
  kind: Kind,
  object: WithStatus,
  status: Record<string, unknown>,
  fieldManager: string,
  signal?: AbortSignal,
): Promise<string> {
  const { namespace, name, uid } = object.metadata;
  const body = {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    // With the uid a new object of the same name is never taken for this one.
    metadata: { name, ...(namespace && { namespace }), ...(uid && { uid }) },
    status,
  };
  const answer = await client.patch({ kind, namespace, name }, "apply", body, {
    subresource: "status",
    fieldManager,
    force: true,
    ...(signal && { signal }),
  });
  return versionIn(answer);
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
