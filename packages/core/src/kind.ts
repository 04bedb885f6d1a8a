/** Where a kind lives in the Kubernetes API. */
export interface Kind<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  group: string;
  version: string;
  kind: string;
  plural: string;
  namespaced: boolean;
  /**
   * `whole`: its conditions are one list to the API server and know no generation, as Cluster API had them first. Whoever
   * applied only its own would wipe out everybody else's.
   */
  conditionList?: "whole";
  /** Never set: it carries the type of the objects, so that a cache of a kind knows what it holds. */
  readonly object?: T;
}

/** The part of an object's metadata that we read or write. */
export interface Metadata {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  /** Who set which field. Caches leave it out. */
  managedFields?: unknown;
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** What every object of the Kubernetes API has. */
export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: Metadata;
}

/** `group/version`, or just the version for the core group. */
export function apiVersionOf(kind: Kind): string {
  return kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
}

/** The key of an object in a cache or a queue: `namespace/name`, or the name of a cluster-wide one. */
export function keyOf(object: { metadata: { name: string; namespace?: string } }): string {
  const { namespace, name } = object.metadata;
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** The older object first; of two of the same second, the one with the lower uid. The API server sets both. */
export function byAge({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number {
  const [x, y] = [a, b].map((each) => `${each.creationTimestamp ?? ""} ${each.uid ?? ""}`);
  return (x ?? "") < (y ?? "") ? -1 : 1;
}
