import type { Resource, Stored } from "./resource.ts";
import { collectionOf, type Entry } from "./store.ts";

/** An object in one version of its resource. */
export interface VersionedObject {
  object: Stored;
  text: string;
}

const views = new WeakMap<Entry, Map<Resource, VersionedObject>>();

/**
 * An entry in the version of a resource. Most are stored in it; one of another version, or from before its CRD
 * changed, is completed by this one's schema, once.
 */
export function convertTo(resource: Resource, entry: Entry): VersionedObject {
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

/** The collection in which the objects of a resource are stored. */
export function storageCollection(resource: Resource): string {
  return collectionOf(resource.view?.of ?? resource);
}
