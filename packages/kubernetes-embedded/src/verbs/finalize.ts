import { badRequest } from "../answers.ts";
import { objectIn } from "../body.ts";
import type { Answer, Call, World } from "../call.ts";
import { convertTo } from "../conversion.ts";
import type { Stored } from "../resource.ts";
import { finishedDeletion } from "./delete.ts";
import { find } from "./get.ts";
import { storeObject } from "./store-object.ts";

/** Change what holds a namespace back from being deleted. */
export function finalize(call: Call, world: World): Answer {
  const { resource } = call;
  const { metadata, spec } = objectIn(call);
  if (metadata.name !== call.name)
    throw badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${call.name})`,
    );
  const { finalizers = [] } = (spec ?? {}) as { finalizers?: string[] };
  const entry = find(call, world);
  const next = withFinalizers(convertTo(resource, entry).object, finalizers);
  if (finishedDeletion(resource, next)) {
    world.store.remove("namespaces", entry.key, next);
    return { code: 200, object: { object: next, text: JSON.stringify(next) }, resource };
  }
  return { code: 200, object: storeObject(world, resource, next, false), resource };
}

/** A namespace with these things to do before it can go. */
export function withFinalizers(namespace: Stored, finalizers: readonly string[]): Stored {
  const { finalizers: _, ...spec } = namespace.spec as { finalizers?: string[] };
  return { ...namespace, spec: { ...spec, ...(finalizers.length > 0 && { finalizers }) } };
}
