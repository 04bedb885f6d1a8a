import { dateBy } from "@postern/core/clock.ts";
import type { World } from "./call.ts";
import { collect, type Deed, disowned, type Standing, withoutFinalizer } from "./collect.ts";
import { convertTo, storageCollection } from "./conversion.ts";
import { cleanupFinalizer, definitions } from "./definitions.ts";
import { withDeletionConditions } from "./namespaces.ts";
import { Owners, type Place } from "./owners.ts";
import type { Resource, Stored, StoredOwner } from "./resource.ts";
import { type Change, collectionOf, type Entry } from "./store.ts";
import { deleteObject, finishedDeletion, foregroundFinalizer } from "./verbs/delete.ts";
import { withFinalizers } from "./verbs/finalize.ts";
import { storeObject } from "./verbs/store-object.ts";

/** So many objects are looked at before requests have their turn again. */
const atOnce = 200;

const eventTtlMs = 60 * 60_000;
const minute = 60_000;

/** Keep a world in order: what its owners left, what lies in namespaces and CRDs that go, Events that are old. */
export function startCollector(world: World): () => void {
  const collector = new Collector(world);
  return () => collector.stop();
}

class Collector {
  readonly #world: World;
  readonly #owners: Owners;
  /** What is to be looked at; one that is named twice is looked at once. */
  readonly #due = new Map<string, Place>();
  readonly #events = new Map<string, number>();
  readonly #stops: (() => void)[];
  #turn: NodeJS.Immediate | undefined;
  #stopped = false;

  constructor(world: World) {
    this.#world = world;
    this.#owners = new Owners(world.store);
    for (const collection of world.store.collections())
      for (const entry of world.store.list(collection)) this.#notice(collection, entry);
    this.#stops = [world.store.watch(undefined, (change) => this.#changed(change))];
    this.#forgetEventsEveryMinute();
  }

  stop(): void {
    this.#stopped = true;
    for (const stop of this.#stops.splice(0)) stop();
    clearImmediate(this.#turn);
  }

  #changed(change: Change): void {
    const { type, collection, entry, before } = change;
    this.#owners.follow(change);
    const { metadata } = entry.object;
    if (type !== "DELETED") this.#notice(collection, entry);
    else {
      if (collection === "events") this.#events.delete(entry.key);
      for (const place of this.#owners.dependents(metadata.uid)) this.#look(place);
      // It may have been the last that a namespace or a CRD waited for.
      if (metadata.namespace !== undefined) this.#lookIfGoing("namespaces", metadata.namespace);
      this.#lookIfGoing(definitions, collection);
    }
    const owners = [
      ...(metadata.ownerReferences ?? []),
      ...(before?.object.metadata.ownerReferences ?? []),
    ];
    for (const { uid } of owners) this.#lookAtOwner(uid);
  }

  /** Whether there may be something to do about an object. */
  #notice(collection: string, { key, object }: Entry): void {
    const { deletionTimestamp, ownerReferences } = object.metadata;
    if (collection === "events") {
      this.#events.delete(key);
      this.#events.set(key, this.#now());
    }
    if (deletionTimestamp !== undefined || ownerReferences) this.#look({ collection, key });
  }

  #lookAtOwner(uid: string): void {
    const place = this.#owners.place(uid);
    if (place) this.#lookIfGoing(place.collection, place.key);
  }

