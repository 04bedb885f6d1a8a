import type { Stored, StoredOwner } from "./resource.ts";
import { foregroundFinalizer, orphanFinalizer } from "./verbs/delete.ts";

/** How an owner of an object stands. */
export type Standing =
  /** It is there, or nobody can tell. */
  | "solid"
  /** It is deleted, and waits for those whom it owns. */
  | "waiting"
  /** It is gone. */
  | "absent";

/** What is seen of an object before it is decided about. */
export interface Looked {
  object: Stored;
  standing(owner: StoredOwner): Standing;
  /** The objects that name it as their owner. */
  dependents: readonly Stored[];
}

/** What the garbage collector does with an object, or because of it. */
export type Deed =
  | { do: "delete"; policy?: "Background" | "Foreground" }
  /** Leave these owners out. */
  | { do: "disown"; uids: string[] }
  /** Leave it out of those that it owns. */
  | { do: "orphan"; dependents: Stored[] }
  | { do: "delete dependents"; dependents: Stored[] }
  | { do: "drop finalizer"; finalizer: string };

/**
 * Decide about one object.
 *
 *   deleted, to orphan            → leave it out of its dependents; then the finalizer goes
 *   deleted, in the foreground    → delete its dependents; the finalizer goes when none blocks
 *   deleted                       → nothing
 *   owners: some solid            → the others are left out
 *   owners: none solid            → deleted; in the foreground where an owner waits and it owns something
 */
export function collect({ object, standing, dependents }: Looked): Deed[] {
  const { metadata } = object;
  const { uid, finalizers = [], ownerReferences: owners = [] } = metadata;
  if (metadata.deletionTimestamp !== undefined) {
    if (finalizers.includes(orphanFinalizer)) {
      if (dependents.length > 0) return [{ do: "orphan", dependents: [...dependents] }];
      return [{ do: "drop finalizer", finalizer: orphanFinalizer }];
    }
    if (!finalizers.includes(foregroundFinalizer)) return [];
    const alive = dependents.filter((each) => each.metadata.deletionTimestamp === undefined);
    const deeds: Deed[] = alive.length > 0 ? [{ do: "delete dependents", dependents: alive }] : [];
    if (!dependents.some((each) => blocks(each, uid)))
      deeds.push({ do: "drop finalizer", finalizer: foregroundFinalizer });
    return deeds;
  }
  if (owners.length === 0) return [];
  const standings = owners.map((owner) => ({ owner, is: standing(owner) }));
  const unsolid = standings.filter(({ is }) => is !== "solid");
  if (unsolid.length === 0) return [];
  if (unsolid.length < owners.length)
    return [{ do: "disown", uids: unsolid.map(({ owner }) => owner.uid) }];
  const waiting = standings.some(({ is }) => is === "waiting");
  if (waiting && dependents.length > 0) return [{ do: "delete", policy: "Foreground" }];
  // One that said how it wants to go keeps to it.
  const said = finalizers.includes(orphanFinalizer) || finalizers.includes(foregroundFinalizer);
  return [said ? { do: "delete" } : { do: "delete", policy: "Background" }];
}

function blocks({ metadata }: Stored, uid: string): boolean {
  return (metadata.ownerReferences ?? []).some(
    (owner) => owner.uid === uid && owner.blockOwnerDeletion === true,
  );
}

/** An object without some of its owners. */
export function disowned(object: Stored, uids: readonly string[]): Stored {
  const { ownerReferences = [], ...metadata } = object.metadata;
  const left = ownerReferences.filter(({ uid }) => !uids.includes(uid));
  return {
    ...object,
    metadata: { ...metadata, ...(left.length > 0 && { ownerReferences: left }) },
  };
}

/** An object without one of its finalizers. */
export function withoutFinalizer(object: Stored, finalizer: string): Stored {
  const { finalizers = [], ...metadata } = object.metadata;
  const left = finalizers.filter((each) => each !== finalizer);
  return { ...object, metadata: { ...metadata, ...(left.length > 0 && { finalizers: left }) } };
}
