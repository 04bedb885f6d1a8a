import type { Clock } from "@postern/core/clock.ts";
import type { Priority } from "@postern/core/priority.ts";
import { idKey } from "@postern/core/resource-id.ts";

/** What was seen of one resource, and when. */
export interface CachedRead {
  /** Undefined where it was seen that there is none. */
  resource: unknown;
  at: number;
  /** Counts up: two things may be seen in one millisecond, or while a clock stands. */
  order: number;
}

interface Collection {
  /** When the whole of it was last listed. */
  listedAt: number | undefined;
  listing: Promise<unknown[]> | undefined;
  items: Map<string, CachedRead>;
  /** Our writes that no read has shown yet, the oldest first. */
  writes: Map<string, OwnWrite & { at: number }>;
}

/** A write of ours that Azure has accepted. */
export interface OwnWrite {
  /** Whether the resource exists after it. */
  exists: boolean;
  /** What it is then, where the answer told. */
  resource?: unknown;
  /** The etag of what was replaced or deleted, where that is known. */
  etagBefore?: string | undefined;
}

/** A list of all resources of a kind in a subscription. */
interface WideList {
  from: number;
  order: number;
  /** What was found, by the collection of its resource group. */
  found: Map<string, { id?: string }[]>;
  /** How many reads it took. */
  pages: number;
  deniedAt: number | undefined;
  listing: Promise<void> | undefined;
}

/** How long a subscription is not listed that the identity may not list. */
const deniedMs = 60 * 60_000;
/** A subscription is listed for so many of its resource groups and more. */
const fewGroups = 4;

/** A resource as a list tells it, with what was known of it before. */
export type Filled = (before: unknown, listed: object) => object;

/**
 * How old a sighting may be for a reconcile: what a person changed or an operation ended is known well enough from the last ten
 * minutes, while a drift check is there to find out what changed since.
 */
export function maxReadAgeMs(reconcile: Reading): number {
  const { driftMs = 5 * 60_000 } = reconcile;
  const oldestMs = reconcile.priority === "drift" ? driftMs / 2 : 10 * 60_000;
  const { freshSince = Number.NEGATIVE_INFINITY, requestedAt = Number.NEGATIVE_INFINITY } =
    reconcile;
  const since = Math.max(freshSince, requestedAt);
  // Of that very millisecond counts too.
  return Math.min(oldestMs, reconcile.now().getTime() - since + 1);
}

/** How urgent a reconcile is, and since when what it reads must have been read. */
interface Reading {
  priority: Priority;
  freshSince?: number | undefined;
  requestedAt?: number | undefined;
  /** How often drift is checked. */
  driftMs?: number | undefined;
  now(): Date;
}

/** The longest that Azure was seen to answer reads with the state before a write. */
export const staleReadsMs = 60_000;

/** What was observed this shortly before a refusal was read for that very decision. */
const freshMs = 10_000;

/** Absent resources are remembered so that nobody asks twice, but not for ever. */
const absentMs = 10 * 60_000;

/**
 * What one identity has seen of Azure: by reads, by lists, and by its own writes. The one who looks says how old a sighting
 * may be, so that a thousand objects of one resource group are checked by one list and not by a thousand reads.
 */
export class ReadCache {
  readonly #clock: Clock;
  readonly #collections = new Map<string, Collection>();
  /** The lists of whole subscriptions, by their path. */
  readonly #wide = new Map<string, WideList>();
  #order = 0;

  constructor(options: { clock: Clock }) {
    this.#clock = options.clock;
  }

  /** What is known of a resource, if it was seen within the last `maxAgeMs`. */
  of(collection: string, id: string, maxAgeMs: number): CachedRead | undefined {
    const entry = this.#collections.get(idKey(collection));
    if (entry === undefined) return undefined;
    const since = this.#clock.now() - maxAgeMs;
    const one = entry.items.get(idKey(id));
    if (one !== undefined && one.at > since) return one;
    // A list tells also of what is not in it.
    const listed = entry.listedAt;
    if (one === undefined && listed !== undefined && listed > since)
      return { resource: undefined, at: listed, order: 0 };
    return undefined;
  }

