import type { World } from "../call.ts";
import type { Resource, Stored } from "../resource.ts";
import { apiVersionOf, heldIn, type Seen, seenBy } from "../seen.ts";

/** Put a complete object into the store, in the version in which it is held; what comes back is as its resource shows it. */
export function hold(world: World, resource: Resource, object: Stored, dryRun: boolean): Seen {
  if (dryRun) {
    const { resourceVersion, ...metadata } = object.metadata;
    const shown = resourceVersion === "" ? { ...object, metadata } : object;
    return { object: shown as Stored, text: JSON.stringify(shown) };
  }
  const { stored, by } = storedForm(world, resource, ordered(object));
  return seenBy(resource, world.store.put(heldIn(resource), stored, by));
}

/** An object as it is held: in the version for that, and in the form of the resource that holds it. */
export function storedForm(
  world: World,
  resource: Resource,
  object: Stored,
): { stored: Stored; by?: Resource } {
  const { view } = resource;
  if (view) {
    const holder = world.registry.holderOf(view.of);
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
