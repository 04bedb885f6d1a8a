import type { ManagedFields, Resource } from "../resource.ts";
import type { Changes } from "./compare.ts";
import { difference, type FieldSet, intersection, isEmpty, union, without } from "./field-set.ts";
import { isMap } from "./refusal.ts";

/** One who manages fields of an object, and which. */
export interface Manager extends Omit<ManagedFields, "fieldsType" | "fieldsV1"> {
  set: FieldSet;
}

/** All who manage fields of an object, by who they are. */
export type Managers = Map<string, Manager>;

/** What is needed of a resource to tell who manages what. */
export type Owned = Pick<Resource, "group" | "version" | "schema" | "status" | "builtIn">;

/** The apiVersion of a resource. */
export function apiVersionOf({ group, version }: Pick<Resource, "group" | "version">): string {
  return group === "" ? version : `${group}/${version}`;
}

/** Who a manager is: whoever applies is the same in every version, whoever updates is not. */
export function identity(manager: Omit<Manager, "set" | "time">): string {
  const { operation, apiVersion, subresource } = manager;
  return JSON.stringify({
    manager: manager.manager,
    operation,
    ...(operation === "Update" && { apiVersion }),
    ...(subresource && { subresource }),
  });
}

/** Reads the managers of an object; undefined where an entry cannot be understood. */
export function decodeManagers(entries: unknown): Managers | undefined {
  const managers: Managers = new Map();
  if (!Array.isArray(entries)) return managers;
  for (const entry of entries) {
    if (!isEntry(entry)) return undefined;
    const { fieldsType: _, fieldsV1, ...who } = entry;
    const manager = { ...who, set: (fieldsV1 ?? {}) as FieldSet };
    managers.set(identity(manager), manager);
  }
  return managers;
}

function isEntry(entry: unknown): entry is ManagedFields {
  return (
    isMap(entry) &&
    (entry.operation === "Apply" || entry.operation === "Update") &&
    typeof entry.apiVersion === "string" &&
    entry.apiVersion !== "" &&
    entry.fieldsType === "FieldsV1"
  );
}

/** The managers as an object shows them; undefined where there are none. */
export function encodeManagers(managers: Managers): ManagedFields[] | undefined {
  if (managers.size === 0) return undefined;
  return [...managers.values()].toSorted(byAge).map((manager) => ({
    apiVersion: manager.apiVersion,
    fieldsType: "FieldsV1",
    fieldsV1: manager.set,
    manager: manager.manager,
    operation: manager.operation,
    ...(manager.subresource && { subresource: manager.subresource }),
    ...(manager.time && { time: manager.time }),
  }));
}

function byAge(a: Manager, b: Manager): number {
  return (
    compareText(a.operation, b.operation) ||
    compareText(a.time ?? "", b.time ?? "") ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource ?? "", b.subresource ?? "")
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

const leaf: FieldSet = {};

/** Fields of the API server itself, which nobody manages. */
const unmanaged: FieldSet = {
  "f:apiVersion": leaf,
  "f:kind": leaf,
  "f:metadata": {
    ".": leaf,
    "f:name": leaf,
    "f:namespace": leaf,
    "f:creationTimestamp": leaf,
    "f:selfLink": leaf,
    "f:uid": leaf,
    "f:clusterName": leaf,
    "f:generation": leaf,
    "f:managedFields": leaf,
    "f:resourceVersion": leaf,
  },
};

/** A set without the fields that nobody manages. */
export function manageable(set: FieldSet): FieldSet {
  return difference(set, unmanaged);
}

/** The fields that a write does not change whatever it says, so that it does not own them either. */
export function resetFields(resource: Owned, subresource: string | undefined): FieldSet {
  if (subresource === undefined) return resource.status ? { "f:status": leaf } : {};
  if (subresource !== "status") return {};
  return resource.builtIn ? { "f:spec": leaf } : { "f:metadata": leaf, "f:spec": leaf };
}

/** The changes that a write can make. */
export function changesBut(reset: FieldSet, changes: Changes): Changes {
  if (isEmpty(reset)) return changes;
  return {
    added: without(changes.added, reset),
    modified: without(changes.modified, reset),
    removed: without(changes.removed, reset),
  };
}

/** What of a change is in the hands of a manager. */
export function contested(manager: Manager, changes: Changes): FieldSet {
  return intersection(manager.set, union(changes.modified, changes.added));
}

/** A manager after others changed fields of its; undefined where nothing is left. */
export function reduced(manager: Manager, changes: Changes): Manager | undefined {
  const kept = difference(manager.set, contested(manager, changes));
  const set = difference(kept, changes.removed);
  return isEmpty(set) ? undefined : { ...manager, set };
}

const maxUpdaters = 10;

/** The managers, with those whose updates are oldest put together where there are too many. */
export function capped(managers: Managers): Managers {
  const updaters = [...managers.entries()]
    .filter(([, manager]) => manager.operation === "Update")
    .toSorted(
      ([a, one], [b, other]) => compareText(one.time ?? "", other.time ?? "") || compareText(a, b),
    );
  let excess = updaters.length - maxUpdaters;
  if (excess <= 0) return managers;
  const result = new Map(managers);
  const firsts = new Map<string, string>();
  for (const [id, manager] of updaters) {
    if (excess <= 0) break;
    const { apiVersion } = manager;
    const first = firsts.get(apiVersion);
    if (first === undefined) {
      firsts.set(apiVersion, id);
      continue;
    }
    const ancient = { manager: "ancient-changes", operation: "Update", apiVersion } as const;
    const bucket = identity(ancient);
    const before = result.get(bucket) ?? (result.get(first) as Manager);
    if (!result.has(bucket)) result.delete(first);
    result.delete(id);
    const { time } = manager;
    result.set(bucket, { ...ancient, ...(time && { time }), set: union(manager.set, before.set) });
    excess--;
  }
  return result;
}

/** A time as objects show it. */
export function timeText(now: number): string {
  return new Date(now).toISOString().replace(/\.\d+Z$/, "Z");
}