  /** Whether a collection, or its whole subscription, was listed within the last `maxAgeMs`. */
  isListed(collection: string, maxAgeMs: number): boolean {
    const since = this.#clock.now() - maxAgeMs;
    const listedAt = this.#collections.get(idKey(collection))?.listedAt ?? 0;
    return listedAt > since || (this.#wideOf(collection)?.from ?? 0) > since;
  }

  /** When a collection was listed last; undefined where it was not. */
  listedAt(collection: string): number | undefined {
    return this.#collections.get(idKey(collection))?.listedAt;
  }

  /** How many resources are known in a collection. */
  countIn(collection: string): number {
    return this.#collections.get(idKey(collection))?.items.size ?? 0;
  }

  /**
   * Everything in a collection: as last listed and changed since, or listed anew. Those who ask at once share one list.
   * `filled` adds what is known of a resource and what a list leaves out.
   */
  async list(
    collection: string,
    maxAgeMs: number,
    read: () => Promise<{ id?: string }[]>,
    filled: Filled = (_, listed) => listed,
  ): Promise<unknown[]> {
    const entry = this.#at(collection);
    if (entry.listedAt !== undefined && entry.listedAt > this.#clock.now() - maxAgeMs)
      return present(entry);
    const wide = this.#wideOf(collection);
    if (
      wide !== undefined &&
      wide.from > (entry.listedAt ?? 0) &&
      wide.from > this.#clock.now() - maxAgeMs
    ) {
      const found = wide.found.get(idKey(collection)) ?? [];
      this.#show(entry, found, wide, filled);
      return present(entry);
    }
    entry.listing ??= this.#listed(entry, read, filled).finally(() => {
      entry.listing = undefined;
    });
    return entry.listing;
  }

