import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import type { WatchCache } from "./cache.ts";

/** Index objects by their namespace. The function gives the keys of those in the namespace of another object. */
export function byNamespace<T extends KubeObject>(cache: WatchCache<T>) {
  cache.index("namespace", ({ metadata }) => [metadata.namespace ?? ""]);
  return ({ metadata }: KubeObject): string[] =>
    cache.byIndex("namespace", metadata.namespace ?? "").map(keyOf);
}
