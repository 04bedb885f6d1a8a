/** Anything that JSON can say. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json | undefined };
export type JsonObject = { [key: string]: Json | undefined };

/** How far a resource has come. */
export type ProvisioningState =
  | "Succeeded"
  | "Updating"
  | "Deleting"
  | "Failed"
  | "Canceled"
  | "Creating";

/** One resource as it is stored: requested and defaulted values, but nothing that is computed from other resources. */
export interface Resource {
  /** The id in the spelling of its first write. */
  readonly id: string;
  /** The id in lower case. */
  readonly key: string;
  /** The full type in the spelling of its documentation. */
  readonly type: string;
  readonly name: string;
  /** `location`, `tags`, `sku`, `zones` and the like. */
  top: JsonObject;
  properties: JsonObject;
  state: ProvisioningState;
  /** Counts the writes: to itself, and for a top-level resource of the network provider to its children. */
  version: number;
  /** Of a top-level resource of the network provider: shared with its children. */
  etag: string;
  /** When it was made, counted over all resources: the order of lists, and where a page goes on. */
  sequence?: number;
  /** The guid of the operation that is changing it. */
  operation?: string | undefined;
}

/** Persists changes. */
export interface Journal {
  saved(resource: Resource): void;
  removed(key: string): void;
}

/** Is notified of every change, for instance to maintain an index. */
export interface Follower {
  saved(resource: Resource): void;
  removed(key: string): void;
}

/** All resources, found by id, by collection and by who refers to them. Ids are compared without case. */
export class Store {
  readonly #byKey = new Map<string, Resource>();
  readonly #collections = new Map<string, Map<string, Resource>>();
  readonly #referrers = new Map<string, Set<string>>();
  readonly #references = new Map<string, readonly string[]>();
  readonly #followers: Follower[] = [];
  readonly #groups = new Map<string, Set<string>>();
  #sequence = 0;
  #changes = 0;
  #journal: Journal | undefined;

  /** The next number of the count of resources. */
  tick(): number {
    return ++this.#sequence;
  }

  /** Counts all writes and removals: while it is the same, so is the result of every read. */
  get changes(): number {
    return this.#changes;
  }

  get size(): number {
    return this.#byKey.size;
  }

  setJournal(journal: Journal): void {
    this.#journal = journal;
  }

  /** Notify a follower of all stored resources now, and of every change from now on. */
  follow(follower: Follower): void {
    for (const resource of this.#byKey.values()) follower.saved(resource);
    this.#followers.push(follower);
  }

  get(idOrKey: string): Resource | undefined {
    return this.#byKey.get(idOrKey) ?? this.#byKey.get(idOrKey.toLowerCase());
  }

  /** Store a resource, new or changed. */
  put(resource: Resource): void {
    this.load(resource);
    this.#journal?.saved(resource);
  }

  /** Store a resource that was read from the journal, without writing it there again. */
  load(resource: Resource): void {
    const { key } = resource;
    this.#changes++;
    if (this.#byKey.get(key) !== resource) this.#place(resource);
    this.#refer(key, referencesIn(resource));
    for (const each of this.#followers) each.saved(resource);
  }

  #place(resource: Resource): void {
    const { key } = resource;
    resource.sequence ??= this.tick();
    this.#sequence = Math.max(this.#sequence, resource.sequence);
    this.#byKey.set(key, resource);
    const collection = collectionOf(key);
    const members = this.#collections.get(collection);
    if (members) members.set(key, resource);
    else this.#collections.set(collection, new Map([[key, resource]]));
    const group = groupOf(key);
    if (group === undefined) return;
    const keys = this.#groups.get(group);
    if (keys) keys.add(key);
    else this.#groups.set(group, new Set([key]));
  }

  remove(key: string): void {
    if (!this.#byKey.delete(key)) return;
    this.#changes++;
    this.#groups.get(groupOf(key) ?? "")?.delete(key);
    const collection = collectionOf(key);
    const members = this.#collections.get(collection);
    members?.delete(key);
    if (members?.size === 0) this.#collections.delete(collection);
    this.#refer(key, []);
    this.#references.delete(key);
    for (const each of this.#followers) each.removed(key);
    this.#journal?.removed(key);
  }

  /** The resources of a collection, such as `<group>/providers/microsoft.network/virtualnetworks`, oldest first. */
  collection(key: string): Iterable<Resource> {
    return this.#collections.get(key)?.values() ?? [];
  }

  /** How many a collection holds. */
  count(key: string): number {
    return this.#collections.get(key)?.size ?? 0;
  }

  /** Who names this id, or something inside it, in its properties. */
  *referrers(key: string): Generator<Resource> {
    for (const each of this.#referrers.get(key) ?? []) {
      const resource = this.#byKey.get(each);
      if (resource) yield resource;
    }
  }

  /** Everything in a resource group, however deep. */
  *within(groupKey: string): Generator<Resource> {
    for (const key of this.#groups.get(groupKey) ?? []) {
      const resource = this.#byKey.get(key);
      if (resource) yield resource;
    }
  }

  all(): Iterable<Resource> {
    return this.#byKey.values();
  }

  #refer(key: string, references: readonly string[]): void {
    for (const target of this.#references.get(key) ?? []) {
      const referrers = this.#referrers.get(target);
      referrers?.delete(key);
      if (referrers?.size === 0) this.#referrers.delete(target);
    }
    if (references.length === 0) {
      this.#references.delete(key);
      return;
    }
    this.#references.set(key, references);
    for (const target of references) {
      const referrers = this.#referrers.get(target);
      if (referrers) referrers.add(key);
      else this.#referrers.set(target, new Set([key]));
    }
  }
}

/** The key of the group that a resource is in; undefined for a group itself and what is in none. */
function groupOf(key: string): string | undefined {
  return /^\/subscriptions\/[^/]+\/resourcegroups\/[^/]+(?=\/)/.exec(key)?.[0];
}

/** The collection that an id is in: the id without its name. */
export function collectionOf(key: string): string {
  return key.slice(0, key.lastIndexOf("/"));
}

/** The id of the parent of a child, or of the scope of a top-level resource. */
export function parentOf(key: string): string {
  return collectionOf(collectionOf(key));
}

/**
 * Every id that a resource names, and the resources that those are inside of: a reference to a frontend is one to
 * its load balancer too.
 */
function referencesIn(resource: Resource): string[] {
  const found = new Set<string>();
  collect(resource.properties, resource.key, found);
  return [...found];
}

function collect(value: Json | undefined, own: string, found: Set<string>): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const each of value) collect(each, own, found);
    return;
  }
  for (const name in value) {
    const each = value[name];
    if (typeof each === "object") collect(each, own, found);
    else if (name === "id" && typeof each === "string" && each.startsWith("/subscriptions/")) {
      const key = each.toLowerCase();
      if (key === own || key.startsWith(`${own}/`)) continue;
      // Above a resource there are only its provider and its group, which nobody asks about.
      for (let at = key; depthOf(at) > providerDepth; at = parentOf(at)) found.add(at);
    }
  }
}

/** `/subscriptions/s/resourcegroups/g/providers/p` has so many words. */
const providerDepth = 6;

function depthOf(key: string): number {
  return key.split("/").length - 1;
}
