import type { Resource, Stored } from "./resource.ts";
import { collectionOf, type Entry } from "./store.ts";

/** An object as one version of its resource shows it. */
export interface Seen {
  object: Stored;
  text: string;
}

const views = new WeakMap<Entry, Map<Resource, Seen>>();

/**
 * An entry as a resource shows it. Most are held as they are shown; one of another version, or from before its CRD
 * changed, is completed by this one's schema, once.
 */
export function seenBy(resource: Resource, entry: Entry): Seen {
  if (entry.by === resource) return entry;
  const known = views.get(entry)?.get(resource);
  if (known) return known;
  const object = shownBy(resource, entry.object);
  const made = { object, text: JSON.stringify(object) };
  views.set(entry, (views.get(entry) ?? new Map()).set(resource, made));
  return made;
}

function shownBy(resource: Resource, stored: Stored): Stored {
  const { apiVersion: _version, kind: _kind, ...rest } = resource.view?.show(stored) ?? stored;
  const object = { apiVersion: apiVersionOf(resource), kind: resource.kind, ...rest } as Stored;
  if (resource.builtIn) return object;
  return resource.shape.fill(resource.shape.prune(object).object);
}

/** `group/version`, as objects say it. */
export function apiVersionOf({ group, version }: { group: string; version: string }): string {
  return group === "" ? version : `${group}/${version}`;
}

/** The collection that holds what a resource shows. */
export function heldIn(resource: Resource): string {
  return collectionOf(resource.view?.of ?? resource);
}
