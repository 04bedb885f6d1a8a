import type { Clock } from "@postern/core/clock.ts";
import type { Priority } from "@postern/core/priority.ts";
import { idKey } from "@postern/core/resource-id.ts";

/** What was seen of one resource, and when. */
export interface Sighting {
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
  items: Map<string, Sighting>;
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

/** A resource as a list tells it, with what was known of it before. */
export type Filled = (before: unknown, listed: object) => object;

/**
 * How old a sighting may be for a reconcile: what a person changed or an operation ended is known well enough from the last ten
 * minutes, while a drift check is there to find out what changed since.
 */
export function oldestSightingMs(reconcile: Reading): number {
  const oldestMs = reconcile.priority === "drift" ? 150_000 : 10 * 60_000;
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
export class Sightings {
  readonly #clock: Clock;
  readonly #collections = new Map<string, Collection>();
  #order = 0;

  constructor(options: { clock: Clock }) {
    this.#clock = options.clock;
  }

  /** What is known of a resource, if it was seen within the last `maxAgeMs`. */
  of(collection: string, id: string, maxAgeMs: number): Sighting | undefined {
    const held = this.#collections.get(idKey(collection));
    if (held === undefined) return undefined;
    const since = this.#clock.now() - maxAgeMs;
    const one = held.items.get(idKey(id));
    if (one !== undefined && one.at > since) return one;
    // A list tells also of what is not in it.
    const listed = held.listedAt;
    if (one === undefined && listed !== undefined && listed > since)
      return { resource: undefined, at: listed, order: 0 };
    return undefined;
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
    const held = this.#at(collection);
    if (held.listedAt !== undefined && held.listedAt > this.#clock.now() - maxAgeMs)
      return present(held);
    held.listing ??= this.#listed(held, read, filled).finally(() => {
      held.listing = undefined;
    });
    return held.listing;
  }

  async #listed(
    held: Collection,
    read: () => Promise<{ id?: string }[]>,
    filled: Filled,
  ): Promise<unknown[]> {
    const from = this.#clock.now();
    const order = ++this.#order;
    const found = await read();
    const before = held.items;
    held.items = new Map();
    for (const resource of found) {
      if (resource.id === undefined) continue;
      const key = idKey(resource.id);
      const seen = filled(before.get(key)?.resource, resource);
      held.items.set(key, { resource: seen, at: from, order });
    }
    this.#showOwnWrites(held, order);
    // What was seen while the list was on its way is newer than the list.
    for (const [key, sighting] of before) {
      if (sighting.order > order) held.items.set(key, sighting);
      else if (sighting.resource !== undefined && !held.items.has(key)) this.#forgetChildren(key);
    }
    held.listedAt = from;
    return present(held);
  }

  /** Remember what a resource is now; undefined where there is none any more. */
  learn(collection: string, id: string, resource: unknown): void {
    const now = this.#clock.now();
    const { items } = this.#at(collection);
    items.delete(idKey(id));
    items.set(idKey(id), { resource, at: now, order: ++this.#order });
    if (resource !== undefined) return;
    this.#forgetChildren(idKey(id));
    for (const [key, sighting] of items) {
      if (!(sighting.at <= now - absentMs)) break;
      if (sighting.resource === undefined) items.delete(key);
    }
  }

  /** Forget a resource: the next look reads it. */
  forget(collection: string, id: string): void {
    const held = this.#collections.get(idKey(collection));
    if (held === undefined) return;
    // Without an age, which no look accepts, or an older list would speak for it. It stays in the list: what is being changed exists.
    const order = ++this.#order;
    const { resource } = held.items.get(idKey(id)) ?? {};
    held.items.set(idKey(id), { resource, at: Number.NaN, order });
  }

  /**
   * Remember a write of ours until a read has shown it: a resource that we created and cannot read yet is not absent, and one
   * that we deleted may be read for a while.
   */
  wrote(collection: string, id: string, write: OwnWrite): void {
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
  failed(collection: string, id: string): void {
    this.#collections.get(idKey(collection))?.writes.delete(idKey(id));
  }

  /** Our last write to a resource, if an answer to a read shows the state before it. */
  unshown(collection: string, id: string, found: unknown): OwnWrite | undefined {
    const held = this.#collections.get(idKey(collection));
    const write = held?.writes.get(idKey(id));
    if (write === undefined) return undefined;
    if (this.#isUnshown(write, found)) return write;
    held?.writes.delete(idKey(id));
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
  #showOwnWrites(held: Collection, order: number): void {
    for (const [key, write] of held.writes) {
      if (!this.#isUnshown(write, held.items.get(key)?.resource)) held.writes.delete(key);
      else if (!write.exists) held.items.delete(key);
      else if (write.resource !== undefined)
        held.items.set(key, { resource: write.resource, at: write.at, order });
      // What it is now is not known: a look reads it.
      else held.items.set(key, { resource: held.items.get(key)?.resource, at: Number.NaN, order });
    }
  }

  /**
   * Forget what is known of these resources, of what they lie in and of what lies in them, with the lists that told of it. Whether
   * any of it was so old that a decision of that time was made by it without a read.
   */
  doubt(ids: Iterable<string>, decidedAt: number): boolean {
    let wasCached = false;
    const old = decidedAt - freshMs;
    const forget = (held: Collection, key: string) => {
      const at = held.items.get(key)?.at ?? held.listedAt ?? Number.NaN;
      wasCached ||= at <= old;
      held.listedAt = undefined;
      held.items.set(key, { resource: undefined, at: Number.NaN, order: ++this.#order });
    };
    for (const id of ids) {
      const key = idKey(id);
      for (const { collection, item } of placesOf(key)) {
        const held = this.#collections.get(collection);
        if (held !== undefined) forget(held, item);
      }
      for (const [name, { listedAt = Number.NaN }] of this.#collections)
        if (name.startsWith(`${key}/`)) wasCached ||= listedAt <= old;
      this.#forgetChildren(key);
    }
    return wasCached;
  }

  /** Forget everything, when another may have changed it meanwhile. */
  forgetAll(): void {
    this.#collections.clear();
  }

  /** What lay in a resource is gone with it, also where one of the same name is made again. */
  #forgetChildren(key: string): void {
    for (const name of this.#collections.keys())
      if (name.startsWith(`${key}/`)) this.#collections.delete(name);
  }

  #at(collection: string): Collection {
    const key = idKey(collection);
    const held = this.#collections.get(key);
    if (held !== undefined) return held;
    const made = { listedAt: undefined, listing: undefined, items: new Map(), writes: new Map() };
    this.#collections.set(key, made);
    return made;
  }
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
