import type { Failure } from "@postern/core/failure.ts";
import { provisioningOf } from "@postern/core/provisioning.ts";
import { type ArmAnswer, headerOf } from "./answer.ts";
import type { ArmClient } from "./arm.ts";
import { AzureError } from "./errors.ts";
import type { Method } from "./exchange.ts";
import type { Write } from "./operations.ts";
import type { Filled } from "./read-cache.ts";
import { describePath } from "./request-path.ts";
import { resourceBody } from "./resource-body.ts";

/** What every resource of Azure has. Azure fills in the first five. */
export interface ArmResource<P = unknown> {
  id?: string;
  name?: string;
  type?: string;
  /** For `ifMatch` of the next write. */
  etag?: string;
  location?: string;
  tags?: Record<string, string>;
  properties: P;
}

/** A resource named by another. */
export interface Reference {
  id: string;
}

/** On which state of the resource a write depends. */
export interface Precondition {
  /** Only if it is still the one with this etag. */
  ifMatch?: string | undefined;
  /** `*`: only if there is none yet. */
  ifNoneMatch?: "*" | undefined;
}

/** What a resource is, as far as is known. Plain data: a plan decides by it. */
export type Observation<T> =
  | { state: "absent" }
  | { state: "exists"; resource: T }
  /** It is being written or deleted, by us or by another; it is not known what it will be. */
  | { state: "changing"; retryAfterMs: number }
  /** What we last began to do to it has failed. Told once; the next look sees what is left. */
  | { state: "failed"; failure: Failure };

/**
 * All that a controller may ask of one kind of Azure resource.
 * There is one implementation, over HTTP. Tests point it at a server instead of writing a fake.
 */
export interface ResourceGateway<T> {
  /** An absent resource is `undefined`, never an error; so is one whose parent or group is absent. */
  get(id: string): Promise<T | undefined>;
  /**
   * The same with what is going on: an operation that we began is looked at first, and there is no read where the resource
   * was seen within the last `maxAgeMs`.
   */
  observe(id: string, maxAgeMs?: number): Promise<Observation<T>>;
  /**
   * All in a scope, to the last page: a resource group or subscription, or the parent of children. Listed anew where the
   * last list is older than `maxAgeMs`.
   */
  list(scope: string, maxAgeMs?: number): Promise<T[]>;
  /** When the last list was read, by the clock of the ARM client. */
  listedAt(scope: string): number | undefined;
  /** Create or replace. The same write while it still runs is not sent again. */
  put(id: string, body: T, condition?: Precondition): Promise<Write<T>>;
  /** Deleting what is absent is "done". */
  remove(id: string, condition?: Pick<Precondition, "ifMatch">): Promise<Write<undefined>>;
}

/** What tells one kind of resource from another. */
export interface ResourceKind {
  apiVersion: string;
  /** What stands between the scope and the name: `providers/Microsoft.Network/loadBalancers`, or `subnets`. */
  collection: string;
  /** What a read should fill in beside the resource itself. */
  expand?: string;
  /** A list tells all that a read does. It is then believed also of what changes without the etag, such as counts. */
  listsWhole?: true;
  /** Azure allows few reads of it: the resource itself, in a list where there are others, shows when it is created. */
  scarceReads?: true;
}

/** How long to leave a resource be that somebody else is changing. */
const changingMs = 10_000;

/** Exists by a write of ours, and no read shows it yet. */
const notShown = Symbol("not shown");

/** What a page of a list holds. A longer list takes more reads than the resource alone. */
const pageSize = 100;

/** A runaway list ends here: nobody has this many pages. */
const mostPages = 10_000;

