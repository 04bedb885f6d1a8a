import { type Clock, realClock, wait } from "@postern/core/clock.ts";
import { type Kind, type KubeObject, keyOf } from "@postern/core/kind.ts";
import { collectionPath, type KubeClient, parseBody } from "./client.ts";
import { KubeError, type KubeStatus } from "./errors.ts";
import { Lines, withoutManagedFields } from "./lines.ts";
import type { Log } from "./log.ts";

/** One change of one object. A new object has no `before`, a deleted one no `after`. */
export interface Change<T> {
  key: string;
  before: T | undefined;
  after: T | undefined;
}

export interface CacheOptions<T extends KubeObject> {
  client: KubeClient;
  kind: Kind<T>;
  /** All namespaces when absent. */
  namespace?: string | undefined;
  labelSelector?: string;
  /** Only names, labels, annotations and owners; a third less memory where that is enough. */
  metadataOnly?: boolean;
  log: Log;
  clock?: Clock;
  /** For tests of the older way: fill by pages and not by a stream. */
  pagedList?: boolean;
}

/** How a cache is doing, for the health pages. */
export interface CacheHealth {
  kind: string;
  filled: boolean;
  /** False where the API server has said that it does not know the kind. */
  isServed: boolean;
  objects: number;
  connected: boolean;
  /** When the API server last said anything, bookmarks included. */
  heardAt: number;
  /** The newest version that it has heard of. */
  version: string;
  failure: string | undefined;
}

interface WatchEvent<T> {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  object: T;
}

const partialMetadata =
  "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const firstRetryMs = 800;
const lastRetryMs = 30_000;
const shortestWatchMs = 1_000;
/** A watch that has lasted this long works: the next failure is a new one. */
const longWatchMs = 30_000;

/**
 * All objects of one kind, updated by a watch.
 * It is filled by a streamed list, or by pages from a server that has none; a dropped connection goes on from the
 * last version heard, and a version that the server has forgotten (410) starts a new list. Nobody reads a cache that is half filled.
 */
export class WatchCache<T extends KubeObject = KubeObject> {
  readonly kind: Kind<T>;
  readonly #options: CacheOptions<T>;
  readonly #clock: Clock;
  readonly #objects = new Map<string, T>();
  readonly #indexes = new Map<string, Index<T>>();
  #handlers: ((change: Change<T>) => void)[] = [];
  readonly filled: Promise<void>;
  /** Done when it is filled, or when the API server has said that it does not know the kind or does not show it to us. */
  readonly known: Promise<void>;
  #fill!: () => void;
  #know!: () => void;
  #isFilled = false;
  #connected = false;
  #heardAt = 0;
  #version = "";
  #failures = 0;
  #failure: string | undefined;
  /** The status of the last refusal that was logged. */
  #refusal: 403 | 404 | undefined;
  #streamedList: boolean;
  // While the first objects arrive: the keys from before that have not arrived again.
  #unseen: Set<string> | undefined;

