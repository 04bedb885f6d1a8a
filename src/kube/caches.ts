import type { Clock } from "../model/clock.ts";
import type { Kind, KubeObject } from "../model/kind.ts";
import { WatchCache } from "./cache.ts";
import type { KubeClient } from "./client.ts";
import type { Log } from "./log.ts";

/** The caches of a process: one watch for each kind, however many ask for it. */
export class Caches {
  readonly #options: {
    client: KubeClient;
    log: Log;
    namespace?: string | undefined;
    clock?: Clock;
  };
  readonly #byKind = new Map<string, WatchCache>();

  constructor(options: {
    client: KubeClient;
    log: Log;
    namespace?: string | undefined;
    clock?: Clock;
  }) {
    this.#options = options;
  }

  /** The cache of a kind. `metadataOnly` holds only where nobody asks for the whole objects. */
  of<T extends KubeObject>(kind: Kind<T>, options: { metadataOnly?: boolean } = {}): WatchCache<T> {
    const id = `${kind.group}/${kind.version}/${kind.plural}${options.metadataOnly ? " (metadata)" : ""}`;
    const held = this.#byKind.get(id);
    if (held) return held as unknown as WatchCache<T>;
    const { namespace, ...rest } = this.#options;
    const cache = new WatchCache({
      ...rest,
      ...(kind.namespaced && { namespace }),
      ...options,
      kind,
    });
    this.#byKind.set(id, cache as unknown as WatchCache);
    return cache;
  }

  all(): WatchCache[] {
    return [...this.#byKind.values()];
  }
}
