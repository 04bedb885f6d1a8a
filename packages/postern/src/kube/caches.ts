import type { Clock } from "@postern/core/clock.ts";
import type { Kind, KubeObject } from "@postern/core/kind.ts";
import { WatchCache } from "./cache.ts";
import type { KubeClient } from "./client.ts";
import type { Log } from "./log.ts";

/** What a cache holds of a kind. */
export interface CacheShape {
  metadataOnly?: boolean;
  labelSelector?: string;
  /** Whoever asks can do without it where the API server does not know the kind, or does not show it to us. */
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
  // Whether those who asked need it.
  #requested = new Map<WatchCache, boolean>();
  readonly #needed = new Set<WatchCache>();
  #started = false;

  constructor(options: {
    client: KubeClient;
    log: Log;
    namespace?: string | undefined;
    clock?: Clock;
  }) {
    this.#options = options;
  }

  /** The only namespace of which they hold anything; undefined where that is all of them. */
  get namespace(): string | undefined {
    return this.#options.namespace;
  }

  /** The cache of a kind: of whole objects, of their metadata only, or of those with a label; each is a watch. */
  of<T extends KubeObject>(kind: Kind<T>, options: CacheShape = {}): WatchCache<T> {
    const { optional = false, ...shape } = options;
    const part = [shape.metadataOnly && "metadata", shape.labelSelector].filter(Boolean);
    const id = `${kind.group}/${kind.version}/${kind.plural} ${part.join(" ")}`;
    const cache = this.#byKind.get(id) ?? this.#make(id, kind, shape);
    this.#requested.set(cache, this.#requested.get(cache) || !optional);
    return cache as unknown as WatchCache<T>;
  }

  #make(id: string, kind: Kind, shape: CacheShape): WatchCache {
    if (this.#started)
      throw new Error(`a cache of ${kind.plural} was asked for after the caches were started`);
    const { namespace, ...rest } = this.#options;
    const within = kind.namespaced && { namespace };
    const cache = new WatchCache({ ...rest, ...within, ...shape, kind });
    this.#byKind.set(id, cache);
    return cache;
  }

  /** The caches that were asked for since this was last called, and whether they are needed. */
  takeRequested(): ReadonlyMap<WatchCache, boolean> {
    const requested = this.#requested;
    this.#requested = new Map();
    return requested;
  }

  /** Say that the process is of no use without a cache. */
  need(cache: WatchCache): void {
    this.#needed.add(cache);
  }

  /** Whether the process is of no use without a cache. */
  isNeeded(cache: WatchCache): boolean {
    return this.#needed.has(cache);
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
