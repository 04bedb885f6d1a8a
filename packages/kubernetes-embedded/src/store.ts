import type { Resource, Stored } from "./resource.ts";
import { ranged, Sorted } from "./sorted.ts";
import type { StorageBackend } from "./storage-backend.ts";

/** An object as it is stored: never changed, replaced by the next one. */
export interface Entry {
  /** Its name, after its namespace and a slash where it has one. */
  key: string;
  revision: number;
  object: Stored;
  /** The object as JSON, made once for all lists, watches and answers. */
  text: string;
  /** The resource by whose schema it was completed; none where it was read from a file. */
  by?: Resource;
}

/** One write. */
export interface Change {
  type: "ADDED" | "MODIFIED" | "DELETED";
  revision: number;
  collection: string;
  /** What it is now; for a deletion what it was at last, with the revision of the deletion. */
  entry: Entry;
  before?: Entry;
}

/** The most that the log of changes may hold, as JSON. Who watches from further back is told to list again. */
const defaultLogBytes = 32 * 1024 * 1024;

const firstRevision = 100;

/** All objects, and what happened to them of late. */
export class Store {
  readonly #backend: StorageBackend;
  readonly #mostLogBytes: number;
  readonly #collections = new Map<string, Sorted<Entry>>();
  readonly #watchers = new Map<string, Set<(change: Change) => void>>();
  readonly #everywhere = new Set<(change: Change) => void>();
  #revision: number;
  /** Changes up to this revision are not in the log any more. */
  #forgotten: number;
  #log: Change[] = [];
  #logBytes = 0;

  constructor(backend: StorageBackend, options: { mostLogBytes?: number } = {}) {
    this.#backend = backend;
    this.#mostLogBytes = options.mostLogBytes ?? defaultLogBytes;
    let revision = backend.revision();
    for (const { collection, key, text } of backend.all()) {
      const object = JSON.parse(text) as Stored;
      const entry = { key, revision: Number(object.metadata.resourceVersion), object, text };
      revision = Math.max(revision, entry.revision);
      this.#in(collection).set(key, entry);
    }
    // Revision 0 means "any" to clients, and the first ones are what people take for one that is long past.
    this.#revision = Math.max(revision, firstRevision);
    this.#forgotten = this.#revision;
  }

  /** The revision of the last write. */
  get revision(): number {
    return this.#revision;
  }

  /** The revision before the first change that is still known. */
  get forgotten(): number {
    return this.#forgotten;
  }

  get(collection: string, key: string): Entry | undefined {
    return this.#collections.get(collection)?.get(key);
  }

  /** The names of all collections that hold something. */
  collections(): string[] {
    return [...this.#collections].filter(([, held]) => held.size > 0).map(([name]) => name);
  }

  /** How many objects a collection holds. */
  count(collection: string): number {
    return this.#collections.get(collection)?.size ?? 0;
  }

  /** The objects of a collection, or of one namespace in it, by their keys; from a key on where one is given. */
  list(collection: string, namespace?: string, from?: string): Entry[] {
    return this.#collections.get(collection)?.range(namespace, from) ?? [];
  }

  /** The same as it was at a revision; undefined where that is not known any more. */
  listAt(
    collection: string,
    revision: number,
    namespace?: string,
    from?: string,
  ): Entry[] | undefined {
    if (revision >= this.#revision) return this.list(collection, namespace, from);
    const since = this.since(revision);
    if (!since) return undefined;
    const then = new Map<string, Entry | undefined>();
    for (const change of since)
      if (change.collection === collection && !then.has(change.entry.key))
        then.set(change.entry.key, change.before);
    if (then.size === 0) return this.list(collection, namespace, from);
    const past = new Sorted<Entry>();
    for (const entry of this.list(collection)) if (!then.has(entry.key)) past.set(entry.key, entry);
    for (const [key, entry] of then) if (entry) past.set(key, entry);
    return past.range(namespace, from);
  }

  /** Store an object, in place of the one of its name. It is on disk when this returns. */
  put(collection: string, object: Stored, by?: Resource): Entry {
    const key = keyOf(object.metadata);
    const revision = this.#revision + 1;
    const held = { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
    const entry: Entry = {
      key,
      revision,
      object: held,
      text: JSON.stringify(held),
      ...(by && { by }),
    };
    this.#backend.put(collection, key, entry.text);
    const before = this.get(collection, key);
    this.#revision = revision;
    this.#in(collection).set(key, entry);
    this.#notify({
      type: before ? "MODIFIED" : "ADDED",
      revision,
      collection,
      entry,
      ...(before && { before }),
    });
    return entry;
  }

  /** Remove an object. Returns its last state, with the revision of the removal. */
  remove(collection: string, key: string, last?: Stored): Entry | undefined {
    const before = this.get(collection, key);
    if (!before) return undefined;
    const revision = this.#revision + 1;
    const object = last ?? before.object;
    const held = { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
    const by = before.by && { by: before.by };
    const entry: Entry = { key, revision, object: held, text: JSON.stringify(held), ...by };
    this.#backend.remove(collection, key, revision);
    this.#revision = revision;
    this.#in(collection).delete(key);
    this.#notify({ type: "DELETED", revision, collection, entry, before });
    return entry;
  }

  /** All changes after a revision, the oldest first; undefined where some are not known any more. */
  since(revision: number): Change[] | undefined {
    if (revision < this.#forgotten) return undefined;
    const first = ranged(this.#log, (change) => change.revision <= revision);
    return this.#log.slice(first);
  }

  /** Call back on every change of a collection, or of all; the result stops it. */
  watch(collection: string | undefined, notify: (change: Change) => void): () => void {
    if (collection === undefined) {
      this.#everywhere.add(notify);
      return () => this.#everywhere.delete(notify);
    }
    const watchers = this.#watchers.get(collection) ?? new Set();
    this.#watchers.set(collection, watchers.add(notify));
    return () => watchers.delete(notify);
  }

  #in(collection: string): Sorted<Entry> {
    const found = this.#collections.get(collection);
    if (found) return found;
    const made = new Sorted<Entry>();
    this.#collections.set(collection, made);
    return made;
  }

  #notify(change: Change): void {
    this.#log.push(change);
    this.#logBytes += change.entry.text.length;
    if (this.#logBytes > this.#mostLogBytes) this.#forget();
    for (const notify of this.#everywhere) notify(change);
    for (const notify of this.#watchers.get(change.collection) ?? []) notify(change);
  }

  /** A quarter at once, so that the rest is not moved for every write. */
  #forget(): void {
    let count = 0;
    while (this.#logBytes > this.#mostLogBytes * 0.75 && count < this.#log.length) {
      this.#logBytes -= this.#log[count]?.entry.text.length ?? 0;
      count++;
    }
    this.#forgotten = this.#log[count - 1]?.revision ?? this.#forgotten;
    this.#log = this.#log.slice(count);
  }
}

/** The key of an object in its collection. */
export function keyOf({ namespace, name }: { namespace?: string; name: string }): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** The collection that holds the objects of a resource, all versions alike. */
export function collectionOf({ group, plural }: { group: string; plural: string }): string {
  return group === "" ? plural : `${plural}.${group}`;
}
