import { notFound, tooLarge } from "../answers.ts";
import type { Answer, Call, World } from "../call.ts";
import { convertTo, storageCollection } from "../conversion.ts";
import { listOptions } from "../options.ts";
import type { Entry } from "../store.ts";

/** One object. */
export function get(call: Call, world: World): Answer {
  const { resource } = call;
  // What is held is never older than what is asked for, unless that has not come to be.
  const { resourceVersion = 0 } = listOptions(call.query, false);
  if (resourceVersion > world.store.revision) throw tooLarge(resourceVersion, world.store.revision);
  return { code: 200, object: convertTo(resource, find(call, world)), resource };
}

/** The object that a request names. */
export function find({ resource, namespace, name = "" }: Call, { store }: World): Entry {
  const key = namespace === undefined ? name : `${namespace}/${name}`;
  const entry = store.get(storageCollection(resource), key);
  if (!entry) throw notFound(resource, name);
  return entry;
}