/** The gateway to one kind of resource. */
export function resourceGateway<T extends ArmResource>(
  arm: ArmClient,
  kind: ResourceKind,
): ResourceGateway<T> {
  const query = { "api-version": kind.apiVersion };
  const getQuery = kind.expand === undefined ? query : { ...query, $expand: kind.expand };

  const { readCache } = arm;
  const collectionOf = (id: string) => listOf(id, kind.collection);

  async function get(id: string): Promise<T | undefined> {
    const found = await read(id);
    return found === notShown ? undefined : found;
  }

  /** What a read shows, or what our last write made of it where the read does not show that yet. */
  async function read(id: string): Promise<T | undefined | typeof notShown> {
    const answer = await unlessForbidden(
      unlessAbsent(arm.request("GET", id, { query: getQuery })),
      () => readCache.invalidate(collectionOf(id), id),
    );
    const found = answer === undefined ? undefined : (asResource(answer, id) as T);
    const write = readCache.pendingWrite(collectionOf(id), id, found);
    if (write?.exists && write.resource === undefined) return notShown;
    if (write !== undefined) return write.resource as T | undefined;
    readCache.store(collectionOf(id), id, found);
    return found;
  }

  /** The resource as it was read within the last `maxAgeMs`, or as it is listed with the others now. */
  async function show(id: string, maxAgeMs: number): Promise<T | undefined> {
    const collection = collectionOf(id);
    const seen = readCache.of(collection, id, maxAgeMs);
    if (seen !== undefined) return seen.resource as T | undefined;
    if (readCache.countIn(collection) >= pageSize) await read(id);
    else await list(collection.slice(0, -kind.collection.length - 1), maxAgeMs);
    return readCache.of(collection, id, maxAgeMs)?.resource as T | undefined;
  }

  async function observe(id: string, maxAgeMs = 0): Promise<Observation<T>> {
    await arm.prove();
    const operation = await arm.check(id, (age) => show(id, age));
    if (operation?.state === "running")
      return { state: "changing", retryAfterMs: operation.retryAfterMs };
    const isShown = operation?.state === "done" && operation.isShown === true;
    if (operation !== undefined && !isShown) readCache.invalidate(collectionOf(id), id);
    if (operation?.state === "failed") {
      readCache.forgetWrite(collectionOf(id), id);
      return { state: "failed", failure: operation.error.explain() };
    }
    const cached = readCache.of(collectionOf(id), id, maxAgeMs);
    // What was being changed when it was seen is something else by now.
    const known = cached !== undefined && !isChanging(cached.resource);
    const found = known ? (cached.resource as T | undefined) : await read(id);
    if (found === undefined) return { state: "absent" };
    if (found === notShown || isChanging(found))
      return { state: "changing", retryAfterMs: changingMs };
    return { state: "exists", resource: found };
  }

  async function list(scope: string, maxAgeMs = 0): Promise<T[]> {
    const path = `${scope}/${kind.collection}`;
    await arm.prove();
    const filled: Filled = (before, listed) =>
      kind.listsWhole === true ? listed : fuller(before, listed, kind.expand);
    if (readCache.prefersWide(path, maxAgeMs)) await readCache.listWide(path, listSubscription);
    return (await readCache.list(path, maxAgeMs, () => listAll(path), filled)) as T[];
  }

  const listedAt = (scope: string) => readCache.listedAt(`${scope}/${kind.collection}`);

  /** The resources of a whole subscription; `denied` where the identity may list resource groups only. */
  async function listSubscription(path: string) {
    try {
      return await pagesOf(path);
    } catch (error) {
      if (error instanceof AzureError && error.status === 403) return "denied" as const;
      throw error;
    }
  }

  async function listAll(path: string): Promise<T[]> {
    return (await unlessForbidden(pagesOf(path), () => readCache.forget(path))).found;
  }

  async function pagesOf(path: string): Promise<{ found: T[]; pages: number }> {
    const what = `list ${describePath(path).thing}`;
    const found: T[] = [];
    const seen = new Set<string>();
    let answer = await unlessAbsent(arm.request("GET", path, { query }));
    while (answer !== undefined) {
      const { value, nextLink } = asPage(answer, what);
      for (const each of value) found.push(each as T);
      if (nextLink === undefined) break;
      if (seen.has(nextLink) || seen.size >= mostPages) throw unreadable(what);
      seen.add(nextLink);
      answer = await arm.follow(nextLink, what);
    }
    return { found, pages: seen.size + 1 };
  }

  async function put(id: string, body: T, condition: Precondition = {}): Promise<Write<T>> {
    const joined = await join(arm, collectionOf(id), id, "PUT", body);
    if (joined?.state === "running") return joined;
    const found = joined === undefined ? undefined : await read(id);
    if (found === notShown) return { state: "running", id, retryAfterMs: changingMs };
    if (found !== undefined) return { state: "done", resource: found };
    readCache.invalidate(collectionOf(id), id);
    const answer = await arm.request("PUT", id, { query, body, ...condition });
    // What is changed in place looks the same before and after: its operation must be asked.
    const isShownByResource = kind.scarceReads === true && condition.ifMatch === undefined;
    const begun = { id, method: "PUT", body, query, answer, isShownByResource } as const;
    const write = arm.operations.begin(begun);
    const own = { exists: true, etagBefore: condition.ifMatch };
    readCache.recordWrite(collectionOf(id), id, own);
    if (write.state === "running") return write;
    const resource = asResource(answer, id) as T;
    // An answer may lack what only a read fills in.
    if (kind.expand === undefined) {
      readCache.recordWrite(collectionOf(id), id, { ...own, resource });
      readCache.store(collectionOf(id), id, resource);
    }
    return { state: "done", resource };
  }

  async function remove(
    id: string,
    condition: Pick<Precondition, "ifMatch"> = {},
  ): Promise<Write<undefined>> {
    const joined = await join(arm, collectionOf(id), id, "DELETE");
    if (joined?.state === "running") return joined;
    // A deletion that has ended says nothing about what somebody created since.
    const isDeleted = joined !== undefined && (await read(id)) === undefined;
    readCache.invalidate(collectionOf(id), id);
    const answer = isDeleted
      ? undefined
      : await unlessAbsent(arm.request("DELETE", id, { query, ...condition }));
    const write =
      answer === undefined
        ? ({ state: "done" } as const)
        : arm.operations.begin({ id, method: "DELETE", query, answer });
    if (write.state === "running") return write;
    readCache.recordWrite(collectionOf(id), id, { exists: false, etagBefore: condition.ifMatch });
    readCache.store(collectionOf(id), id, undefined);
    return { state: "done", resource: undefined };
  }

  return { get, observe, list, listedAt, put, remove };
}

