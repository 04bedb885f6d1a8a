import type { Change, Entry, Store } from "./store.ts";

/** Where an object is. */
export interface Place {
  collection: string;
  key: string;
}

/** Who is where by uid, and who names whom as its owner: kept in step with the store. */
export class Owners {
  readonly #places = new Map<string, Place>();
  readonly #dependents = new Map<string, Set<string>>();

  constructor(store: Store) {
    for (const collection of store.collections())
      for (const entry of store.list(collection)) this.#add(collection, entry);
  }

  /** Take a change in. */
  follow({ type, collection, entry, before }: Change): void {
    if (before)
      this.#forget(
        before,
        type === "DELETED" || before.object.metadata.uid !== entry.object.metadata.uid,
      );
    if (type !== "DELETED") this.#add(collection, entry);
  }

  /** Where the object of a uid is. */
  place(uid: string): Place | undefined {
    return this.#places.get(uid);
  }

  /** Where those are that name an owner. */
  dependents(uid: string): Place[] {
    return [...(this.#dependents.get(uid) ?? [])].flatMap((each) => this.#places.get(each) ?? []);
  }

  #add(collection: string, { key, object }: Entry): void {
    const { uid, ownerReferences = [] } = object.metadata;
    this.#places.set(uid, { collection, key });
    for (const owner of ownerReferences)
      this.#dependents.set(owner.uid, (this.#dependents.get(owner.uid) ?? new Set()).add(uid));
  }

  #forget({ object }: Entry, gone: boolean): void {
    const { uid, ownerReferences = [] } = object.metadata;
    if (gone) this.#places.delete(uid);
    for (const owner of ownerReferences) {
      const named = this.#dependents.get(owner.uid);
      named?.delete(uid);
      if (named?.size === 0) this.#dependents.delete(owner.uid);
    }
  }
}
