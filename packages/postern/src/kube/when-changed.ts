import { hash } from "node:crypto";
import { type KubeObject, keyOf } from "@postern/core/kind.ts";

/**
 * Wakes only when what matters of an object has changed: the status of a cluster is written every few seconds, and each
 * pass may cost reads in Azure. An object that is being deleted always wakes, because its end shows no change.
 */
export function whenChanged(
  keys: (object: KubeObject) => string[],
  matter: (object: KubeObject) => unknown,
): (object: KubeObject) => string[] {
  const last = new Map<string, string>();
  return (object) => {
    const key = keyOf(object);
    if (object.metadata.deletionTimestamp !== undefined) {
      last.delete(key);
      return keys(object);
    }
    const print = hash("sha1", JSON.stringify(matter(object)) ?? "", "base64");
    if (last.get(key) === print) return [];
    last.set(key, print);
    return keys(object);
  };
}
