import { expired, type Refused } from "../answers.ts";
import type { Call, World } from "../call.ts";
import { apiVersionOf, convertTo, storageCollection, type VersionedObject } from "../conversion.ts";
import { definitions } from "../definitions.ts";
import { type ListOptions, listOptions } from "../options.ts";
import type { Resource, Stored } from "../resource.ts";
import { type Selector, selectorOf } from "../selectors.ts";
import type { Change, Entry } from "../store.ts";

/** Where the events of a watch go. */
export interface Sink {
  event(type: EventType, seen: VersionedObject): void;
  bookmark(object: Bookmark): void;
  error(refused: Refused): void;
  /** No more events come. */
  end(): void;
}

/** An object of which nothing is known but the revision that a watch has come to. */
export interface Bookmark {
  kind: string;
  apiVersion: string;
  metadata: { resourceVersion: string; annotations?: Record<string, string> };
}

export type EventType = "ADDED" | "MODIFIED" | "DELETED";

const minute = 60_000;

/** How long a watch lasts at least for which nobody says it. */
const longSeconds = 30 * 60;

const beforeEndMs = 2000;

/** A watch that was found to be in order. */
export interface Watch {
  resource: Resource;
  /** Send what is, or what was since; then what happens. The answer ends it. */
  start(sink: Sink): () => void;
}

/** Tell of every change from a time on. */
export function watch(call: Call, world: World): Watch {
  const { resource, query } = call;
  const options = listOptions(query, true);
  const picks = selectorOf(resource, query);
  const namespace = call.namespace;
  // A watch of one object is one of all that have its name.
  const selector = call.name === undefined ? picks : byName(call.name, picks);
  return {
    resource,
    start: (sink) => begin({ resource, namespace, selector, options }, world, sink),
  };
}

function byName(name: string, picks: Selector | undefined): Selector {
  return (object) => object.metadata.name === name && (picks?.(object) ?? true);
}

interface Wanted {
  resource: Resource;
  namespace: string | undefined;
  selector: Selector | undefined;
  options: ListOptions;
}

function begin(wanted: Wanted, world: World, sink: Sink): () => void {
  const { resource, options } = wanted;
  const { store, registry, clock } = world;
  let from = options.resourceVersion ?? 0;
  if (startsWithAll(options)) {
    sendAll(wanted, world, sink);
    from = store.revision;
  }
  const past = store.since(from);
  if (!past) {
    sink.error(expired(`too old resource version: ${from} (${store.forgotten})`));
    sink.end();
    return () => undefined;
  }
  const collection = storageCollection(resource);
  const tell = (change: Change) => {
    if (change.revision > from) send(wanted, change, sink);
  };
  for (const change of past) if (change.collection === collection) tell(change);

  const stops: (() => void)[] = [store.watch(collection, tell)];
  const stop = () => {
    for (const each of stops.splice(0)) each();
  };
  // Clients wait by their own clock, however fast this one runs.
  const after = (ms: number, then: () => void) =>
    stops.push(clock.after(ms, then, { limit: true }));
  const lastsMs = (options.timeoutSeconds ?? spread(longSeconds)) * 1000;
  const end = () => {
    stop();
    sink.end();
  };
  const endIfReplaced = () => {
    if (registry.find(resource.group, resource.version, resource.plural) !== resource) end();
  };
  after(lastsMs, end);
  // A CRD that changed or went has other objects: clients come back, and see them or that there are none.
  if (!resource.builtIn) stops.push(store.watch(definitions, endIfReplaced));
  if (!options.bookmarks) return stop;
  const bookmark = () => sink.bookmark(bookmarkOf(resource, store.revision));
  const repeat = () => {
    bookmark();
    after(minute, repeat);
  };
  after(minute, repeat);
  // The last one lets the client go on from the end.
  if (lastsMs > beforeEndMs) after(lastsMs - beforeEndMs, bookmark);
  return stop;
}

/** So that those who came together do not come back together. */
function spread(seconds: number): number {
  return seconds * (1 + Math.random());
}

/** Without a version, or with 0, a watch begins with what is there. */
function startsWithAll({ resourceVersion = 0, initialEvents }: ListOptions): boolean {
  return initialEvents ?? resourceVersion === 0;
}

function sendAll(wanted: Wanted, { store }: World, sink: Sink): void {
  const { resource, namespace, selector, options } = wanted;
  for (const entry of store.list(storageCollection(resource), namespace)) {
    const seen = convertTo(resource, entry);
    if (!selector || selector(seen.object)) sink.event("ADDED", seen);
  }
  if (options.initialEvents && options.bookmarks)
    sink.bookmark(bookmarkOf(resource, store.revision, { "k8s.io/initial-events-end": "true" }));
}

/** A change as a watcher sees it: what it did not see before is new to it, what it does not see any more is gone. */
function send({ resource, namespace, selector }: Wanted, change: Change, sink: Sink): void {
  const { type, entry, before } = change;
  if (namespace !== undefined && entry.object.metadata.namespace !== namespace) return;
  const now = convertTo(resource, entry);
  if (!selector) {
    sink.event(type, now);
    return;
  }
  const is = type !== "DELETED" && selector(now.object);
  const was = before !== undefined && selector(convertTo(resource, before).object);
  if (is) sink.event(was ? "MODIFIED" : "ADDED", now);
  else if (was) sink.event("DELETED", type === "DELETED" ? now : lastSeen(resource, before, entry));
}

/** What a watcher saw last, with the revision at which it stopped to see it. */
function lastSeen(resource: Resource, before: Entry, { revision }: Entry): VersionedObject {
  const { object } = convertTo(resource, before);
  const last: Stored = {
    ...object,
    metadata: { ...object.metadata, resourceVersion: String(revision) },
  };
  return { object: last, text: JSON.stringify(last) };
}

function bookmarkOf(
  resource: Resource,
  revision: number,
  annotations?: Record<string, string>,
): Bookmark {
  const metadata = { resourceVersion: String(revision), ...(annotations && { annotations }) };
  return { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata };
}