  async #listed(
    entry: Collection,
    read: () => Promise<{ id?: string }[]>,
    filled: Filled,
  ): Promise<unknown[]> {
    const from = this.#clock.now();
    const order = ++this.#order;
    this.#show(entry, await read(), { from, order }, filled);
    return present(entry);
  }

  /** Replace what is known of a collection by a list of it. */
  #show(
    entry: Collection,
    found: readonly { id?: string }[],
    { from, order }: Pick<WideList, "from" | "order">,
    filled: Filled,
  ): void {
    const before = entry.items;
    entry.items = new Map();
    for (const resource of found) {
      if (resource.id === undefined) continue;
      const key = idKey(resource.id);
      const merged = filled(before.get(key)?.resource, resource);
      entry.items.set(key, { resource: merged, at: from, order });
    }
    this.#showOwnWrites(entry, order);
    // What was seen while the list was on its way is newer than the list.
    for (const [key, cached] of before) {
      if (cached.order > order) entry.items.set(key, cached);
      else if (cached.resource !== undefined && !entry.items.has(key)) this.#forgetChildren(key);
    }
    entry.listedAt = from;
  }

  /**
   * Whether to list the subscription in place of one resource group: as many groups would be listed as that takes reads, and the
   * identity may do so as far as is known.
   */
  prefersWide(collection: string, maxAgeMs: number): boolean {
    const entry = this.#collections.get(idKey(collection));
    if (entry?.listedAt !== undefined && entry.listedAt > this.#clock.now() - maxAgeMs)
      return false;
    const path = widePathOf(collection);
    const wide = path === undefined ? undefined : this.#wide.get(idKey(path));
    if (path === undefined) return false;
    if (wide !== undefined && wide.from > this.#clock.now() - maxAgeMs) return false;
    if (wide?.deniedAt !== undefined && wide.deniedAt > this.#clock.now() - deniedMs) return false;
    let groups = 0;
    for (const name of this.#collections.keys())
      if (idKey(widePathOf(name) ?? "") === idKey(path)) groups += 1;
    return groups >= Math.max(fewGroups, 2 * (wide?.pages ?? 1));
  }

  /** List a subscription, for all its resource groups. Those who ask at once share one list. */
  async listWide(
    collection: string,
    read: (path: string) => Promise<{ found: { id?: string }[]; pages: number } | "denied">,
  ): Promise<void> {
    const path = widePathOf(collection) ?? collection;
    const wide = this.#wide.get(idKey(path)) ?? emptyWide();
    this.#wide.set(idKey(path), wide);
    wide.listing ??= this.#readWide(wide, () => read(path)).finally(() => {
      wide.listing = undefined;
    });
    return wide.listing;
  }

  async #readWide(
    wide: WideList,
    read: () => Promise<{ found: { id?: string }[]; pages: number } | "denied">,
  ): Promise<void> {
    const from = this.#clock.now();
    const order = ++this.#order;
    const answer = await read();
    if (answer === "denied") {
      wide.deniedAt = from;
      return;
    }
    wide.found = Map.groupBy(answer.found, ({ id = "" }) =>
      idKey(id.slice(0, id.lastIndexOf("/"))),
    );
    Object.assign(wide, { from, order, pages: answer.pages, deniedAt: undefined });
  }

  #wideOf(collection: string): WideList | undefined {
    const path = widePathOf(collection);
    return path === undefined ? undefined : this.#wide.get(idKey(path));
  }

  /** Remember what a resource is now; undefined where there is none any more. */
  store(collection: string, id: string, resource: unknown): void {
    const now = this.#clock.now();
    const { items } = this.#at(collection);
    items.delete(idKey(id));
    items.set(idKey(id), { resource, at: now, order: ++this.#order });
    if (resource !== undefined) return;
    this.#forgetChildren(idKey(id));
    for (const [key, cached] of items) {
      if (!(cached.at <= now - absentMs)) break;
      if (cached.resource === undefined) items.delete(key);
    }
  }

  /** Forget a collection, with what a list of its subscription said about it. Our own writes are still known. */
  forget(collection: string): void {
    const entry = this.#collections.get(idKey(collection));
    if (entry !== undefined) Object.assign(entry, { listedAt: undefined, items: new Map() });
    const wide = this.#wideOf(collection);
    if (wide !== undefined) wide.from = Number.NEGATIVE_INFINITY;
  }

  /** Forget a resource: the next look reads it. */
  invalidate(collection: string, id: string): void {
    const entry = this.#collections.get(idKey(collection));
    if (entry === undefined) return;
    // Without an age, which no look accepts, or an older list would speak for it. It stays in the list: what is being changed exists.
    const order = ++this.#order;
    const { resource } = entry.items.get(idKey(id)) ?? {};
    entry.items.set(idKey(id), { resource, at: Number.NaN, order });
  }

  /**
   * Remember a write of ours until a read has shown it: a resource that we created and cannot read yet is not absent, and one
   * that we deleted may be read for a while.
   */
  recordWrite(collection: string, id: string, write: OwnWrite): void {
    const now = this.#clock.now();
    const { writes } = this.#at(collection);
    for (const [key, { at }] of writes) {
      if (at > now - staleReadsMs) break;
      writes.delete(key);
    }
    writes.delete(idKey(id));
    writes.set(idKey(id), { ...write, at: now });
  }

  /** Forget a write that has failed. */
  forgetWrite(collection: string, id: string): void {
    this.#collections.get(idKey(collection))?.writes.delete(idKey(id));
  }

  /** Our last write to a resource, if an answer to a read shows the state before it. */
  pendingWrite(collection: string, id: string, found: unknown): OwnWrite | undefined {
    const entry = this.#collections.get(idKey(collection));
    const write = entry?.writes.get(idKey(id));
    if (write === undefined) return undefined;
    if (this.#isUnshown(write, found)) return write;
    entry?.writes.delete(idKey(id));
    return undefined;
  }

  #isUnshown(write: OwnWrite & { at: number }, found: unknown): boolean {
    if (write.at <= this.#clock.now() - staleReadsMs) return false;
    if (found === undefined) return write.exists;
    const { etagBefore } = write;
    return (
      etagBefore !== undefined &&
      etagOf(found) === etagBefore &&
      // A write that changes nothing keeps the etag.
      etagOf(write.resource) !== etagBefore
    );
  }

  /** Put our own writes into a list that was read before it shows them. */
  #showOwnWrites(entry: Collection, order: number): void {
    for (const [key, write] of entry.writes) {
      if (!this.#isUnshown(write, entry.items.get(key)?.resource)) entry.writes.delete(key);
      else if (!write.exists) entry.items.delete(key);
      else if (write.resource !== undefined)
        entry.items.set(key, { resource: write.resource, at: write.at, order });
      // What it is now is not known: a look reads it.
      else
        entry.items.set(key, { resource: entry.items.get(key)?.resource, at: Number.NaN, order });
    }
  }

  /**
   * Forget what is known of these resources, of what they lie in and of what lies in them, with the lists that told of it. Whether
   * any of it was so old that a decision of that time was made by it without a read.
   */
  invalidateRelated(ids: Iterable<string>, decidedAt: number): boolean {
    let wasCached = false;
    const old = decidedAt - freshMs;
    const forget = (entry: Collection, key: string) => {
      const at = entry.items.get(key)?.at ?? entry.listedAt ?? Number.NaN;
      wasCached ||= at <= old;
      entry.listedAt = undefined;
      entry.items.set(key, { resource: undefined, at: Number.NaN, order: ++this.#order });
    };
    // What a list of the whole subscription says is doubted with it.
    this.#wide.clear();
    for (const id of ids) {
      const key = idKey(id);
      for (const { collection, item } of placesOf(key)) {
        const entry = this.#collections.get(collection);
        if (entry !== undefined) forget(entry, item);
      }
      for (const [name, { listedAt = Number.NaN }] of this.#collections)
        if (name.startsWith(`${key}/`)) wasCached ||= listedAt <= old;
      this.#forgetChildren(key);
    }
    return wasCached;
  }

  /** Forget everything, when another may have changed it meanwhile. */
  clear(): void {
    this.#collections.clear();
    this.#wide.clear();
  }

  /** What lay in a resource is gone with it, also where one of the same name is made again. */
  #forgetChildren(key: string): void {
    for (const name of this.#collections.keys())
      if (name.startsWith(`${key}/`)) this.#collections.delete(name);
  }

  #at(collection: string): Collection {
    const key = idKey(collection);
    const entry = this.#collections.get(key);
    if (entry !== undefined) return entry;
    const made = { listedAt: undefined, listing: undefined, items: new Map(), writes: new Map() };
    this.#collections.set(key, made);
    return made;
  }
}

/** The list of the subscription that a list of a resource group is a part of. */
function widePathOf(collection: string): string | undefined {
  const parts =
    /^(\/subscriptions\/[^/]+)\/resourceGroups\/[^/]+(\/providers\/[^/]+\/[^/]+)$/i.exec(
      collection,
    );
  return parts ? `${parts[1]}${parts[2]}` : undefined;
}

function emptyWide(): WideList {
  return {
    from: Number.NEGATIVE_INFINITY,
    order: 0,
    found: new Map(),
    pages: 1,
    deniedAt: undefined,
    listing: undefined,
  };
}

/** Where a resource, and each that it lies in, is listed. Record sets of all types are listed together. */
function placesOf(key: string): { collection: string; item: string }[] {
  const words = key.split("/");
  const first = words.indexOf("providers") + 2;
  const found: { collection: string; item: string }[] = [];
  if (first < 2) return found;
  for (let length = first + 2; length <= words.length; length += 2) {
    const item = words.slice(0, length).join("/");
    const parent = words.slice(0, length - 2).join("/");
    const collections = [
      words.slice(0, length - 1).join("/"),
      `${parent}/all`,
      `${parent}/recordsets`,
    ];
    found.push(...collections.map((collection) => ({ collection, item })));
  }
  return found;
}

function etagOf(resource: unknown): string | undefined {
  return (resource as { etag?: string } | undefined)?.etag;
}

function present({ items }: Collection): unknown[] {
  const found: unknown[] = [];
  for (const { resource } of items.values()) if (resource !== undefined) found.push(resource);
  return found;
}
