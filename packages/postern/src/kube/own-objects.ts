import { apiVersionOf, type KubeObject, keyOf } from "@postern/core/kind.ts";
import type { WatchCache } from "./cache.ts";
import { collectionPath, type KubeClient, type Place, pathOf } from "./client.ts";
import { KubeError } from "./errors.ts";
import { versionIn } from "./status.ts";

/** A write of ours that the watch has not brought yet. */
type Unheard = { is: "written"; version: string } | { is: "deleted"; uid: string | undefined };

/**
 * The objects of another kind that a feature makes beside its own. They are read from the cache, or from the API
 * where the cache has not heard of our last write: else a second pass would do again what the first one did.
 */
export class OwnObjects<T extends KubeObject> {
  readonly cache: WatchCache<T>;
  readonly #client: KubeClient;
  readonly #fieldManager: string;
  readonly #unheard = new Map<string, Unheard>();

  constructor(cache: WatchCache<T>, client: KubeClient, fieldManager: string) {
    this.cache = cache;
    this.#client = client;
    this.#fieldManager = fieldManager;
    cache.onChange(({ key, after }) => {
      const write = this.#unheard.get(key);
      if (after === undefined || !isBehind(after, write)) this.#unheard.delete(key);
    });
  }

  async get(place: { namespace?: string; name: string }, signal: AbortSignal) {
    const key = keyOf({ metadata: place });
    const cached = this.cache.get(key);
    if (!isBehind(cached, this.#unheard.get(key))) return cached;
    const read = await this.#client.get<T>({ kind: this.cache.kind, ...place }, signal);
    if (read && "managedFields" in read.metadata) delete read.metadata.managedFields;
    return read;
  }

  /** Make an object. That somebody else has just made one of this name shows in the next reconcile. */
  async create(object: T, signal: AbortSignal): Promise<void> {
    const { kind } = this.cache;
    const path = `${collectionPath(kind, object.metadata.namespace)}?fieldManager=${this.#fieldManager}`;
    const body = JSON.stringify({ apiVersion: apiVersionOf(kind), kind: kind.kind, ...object });
    try {
      this.#wrote(object, versionIn(await this.#client.request("POST", path, { body, signal })));
    } catch (error) {
      if (!(error instanceof KubeError && error.code === "AlreadyExists")) throw error;
      this.#unheard.set(keyOf(object), { is: "written", version: "" });
    }
  }

  /** Change an object, or its status, by a merge patch, if nobody has changed it since it was observed. */
  async change(
    object: T,
    change: object,
    signal: AbortSignal,
    subresource?: "status",
  ): Promise<void> {
    const { namespace, name, uid, resourceVersion } = object.metadata;
    const place = { kind: this.cache.kind, namespace, name };
    const { metadata, ...rest } = change as { metadata?: object };
    const body = {
      metadata: { ...metadata, ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) },
      ...rest,
    };
    const options = {
      fieldManager: this.#fieldManager,
      signal,
      ...(subresource && { subresource }),
    };
    try {
      this.#wrote(object, versionIn(await this.#client.patch(place, "merge", body, options)));
    } catch (error) {
      throw isReplaced(error) ? replaced(place, error) : error;
    }
  }

  /** Delete an object, if nobody has changed it since it was observed. */
  async remove(object: T, signal: AbortSignal): Promise<void> {
    const { namespace, name, uid, resourceVersion } = object.metadata;
    const path = pathOf({ kind: this.cache.kind, namespace, name });
    const body = JSON.stringify({
      apiVersion: "v1",
      kind: "DeleteOptions",
      preconditions: { uid, resourceVersion },
    });
    try {
      await this.#client.request("DELETE", path, { body, signal });
    } catch (error) {
      if (!(error instanceof KubeError && error.status === 404)) throw error;
    }
    const cached = this.cache.get(keyOf(object));
    if (cached && cached.metadata.deletionTimestamp === undefined)
      this.#unheard.set(keyOf(object), { is: "deleted", uid });
  }

  #wrote(object: T, version: string): void {
    const key = keyOf(object);
    const unheard = { is: "written", version } as const;
    if (isBehind(this.cache.get(key), unheard)) this.#unheard.set(key, unheard);
  }
}

/** The API server calls it invalid to change a uid; for us it means that another object has this name by now. */
function isReplaced(error: unknown): error is KubeError {
  return (
    error instanceof KubeError && error.status === 422 && error.fields.includes("metadata.uid")
  );
}

function replaced({ kind, name }: Place, cause: KubeError): KubeError {
  const message = `${kind.kind} ${name} was not changed · another object has this name now`;
  return new KubeError("Conflict", message, { status: 409, method: "PATCH", cause });
}

/** Whether what the cache holds is older than our last write. */
function isBehind(cached: KubeObject | undefined, write: Unheard | undefined): boolean {
  if (write === undefined) return false;
  if (write.is === "deleted")
    return cached?.metadata.uid === write.uid && cached?.metadata.deletionTimestamp === undefined;
  if (cached === undefined) return true;
  // The API server promises that versions of one kind can be compared as numbers.
  return Number(cached.metadata.resourceVersion) < Number(write.version);
}
