import type { Clock } from "../model/clock.ts";
import type { Kind, KubeObject } from "../model/kind.ts";
import { WatchCache } from "./cache.ts";
import type { KubeClient } from "./client.ts";
import type { Log } from "./log.ts";

/** What a cache holds of a kind. */
export interface CacheShape {
  metadataOnly?: boolean;
  labelSelector?: string;
  /** Work can begin although the API server does not know this kind. */
  optional?: boolean;
}

/** The caches of a process: one watch for each kind, however many ask for it. */
export class Caches {
  readonly #options: {
    client: KubeClient;
    log: Log;
    namespace?: string | undefined;
    clock?: Clock;
  };
  readonly #byKind = new Map<string, WatchCache>();
  #asked = new Set<WatchCache>();
  #started = false;

  constructor(options: {
    client: KubeClient;
    log: Log;
    namespace?: string | undefined;
    clock?: Clock;
  }) {
    this.#options = options;
  }

  /** The cache of a kind: of whole objects, of their metadata only, or of those with a label; each is a watch. */
  of<T extends KubeObject>(kind: Kind<T>, options: CacheShape = {}): WatchCache<T> {
    const shape = [options.metadataOnly && "metadata", options.labelSelector].filter(Boolean);
    const id = `${kind.group}/${kind.version}/${kind.plural} ${shape.join(" ")}`;
    const held = this.#byKind.get(id);
    if (held) {
      this.#asked.add(held);
      return held as unknown as WatchCache<T>;
    }
    if (this.#started)
      throw new Error(`a cache of ${kind.plural} was asked for after the caches were started`);
    const { namespace, ...rest } = this.#options;
    const cache = new WatchCache({
      ...rest,
      ...(kind.namespaced && { namespace }),
      ...options,
      kind,
    });
    this.#byKind.set(id, cache as unknown as WatchCache);
    this.#asked.add(cache as unknown as WatchCache);
    return cache;
  }

  /** The caches that were asked for since this was last called. */
  takeAsked(): Set<WatchCache> {
    const asked = this.#asked;
    this.#asked = new Set();
    return asked;
  }

  /** Fill all of them and keep them in step until the signal says stop. */
  async start(signal: AbortSignal): Promise<void> {
    this.#started = true;
    await Promise.all(this.all().map((cache) => cache.run(signal)));
  }

  all(): WatchCache[] {
    return [...this.#byKind.values()];
  }
}