/**
 * A read fills in what a list leaves out, and while the etag is the same that stays. What the list does tell is newer: a
 * connection is ended from its other side, and nobody promises that the etag tells of it.
 */
function fuller(before: unknown, listed: object, expand = ""): object {
  const [a, b] = [before, listed] as (ArmResource<Record<string, unknown>> | undefined)[];
  if (a?.etag === undefined || a.etag !== b?.etag) return listed;
  const properties = { ...a.properties, ...b.properties };
  // A list names these without what is in them.
  if (a.properties[expand] !== undefined) properties[expand] = a.properties[expand];
  return { ...a, ...b, properties };
}

/** The end of this very write if we know that it runs or ran; `undefined` when it must be sent. */
async function join(
  arm: ArmClient,
  collection: string,
  id: string,
  method: Method,
  body?: unknown,
): Promise<Write<undefined> | undefined> {
  if (!arm.operations.runs(id, method, body)) return undefined;
  const operation = await arm.check(id);
  if (operation?.state === "failed") {
    arm.readCache.forgetWrite(collection, id);
    throw operation.error;
  }
  if (operation?.state === "running") return { ...operation, id };
  return { state: "done", resource: undefined };
}

async function unlessAbsent(answer: Promise<ArmAnswer>): Promise<ArmAnswer | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof AzureError && error.absent) return undefined;
    throw error;
  }
}

/** What the identity may not read any more, it does not know by an earlier read: `forget` what that showed. */
async function unlessForbidden<A>(answer: Promise<A>, forget: () => void): Promise<A> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof AzureError && error.explain().kind === "forbidden") forget();
    throw error;
  }
}

/** The list that a resource is in. Record sets are listed together, though their ids name their type. */
function listOf(id: string, collection: string): string {
  const above = id.slice(0, id.lastIndexOf("/"));
  if (above.toLowerCase().endsWith(`/${collection.toLowerCase()}`)) return above;
  return `${above.slice(0, above.lastIndexOf("/"))}/${collection}`;
}

function isChanging(resource: unknown): boolean {
  return provisioningOf(resource) === "changing";
}

function asResource({ headers, body }: ArmAnswer, id: string): ArmResource {
  const resource = resourceBody(body);
  if (resource === undefined) throw unreadable(`read ${describePath(id).thing}`);
  const etag = headerOf(headers, "etag");
  return etag === undefined ? resource : { etag, ...resource };
}

function asPage({ body }: ArmAnswer, what: string): { value: ArmResource[]; nextLink?: string } {
  if (!isObject(body) || !Array.isArray(body.value)) throw unreadable(what);
  const value = body.value.flatMap((each: unknown) => {
    if (each === null) return [];
    const resource = resourceBody(each);
    if (resource === undefined) throw unreadable(what);
    return [resource];
  });
  const { nextLink } = body;
  return typeof nextLink === "string" && nextLink !== "" ? { value, nextLink } : { value };
}

function unreadable(what: string): AzureError {
  return new AzureError({ code: "UnreadableAnswer", what });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
