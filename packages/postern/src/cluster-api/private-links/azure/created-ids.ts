import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import { idKey, type ResourceId, type ResourceType, typeOf } from "@postern/core/resource-id.ts";

/** The ids of what was created for one cluster. */
export interface ClusterIds {
  ofType(type: ResourceType): ResourceId[];
  add(id: ResourceId): void;
  remove(id: ResourceId): void;
}

/**
 * What this process has created or observed for each cluster. What is being written is in no list, and a list that was read before
 * says nothing of it: by this it is found when it is no longer desired. A new process begins with a new list.
 */
export class CreatedIds {
  readonly #ids = new Map<string, Map<string, ResourceId>>();

  of(object: KubeObject): ClusterIds {
    const key = keyOf(object);
    const present = this.#ids.get(key) ?? new Map<string, ResourceId>();
    this.#ids.set(key, present);
    return {
      ofType: (type) =>
        [...present.values()].filter((id) => typeOf(id).toLowerCase() === type.toLowerCase()),
      add: (id) => present.set(idKey(id), id),
      remove: (id) => present.delete(idKey(id)),
    };
  }

  /** Forget a cluster that is gone. */
  delete(key: string): void {
    this.#ids.delete(key);
  }
}
