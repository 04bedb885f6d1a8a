import type { Clock } from "../model/clock.ts";
import type { Priority } from "../model/priority.ts";
import { idKey } from "../model/resource-id.ts";

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
}

/** A resource as a list tells it, with what was known of it before. */
export type Filled = (before: unknown, listed: object) => object;

/**
 * How old a sighting may be for a pass: what a person changed or an operation ended is known well enough from the last ten
 * minutes, while a drift check is there to find out what changed since.
 */
export function oldestSightingMs(priority: Priority): number {
  return priority === "drift" ? 150_000 : 10 * 60_000;
}

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
    // Kept without an age, which no look accepts, or an older list would speak for it.
    const order = ++this.#order;
    held.items.set(idKey(id), { resource: undefined, at: Number.NaN, order });
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
    const made = { listedAt: undefined, listing: undefined, items: new Map() };
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

function present({ items }: Collection): unknown[] {
  const found: unknown[] = [];
  for (const { resource } of items.values()) if (resource !== undefined) found.push(resource);
  return found;
}