  #lookIfGoing(collection: string, key: string): void {
    const entry = this.#world.store.get(collection, key);
    if (entry?.object.metadata.deletionTimestamp !== undefined) this.#look({ collection, key });
  }

  #look(place: Place): void {
    this.#due.set(`${place.collection} ${place.key}`, place);
    if (this.#turn === undefined && !this.#stopped) this.#turn = setImmediate(() => this.#work());
  }

  #work(): void {
    this.#turn = undefined;
    let count = 0;
    for (const [id, place] of this.#due) {
      if (count++ === atOnce) break;
      this.#due.delete(id);
      this.#examine(place);
    }
    if (this.#due.size > 0 && !this.#stopped && this.#turn === undefined)
      this.#turn = setImmediate(() => this.#work());
  }

  #examine({ collection, key }: Place): void {
    const entry = this.#world.store.get(collection, key);
    const resource = this.#resourceOf(collection);
    if (!entry || !resource) return;
    const { metadata } = entry.object;
    const going = metadata.deletionTimestamp !== undefined;
    if (going && collection === "namespaces") this.#emptyNamespace(resource, entry);
    if (going && collection === definitions && metadata.finalizers?.includes(cleanupFinalizer))
      this.#emptyDefinition(resource, entry);
    const now = this.#world.store.get(collection, key);
    if (!now) return;
    const dependents = this.#owners
      .dependents(metadata.uid)
      .flatMap((place) => this.#objectAt(place) ?? []);
    const standing = (owner: StoredOwner) => this.#standing(owner, metadata.namespace);
    for (const deed of collect({ object: now.object, standing, dependents }))
      this.#carryOut(deed, resource, now);
  }

  #carryOut(deed: Deed, resource: Resource, entry: Entry): void {
    const seen = convertTo(resource, entry).object;
    switch (deed.do) {
      case "delete":
        deleteObject(this.#world, resource, entry, {
          dryRun: false,
          ...(deed.policy && { propagation: deed.policy }),
        });
        return;
      case "disown":
        storeObject(this.#world, resource, disowned(seen, deed.uids), false);
        return;
      case "orphan":
        for (const dependent of deed.dependents)
          this.#write(dependent, (object) => disowned(object, [seen.metadata.uid]));
        this.#look({ collection: storageCollection(resource), key: entry.key });
        return;
      case "delete dependents":
        // What becomes of each depends on its other owners, too.
        for (const { metadata } of deed.dependents) {
          const place = this.#owners.place(metadata.uid);
          if (place) this.#look(place);
        }
        return;
      case "drop finalizer":
        this.#put(resource, entry, withoutFinalizer(seen, deed.finalizer));
    }
  }

  #write(dependent: Stored, change: (object: Stored) => Stored): void {
    const place = this.#owners.place(dependent.metadata.uid);
    const resource = place && this.#resourceOf(place.collection);
    const entry = place && this.#world.store.get(place.collection, place.key);
    if (resource && entry)
      storeObject(this.#world, resource, change(convertTo(resource, entry).object), false);
  }

  /** Store an object, or remove it where no finalizer is left. */
  #put(resource: Resource, entry: Entry, next: Stored): void {
    if (finishedDeletion(resource, next))
      this.#world.store.remove(storageCollection(resource), entry.key, next);
    else storeObject(this.#world, resource, next, false);
  }

  #emptyNamespace(resource: Resource, entry: Entry): void {
    const left = this.#deleteAll((holder) =>
      holder.namespaced ? this.#world.store.list(storageCollection(holder), entry.key) : [],
    );
    const { object } = this.#world.store.get("namespaces", entry.key) ?? entry;
    if (left === "more") {
      this.#look({ collection: "namespaces", key: entry.key });
      return;
    }
    const next = withDeletionConditions(object, left, this.#now());
    if (left.length > 0) {
      if (next !== object) storeObject(this.#world, resource, next, false);
      return;
    }
    const { finalizers = [] } = (object.spec ?? {}) as { finalizers?: string[] };
    const others = finalizers.filter((each) => each !== "kubernetes");
    if (others.length < finalizers.length) this.#put(resource, entry, withFinalizers(next, others));
  }

  #emptyDefinition(resource: Resource, entry: Entry): void {
    const { spec } = entry.object as Stored & {
      spec: { group: string; names: { plural: string } };
    };
    const collection = collectionOf({ group: spec.group, plural: spec.names.plural });
    const left = this.#deleteAll((holder) =>
      collectionOf(holder) === collection ? this.#world.store.list(collection) : [],
    );
    if (left === "more") {
      this.#look({ collection: definitions, key: entry.key });
      return;
    }
    if (left.length > 0) return;
    this.#put(resource, entry, withoutFinalizer(entry.object, cleanupFinalizer));
  }

  /** Delete what is listed of each resource, some at once; returns what remains because of finalizers. */
  #deleteAll(
    listed: (holder: Resource) => Entry[],
  ): { holder: Resource; object: Stored }[] | "more" {
    const left: { holder: Resource; object: Stored }[] = [];
    let count = 0;
    for (const holder of this.#world.registry.storageResources()) {
      for (const each of listed(holder)) {
        if (each.object.metadata.deletionTimestamp === undefined) {
          if (count++ === atOnce) return "more";
          const options = { dryRun: false, propagation: "Background" } as const;
          if (deleteObject(this.#world, holder, each, options).gone) continue;
        }
        const now = this.#world.store.get(storageCollection(holder), each.key);
        if (now) left.push({ holder, object: now.object });
      }
    }
    return left;
  }

  #standing(owner: StoredOwner, namespace: string | undefined): Standing {
    const place = this.#owners.place(owner.uid);
    const found = place && this.#objectAt(place);
    if (!found) {
      const group = owner.apiVersion.includes("/") ? (owner.apiVersion.split("/")[0] ?? "") : "";
      // Of a kind that is not served nobody can say that it is gone.
      return this.#world.registry.byKind(group, owner.kind) ? "absent" : "solid";
    }
    const { metadata } = found;
    // What lies in no namespace cannot be owned by what lies in one; it is left alone.
    if (metadata.namespace !== undefined && namespace === undefined) return "solid";
    if (metadata.namespace !== undefined && metadata.namespace !== namespace) return "absent";
    const waits = metadata.finalizers?.includes(foregroundFinalizer);
    return metadata.deletionTimestamp !== undefined && waits ? "waiting" : "solid";
  }

  #objectAt({ collection, key }: Place): Stored | undefined {
    return this.#world.store.get(collection, key)?.object;
  }

  #resourceOf(collection: string): Resource | undefined {
    return this.#world.registry
      .storageResources()
      .find((each) => collectionOf(each) === collection);
  }

  #forgetEventsEveryMinute(): void {
    // By the time of day: a clock that runs fast must not take Events from those who read them.
    const again = () => {
      if (this.#stopped) return;
      for (const [key, time] of this.#events) {
        if (this.#now() - time < eventTtlMs) break;
        this.#events.delete(key);
        this.#world.store.remove("events", key);
      }
      this.#stops[1] = this.#world.clock.after(minute, again, { limit: true });
    };
    again();
  }

  #now(): number {
    return dateBy(this.#world.clock).getTime();
  }
}
