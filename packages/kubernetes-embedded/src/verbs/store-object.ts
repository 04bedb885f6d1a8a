import type { World } from "../call.ts";
import { apiVersionOf, convertTo, storageCollection, type VersionedObject } from "../conversion.ts";
import type { Resource, Stored } from "../resource.ts";

/** Store a complete object in its storage version; returns it in the version of the resource. */
export function storeObject(
  world: World,
  resource: Resource,
  object: Stored,
  dryRun: boolean,
): VersionedObject {
  if (dryRun) {
    const { resourceVersion, ...metadata } = object.metadata;
    const shown = resourceVersion === "" ? { ...object, metadata } : object;
    return { object: shown as Stored, text: JSON.stringify(shown) };
  }
  const { stored, by } = storageForm(world, resource, ordered(object));
  return convertTo(resource, world.store.put(storageCollection(resource), stored, by));
}

/** An object in its storage version, and the resource of that version. */
export function storageForm(
  world: World,
  resource: Resource,
  object: Stored,
): { stored: Stored; by?: Resource } {
  const { view } = resource;
  if (view) {
    const holder = world.registry.storageResource(view.of);
    return { stored: view.take(object), ...(holder && { by: holder }) };
  }
  const version = world.registry.storageVersion(resource);
  if (version === resource.version) return { stored: object, by: resource };
  const by = world.registry.find(resource.group, version, resource.plural);
  const stored = { ...object, apiVersion: apiVersionOf({ group: resource.group, version }) };
  // Its own schema may have defaults that the other has not.
  return by ? { stored: by.shape.fill(stored), by } : { stored };
}

/** In this order, so that all texts of objects begin alike. */
function ordered({ apiVersion, kind, metadata, ...rest }: Stored): Stored {
  return { apiVersion, kind, metadata, ...rest };
}