  constructor(options: CacheOptions<T>) {
    this.#options = options;
    this.kind = options.kind;
    this.#clock = options.clock ?? realClock;
    this.#streamedList = !options.pagedList;
    this.filled = new Promise((resolve) => {
      this.#fill = resolve;
    });
    this.known = new Promise((resolve) => {
      this.#know = resolve;
    });
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  list(): T[] {
    return [...this.#objects.values()];
  }

  /** Keep a look-up from a value to the objects that have it. Ask before the cache starts. */
  index(name: string, valuesOf: (object: T) => string[]): void {
    this.#indexes.set(name, { valuesOf, keys: new Map() });
  }

  byIndex(name: string, value: string): T[] {
    const found: T[] = [];
    for (const key of this.#indexes.get(name)?.keys.get(value) ?? []) {
      const object = this.#objects.get(key);
      if (object) found.push(object);
    }
    return found;
  }

  /** Call `handler` for every change from now on. It must not throw. */
  onChange(handler: (change: Change<T>) => void): () => void {
    this.#handlers.push(handler);
    return () => {
      this.#handlers = this.#handlers.filter((each) => each !== handler);
    };
  }

  health(): CacheHealth {
    return {
      kind: this.kind.kind,
      filled: this.#isFilled,
      isServed: this.#refusal !== 404,
      objects: this.#objects.size,
      connected: this.#connected,
      heardAt: this.#heardAt,
      version: this.#version,
      failure: this.#failure,
    };
  }

  /** Fill the cache and keep it in step until the signal says stop. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        if (this.#version === "" && !this.#streamedList) await this.#fillByPages(signal);
        await this.#watch(signal);
      } catch (error) {
        if (signal.aborted) return;
        await this.#recover(error, signal);
      }
    }
  }

  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    this.#connected = false;
    const code = error instanceof KubeError ? error.code : "Bug";
    const status = error instanceof KubeError ? error.status : 0;
    if (status === 410 || code === "Expired" || code === "Gone") {
      this.#version = "";
      this.#options.log.info({ kind: this.kind.kind }, "watch is too old, listing again");
      if (this.#failures++ === 0) return;
    }
    if (this.#version === "" && this.#streamedList && (status === 400 || status === 422)) {
      this.#streamedList = false;
      return;
    }
    this.#failure = error instanceof Error ? error.message : String(error);
    if (status !== 410) this.#failures++;
    const delay = Math.min(lastRetryMs, firstRetryMs * 2 ** (this.#failures - 1));
    if (status === 404 || status === 403) {
      this.#know();
      this.#logRefusal(status, delay);
    } else
      this.#options.log.warn({ kind: this.kind.kind, err: error, retryMs: delay }, "watch failed");
    // Spread, so that many replicas do not come back at the same instant.
    await wait(this.#clock, delay * (0.75 + Math.random() / 2), signal).catch(() => {});
  }

  /** A kind that is not installed, or not allowed, stays so until a person changes it: one warning is enough. */
  #logRefusal(status: 403 | 404, retryMs: number): void {
    const { log } = this.#options;
    const fields = { kind: this.kind.kind, group: this.kind.group, error: this.#failure, retryMs };
    const isRepeated = this.#refusal === status;
    this.#refusal = status;
    if (isRepeated) log.debug(fields, "watch failed");
    else if (status === 404) log.warn(fields, "the API server does not serve this kind");
    else log.warn(fields, "the API server does not allow this kind to be watched");
  }

  async #fillByPages(signal: AbortSignal): Promise<void> {
    const { client, namespace, labelSelector, metadataOnly } = this.#options;
    this.#unseen = new Set(this.#objects.keys());
    let version = "";
    const pages = client.list<T>(this.kind, {
      namespace,
      ...(labelSelector && { query: `labelSelector=${encodeURIComponent(labelSelector)}` }),
      ...(metadataOnly && { accept: partialMetadata }),
      signal,
    });
    for await (const page of pages) {
      for (const object of page.items) this.#put(object);
      version = page.resourceVersion;
    }
    this.#listed(version);
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { client, namespace, labelSelector, metadataOnly } = this.#options;
    const first = this.#version === "";
    if (first) this.#unseen = new Set(this.#objects.keys());
    // The server ends the watch after this long; different for each, so that they do not end together.
    const seconds = 300 + Math.floor(Math.random() * 300);
    let path = `${collectionPath(this.kind, namespace)}?watch=true&allowWatchBookmarks=true&timeoutSeconds=${seconds}`;
    path += first
      ? "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
      : `&resourceVersion=${this.#version}`;
    if (labelSelector) path += `&labelSelector=${encodeURIComponent(labelSelector)}`;

    const lines = new Lines();
    const opened = this.#clock.now();
    let heard = false;
    let failed: unknown;
    const onLine = (line: string) => {
      if (failed === undefined && line.length > 1)
        this.#take(parseBody(withoutManagedFields(line)));
    };
    await client.watch(
      path,
      (bytes) => {
        heard = true;
        this.#connected = true;
        this.#endRefusal();
        this.#heardAt = this.#clock.now();
        if (this.#heardAt - opened > longWatchMs) this.#recovered();
        try {
          lines.push(bytes, onLine);
        } catch (error) {
          failed = error;
        }
        return failed === undefined;
      },
      { signal, ...(metadataOnly && { accept: partialMetadata }) },
    );
    this.#connected = false;
    if (failed !== undefined) throw failed;
    // Something between us and the server that ends every watch at once must not make a hot loop.
    if (!heard && this.#clock.now() - opened < shortestWatchMs)
      throw new KubeError("Unreachable", `watch of ${this.kind.plural} ended as soon as it began`);
    if (lines.isPartial)
      throw new KubeError("UnreadableAnswer", `watch of ${this.kind.plural} ended within a line`);
    if (this.#version === "")
      throw new KubeError(
        "Unreachable",
        `watch of ${this.kind.plural} ended before the first list did`,
      );
  }

  #take(event: WatchEvent<T>): void {
    switch (event.type) {
      case "ADDED":
      case "MODIFIED":
        this.#put(event.object);
        break;
      case "DELETED":
        this.#drop(keyOf(event.object), event.object);
        break;
      case "BOOKMARK":
        if (event.object.metadata.annotations?.["k8s.io/initial-events-end"] === "true")
          this.#listed(event.object.metadata.resourceVersion ?? "");
        break;
      case "ERROR": {
        const status = event.object as unknown as KubeStatus;
        const message = `watch of ${this.kind.plural} ended · ${status.message ?? "the server gave no reason"}`;
        throw new KubeError(status.reason ?? "ServerError", message, {
          status: status.code ?? 500,
        });
      }
    }
    // During the first list the versions are those of the objects, in no order: nothing to go on from.
    if (this.#unseen === undefined)
      this.#version = event.object.metadata.resourceVersion ?? this.#version;
  }

  #recovered(): void {
    this.#failures = 0;
    this.#failure = undefined;
  }

  #listed(version: string): void {
    for (const key of this.#unseen ?? []) this.#drop(key);
    this.#unseen = undefined;
    this.#version = version;
    this.#failure = undefined;
    this.#heardAt = this.#clock.now();
    this.#isFilled = true;
    this.#endRefusal();
    this.#fill();
    this.#know();
  }

  #endRefusal(): void {
    if (this.#refusal !== undefined)
      this.#options.log.info({ kind: this.kind.kind }, "the kind is watched now");
    this.#refusal = undefined;
  }

  #put(object: T): void {
    const key = keyOf(object);
    this.#unseen?.delete(key);
    // Cut out of the text already, but for forms that the cutter does not know.
    if ("managedFields" in object.metadata) delete object.metadata.managedFields;
    const before = this.#objects.get(key);
    if (before?.metadata.resourceVersion === object.metadata.resourceVersion && before) return;
    this.#objects.set(key, object);
    this.#reindex(key, before, object);
    this.#notify({ key, before, after: object });
  }

  #drop(key: string, last?: T): void {
    const before = this.#objects.get(key) ?? last;
    this.#unseen?.delete(key);
    if (before === undefined) return;
    this.#objects.delete(key);
    this.#reindex(key, before, undefined);
    this.#notify({ key, before, after: undefined });
  }

  #reindex(key: string, before: T | undefined, after: T | undefined): void {
    for (const index of this.#indexes.values()) {
      for (const value of this.#valuesOf(index, key, before)) {
        const keys = index.keys.get(value);
        keys?.delete(key);
        if (keys?.size === 0) index.keys.delete(value);
      }
      for (const value of this.#valuesOf(index, key, after)) {
        const keys = index.keys.get(value);
        if (keys) keys.add(key);
        else index.keys.set(value, new Set([key]));
      }
    }
  }

  /** One object that an index cannot make anything of must not end the watch for all the others. */
  #valuesOf({ valuesOf }: Index<T>, key: string, object: T | undefined): string[] {
    if (object === undefined) return [];
    try {
      return valuesOf(object);
    } catch (err) {
      this.#options.log.error({ kind: this.kind.kind, key, err }, "object cannot be indexed");
      return [];
    }
  }

  #notify(change: Change<T>): void {
    for (const handler of this.#handlers) {
      try {
        handler(change);
      } catch (err) {
        this.#options.log.error(
          { kind: this.kind.kind, key: change.key, err },
          "change handler failed",
        );
      }
    }
  }
}

interface Index<T> {
  valuesOf: (object: T) => string[];
  keys: Map<string, Set<string>>;
}
