import { lastSegment } from "../model/resource-id.ts";
import { type Address, readAddress } from "./address.ts";
import { checkApiVersion, checkPlace, differs, objectBody, objectIn } from "./checks.ts";
import { tags } from "./fields.ts";
import { FrontDoor } from "./front-door.ts";
import { Keeper } from "./keeper.ts";
import { checkLevel } from "./level.ts";
import type { Operation } from "./operations.ts";
import { pageStart, pageToken } from "./page-token.ts";
import { checkPoll, signPoll } from "./poll-address.ts";
import { Refusal } from "./refusal.ts";
import {
  deletionBlocked,
  groupNotFound,
  notFound,
  parentNotFound,
  superseded,
  unsupported,
} from "./refusals.ts";
import { typeNamed } from "./registry.ts";
import {
  type Accepted,
  groupType,
  type Listed,
  type Principal,
  type ResourceType,
  type World,
  type Writing,
} from "./resource-type.ts";
import { collectionOf, type Json, type JsonObject, parentOf, type Resource } from "./store.ts";
import { type Answer, operationBody, operationHeaders, providerHeaders } from "./wire.ts";

/** A request to Resource Manager whose sender is known. */
export interface ArmRequest {
  method: string;
  /** The path as it came. */
  path: string;
  query: URLSearchParams;
  ifMatch?: string | undefined;
  ifNoneMatch?: string | undefined;
  /** The parsed body; undefined where there is none. */
  body?: Json | undefined;
  asker: Principal;
}

export interface ArmOptions {
  world: World;
  /** What operation addresses begin with; never taken from the socket. */
  base: () => string;
  /** The name of a subscription's tenant, or undefined where there is no such subscription. */
  tenantOf: (subscription: string) => string | undefined;
  pageSize: number;
  retryAfterSeconds: number;
  secret: string;
}

/** What a request is about, found before anything is done: for the log, the throttle and the faults. */
export interface Routed {
  address: Address;
  type: ResourceType | undefined;
  /** The action in the terms of roles, such as `Microsoft.Network/virtualNetworks/read`. */
  action: string;
}

/** Resource Manager: finds what a request is about, refuses what Azure refuses in Azure's order, and does the rest. */
export class Arm {
  readonly #options: ArmOptions;

  readonly #keeper: Keeper;
  readonly #door: FrontDoor;
  readonly #routes = new Map<string, Routed>();

  constructor(options: ArmOptions) {
    this.#options = options;
    this.#keeper = new Keeper(options.world);
    this.#door = new FrontDoor({ ...options, keeper: this.#keeper });
  }

  /** Find what a request is about. Clients ask for the same again and again, so what was found is remembered. */
  route(method: string, path: string): Routed {
    const asked = `${method} ${path}`;
    let routed = this.#routes.get(asked);
    if (!routed) {
      routed = this.#findRoute(method, path);
      if (this.#routes.size >= mostRoutes) this.#routes.clear();
      if (path.length < longestRemembered) this.#routes.set(asked, routed);
    }
    return routed;
  }

  #findRoute(method: string, path: string): Routed {
    const address = readAddress(path);
    const named = address.type === "" ? groupOrSubscription(address) : address.type;
    const exact = typeNamed(named);
    // `…/virtualNetworks/v/subnets` is a collection of subnets; `…/privateLinkServices/p/check` an action on p.
    const type =
      exact ?? (address.collection ? typeNamed(named.slice(0, named.lastIndexOf("/"))) : undefined);
    return {
      address,
      type,
      action: `${type?.roleType ?? type?.type ?? named}/${verbOf(method, address, exact)}`,
    };
  }

  /** Answer a request. Whatever is refused is thrown as a `Refusal`. */
  answer(request: ArmRequest, routed: Routed): Answer {
    const { address, type } = routed;
    this.#door.checkSubscription(address, request.asker);
    const apiVersion = checkApiVersion(request.query);
    const looking = this.#operationLook(request, address, apiVersion);
    if (looking) return looking;
    if (!type) throw unsupported(request.method, address);
    this.#door.checkScope(address, type, apiVersion);
    checkLevel(request.method, address, type);
    if (!type.open) this.#door.authorize(request.asker, routed);
    this.#door.checkGroup(request.method, address, type);
    const answer = this.#dispatch(request, address, type, apiVersion);
    // Lists of zones and links come from the front door: recorded without escapes, and with a counter of its own.
    const listed =
      type.dialect === "privateDns" &&
      type.put === "async" &&
      address.collection &&
      typeNamed(address.type) === type;
    // Recorded: a list of machines with none in it comes from the front door, which knows that there are none.
    const none = type.dialect === "compute" && isEmptyList(answer.body);
    return {
      ...answer,
      headers: {
        ...(!none && providerHeaders(type.dialect)),
        ...(listed && entitiesLeft),
        ...answer.headers,
      },
      escapeSlashes: type.dialect === "privateDns" && !listed,
    };
  }

  #dispatch(request: ArmRequest, address: Address, type: ResourceType, apiVersion: string): Answer {
    const { method } = request;
    if (method === "POST") return this.#post(request, address, type, apiVersion);
    if (address.collection) {
      if (method !== "GET") throw unsupported(method, address);
      return typeNamed(address.type || groupOrSubscription(address)) === type
        ? this.#list(request, address, type)
        : this.#furtherList(request, address, type);
    }
    switch (method) {
      case "GET":
        return this.#get(request, address, type);
      case "HEAD":
        return this.#head(address, type);
      case "PUT":
        return this.#put(request, address, type, apiVersion);
      case "PATCH":
        return this.#patch(request, address, type, apiVersion);
      case "DELETE":
        return this.#delete(request, address, type, apiVersion);
      default:
        throw notAllowed(method, address);
    }
  }

  #get({ query, asker }: ArmRequest, address: Address, type: ResourceType): Answer {
    const { world } = this.#options;
    const elsewhere = type.read?.({ world, asker, address, query, resource: undefined });
    if (elsewhere) return { status: 200, headers: {}, body: elsewhere };
    const resource = this.#find(address, type);
    const headers: Record<string, string> = {};
    const etag = this.#keeper.etagOf(resource, type);
    if (etag !== undefined) headers.ETag = etag;
    return { status: 200, headers, body: this.#keeper.shown(resource, type, query) };
  }

  /** Whether a group is there. Of other resources providers do not say it in this way. */
  #head(address: Address, type: ResourceType): Answer {
    if (type.type !== groupType) throw notAllowed("HEAD", address);
    this.#find(address, type);
    return { status: 204, headers: {} };
  }

  #list(request: ArmRequest, address: Address, type: ResourceType): Answer {
    const { store } = this.#options.world;
    if (type.within === "parent") this.#parentOf(address, type);
    if (type.list) {
      const { query, asker } = request;
      const { world } = this.#options;
      const listed = type.list({ world, asker, address, query, resource: undefined });
      return this.#page(request, address, listed, type);
    }
    const found: Resource[] = [];
    if (address.resourceGroup === undefined && type.within === "resourceGroup") {
      const groups = `/subscriptions/${address.subscription?.toLowerCase()}/resourcegroups`;
      const rest = address.key.slice(groups.length - "/resourcegroups".length);
      for (const group of store.collection(groups))
        found.push(...store.collection(group.key + rest));
    } else found.push(...store.collection(address.key));
    const { query } = request;
    const selected = type.selects ? found.filter((each) => type.selects?.(each, query)) : found;
    return this.#page(request, address, selected, type);
  }

  #furtherList(request: ArmRequest, address: Address, type: ResourceType): Answer {
    const { world } = this.#options;
    const word = lastSegment(address.type).toLowerCase();
    const view = Object.keys(type.views ?? {}).find((each) => each.toLowerCase() === word);
    if (view !== undefined) {
      const path = collectionOf(address.path);
      const of = { ...address, key: path.toLowerCase(), path, collection: false };
      const body = type.views?.[view]?.(this.#find(of, type), world);
      return { status: 200, headers: {}, body };
    }
    const name = Object.keys(type.lists ?? {}).find((each) => each.toLowerCase() === word);
    const list = name === undefined ? undefined : type.lists?.[name];
    if (!list) throw unsupported("GET", address);
    const { query, asker } = request;
    const resource = world.store.get(collectionOf(address.key));
    if (!resource && type.accept) this.#parentOf(address, type);
    return this.#page(request, address, list({ world, asker, address, query, resource }), type);
  }

  #page(
    request: ArmRequest,
    address: Address,
    found: readonly (Resource | Listed)[],
    type: ResourceType,
  ): Answer {
    const { pageSize } = this.#options;
    const from = pageStart(found, request.query.get("$skiptoken"));
    const size = Math.max(1, Math.min(pageSize, Number(request.query.get("$top")) || pageSize));
    const value = found
      .slice(from, from + size)
      .map((each) =>
        "shown" in each
          ? each.shown
          : this.#keeper.shown(each, typeNamed(each.type) ?? type, request.query),
      );
    if (found.length <= from + size) return { status: 200, headers: {}, body: { value } };
    const next = new URLSearchParams(request.query);
    next.set("$skiptoken", pageToken(found[from + size - 1]));
    return {
      status: 200,
      headers: {},
      body: { value, nextLink: `${this.#options.base()}${address.path}?${next}` },
    };
  }

  #put(request: ArmRequest, address: Address, type: ResourceType, apiVersion: string): Answer {
    const { world } = this.#options;
    if (!type.accept || !type.put) throw unsupported("PUT", address);
    const { store } = world;
    const body = objectBody(request.body);
    const existing = store.get(address.key);
    const parent = type.within === "parent" ? this.#parentOf(address, type) : undefined;
    this.#door.checkEtags(request, existing, type);
    checkPlace(body, existing, type);
    const name = address.names.at(-1) ?? address.resourceGroup ?? "";
    const group = this.#door.groupOf(address);
    const writing: Writing = {
      world,
      asker: request.asker,
      address,
      id: existing?.id ?? this.#idFor(address, type, parent),
      name: existing?.name ?? (type.dialect === "privateDns" ? name.toLowerCase() : name),
      body,
      properties: objectIn(body, "properties"),
      existing,
      parent,
      groupLocation: typeof group?.top.location === "string" ? group.top.location : undefined,
    };
    const joins = type.joins?.(writing) ?? [];
    const write = { action: `${type.roleType ?? type.type}/write`, path: address.path };
    this.#door.checkJoins(request.asker, joins, write);
    const accepted = type.accept(writing);
    this.#door.checkJoins(request.asker, accepted.joins ?? [], write);
    this.#door.checkNotBusy(existing, parent, [...joins, ...(accepted.joins ?? [])]);
    const busy = this.#door.networkBusy(existing, parent);
    if (busy && world.switches.concurrentNetworkWrites === "refuse") throw busy;
    this.#keeper.checkDropped(existing, accepted.children);
    const fails = accepted.fails ?? busy?.error;
    if (fails) return this.#failing(fails, writing, accepted, type, apiVersion);
    const changed = !existing || differs(existing, accepted, this.#options.world);
    const resource = this.#keeper.keep(type, writing, accepted, changed);
    const status = existing && !type.putsAnew ? 200 : 201;
    const style = typeof type.put === "function" ? type.put(existing, changed) : type.put;
    if (style === "sync") {
      type.provisioned?.(resource, world);
      return { status, headers: {}, body: this.#keeper.shown(resource, type, noQuery) };
    }
    // Compute says Creating of what is new, and Updating even where nothing changes.
    const compute = type.dialect === "compute";
    if ((changed || compute) && style !== "asyncDone")
      this.#keeper.setState(resource, existing || !compute ? "Updating" : "Creating");
    const shown = this.#keeper.shown(resource, type, noQuery);
    const etag: Record<string, string> = compute
      ? { ETag: this.#keeper.etagOf(resource, type) ?? "" }
      : {};
    if (style === "syncUpdating") {
      this.#keeper.setState(resource, "Succeeded");
      return { status, headers: etag, body: shown };
    }
    const operation = this.#begin("PUT", resource, type, address);
    const headers = { ...this.#operationHeaders(operation, apiVersion), ...etag };
    return type.dialect === "privateDns"
      ? { status: 202, headers, body: {} }
      : { status, headers, body: shown };
  }

  /** A write that is taken and then fails: there is nothing of it but its operation. */
  #failing(
    error: NonNullable<Operation["error"]>,
    { address, id, name, existing }: Writing,
    { top = {}, properties }: Accepted,
    type: ResourceType,
    apiVersion: string,
  ): Answer {
    const operation = this.#options.world.operations.begin({
      verb: "PUT",
      dialect: type.dialect,
      subscription: address.subscription ?? "",
      resourceGroup: address.resourceGroup,
      location: String(this.#door.groupOf(address)?.top.location ?? "global"),
      key: address.key,
      type: type.type,
      error,
    });
    const headers = this.#operationHeaders(operation, apiVersion);
    if (type.dialect === "privateDns") return { status: 202, headers, body: {} };
    const asked = { id, key: id.toLowerCase(), type: type.type, name, top, properties };
    const taken: Resource = { ...asked, state: "Updating", version: 0, etag: "" };
    const body = this.#keeper.shown(taken, type, noQuery);
    return { status: existing ? 200 : 201, headers, body };
  }

  #patch(request: ArmRequest, address: Address, type: ResourceType, apiVersion: string): Answer {
    if (type.patch) {
      const held = this.#find(address, type);
      const body = type.patch(objectBody(request.body), held);
      return this.#put({ ...request, body }, address, type, apiVersion);
    }
    if (!type.patchTags) throw unsupported("PATCH", address);
    const resource = this.#find(address, type);
    this.#door.checkEtags(request, resource, type);
    this.#door.checkNotBusy(resource, undefined, []);
    const given = tags(objectBody(request.body));
    // What is not said stays: a PATCH without tags changes nothing.
    if (given.tags !== undefined) {
      this.#keeper.touch(resource, type);
      resource.top = { ...resource.top, ...given };
      this.#options.world.store.put(resource);
    }
    return { status: 200, headers: {}, body: this.#keeper.shown(resource, type, noQuery) };
  }

  #delete(request: ArmRequest, address: Address, type: ResourceType, apiVersion: string): Answer {
    const { world } = this.#options;
    if (!type.delete) throw unsupported("DELETE", address);
    const resource = world.store.get(address.key);
    // A resource group that is not there is refused; anything else that is not there is gone already.
    if (!resource && type.type === groupType) this.#find(address, type);
    if (!resource) return { status: 204, headers: {} };
    this.#door.checkEtags(request, resource, type);
    const busy = this.#door.networkBusy(resource, world.store.get(parentOf(resource.key)));
    if (busy) throw busy;
    type.mayDelete?.(resource, world);
    const style = typeof type.delete === "function" ? type.delete(resource) : type.delete;
    const going =
      resource.state === "Deleting" ? world.operations.get(resource.operation ?? "") : undefined;
    if (going?.status === "InProgress") {
      // It goes already: whoever asks again is shown the operation that takes it away.
      const headers = this.#operationHeaders(going, apiVersion);
      return { status: style === "async200" ? 200 : 202, headers };
    }
    if (style === "sync") {
      const body = type.showsDeleted && { body: this.#keeper.shown(resource, type, noQuery) };
      this.#keeper.remove(resource, type);
      return { status: 200, headers: {}, ...body };
    }
    const held = type.type === groupType ? this.#keeper.usedFromOutside(resource) : [];
    this.#keeper.setState(resource, "Deleting");
    const error = held.length > 0 ? deletionBlocked(resource, held) : undefined;
    const operation = this.#begin("DELETE", resource, type, address, error);
    const headers = this.#operationHeaders(operation, apiVersion);
    return { status: style === "async200" ? 200 : 202, headers };
  }

  #post(request: ArmRequest, address: Address, type: ResourceType, apiVersion: string): Answer {
    const { world } = this.#options;
    const word = lastSegment(address.type).toLowerCase();
    const name = Object.keys(type.posts ?? {}).find((each) => each.toLowerCase() === word);
    const action = name === undefined ? undefined : type.posts?.[name];
    if (!action || !address.collection) throw unsupported("POST", address);
    const path = collectionOf(address.path);
    const of = { ...address, key: path.toLowerCase(), path, collection: false };
    const resource = type.accept ? this.#find(of, type) : world.store.get(of.key);
    const body = objectBody(request.body ?? {});
    const result = action.run({ world, asker: request.asker, address, body, resource });
    if (!action.long) return { status: 200, headers: {}, ...(result && { body: result }) };
    const operation = world.operations.begin({
      verb: "POST",
      dialect: type.dialect,
      subscription: address.subscription ?? "",
      resourceGroup: address.resourceGroup,
      location: String(
        (resource && this.#keeper.rootOf(resource).top.location) ?? address.names[0] ?? "global",
      ),
      key: address.key,
      type: type.type,
      ...(result && { result }),
    });
    return { status: 202, headers: this.#operationHeaders(operation, apiVersion) };
  }

  /** Called when an operation has ended: what it changed becomes so. */
  ended(operation: Operation): void {
    const { world } = this.#options;
    const resource = world.store.get(operation.key);
    const type = typeNamed(operation.type);
    // Another operation may have taken the place of this one.
    if (!resource || !type || resource.operation !== operation.id) return;
    resource.operation = undefined;
    if (operation.status === "Failed" && type.type === groupType) {
      // The group goes on as it was.
      this.#keeper.setState(resource, "Succeeded");
      return;
    }
    if (operation.status !== "Succeeded") {
      this.#keeper.setState(resource, operation.status === "Canceled" ? "Canceled" : "Failed");
      return;
    }
    if (operation.verb === "DELETE") {
      this.#keeper.remove(resource, type);
      return;
    }
    this.#keeper.setState(resource, "Succeeded");
    type.provisioned?.(resource, world);
  }

  #begin(
    verb: "PUT" | "DELETE",
    resource: Resource,
    type: ResourceType,
    address: Address,
    error?: Operation["error"],
  ): Operation {
    const { world } = this.#options;
    const { operations, store } = world;
    const root = this.#keeper.rootOf(resource);
    const running =
      resource.operation === undefined ? undefined : operations.get(resource.operation);
    const operation = operations.begin({
      verb,
      dialect: type.dialect,
      subscription: address.subscription ?? "",
      resourceGroup: address.resourceGroup,
      location: String(root.top.location ?? this.#door.groupOf(address)?.top.location ?? "global"),
      key: resource.key,
      type: type.type,
      ...(error && { error }),
    });
    resource.operation = operation.id;
    // The later write wins: the one before it is told that it was.
    if (running?.status === "InProgress")
      operations.end(running, "Canceled", superseded(running, operation));
    store.put(resource);
    return operation;
  }

  #parentOf(address: Address, type: ResourceType): Resource | undefined {
    const key = address.collection ? collectionOf(address.key) : parentOf(address.key);
    const parent = this.#options.world.store.get(key);
    if (parent) return parent;
    const above = typeNamed(type.type.slice(0, type.type.lastIndexOf("/")));
    const path = address.path.split("/").slice(0, key.split("/").length).join("/");
    if (type.dialect === "privateDns" || type.dialect === "publicDns")
      throw parentNotFound(above ?? type, path, address);
    throw notFound(
      { ...address, path, names: address.names.slice(0, address.collection ? undefined : -1) },
      above ?? type,
    );
  }

  #find(address: Address, type: ResourceType): Resource {
    const resource = this.#options.world.store.get(address.key);
    if (resource) return resource;
    if (type.within === "parent") this.#parentOf(address, type);
    if (type.type === groupType) throw groupNotFound(address.resourceGroup ?? "");
    throw type.missing?.(address) ?? notFound(address, type);
  }

  #idFor(address: Address, type: ResourceType, parent: Resource | undefined): string {
    const words = type.type.split("/");
    // Private DNS keeps the names of groups, zones, links and records in lower case; public DNS those of groups.
    const small = (text: string) => (type.dialect === "privateDns" ? text.toLowerCase() : text);
    const name = small(address.names.at(-1) ?? "");
    if (parent) return `${parent.id}/${words.at(-1)}/${name}`;
    if (type.type === groupType)
      return `/subscriptions/${address.subscription}/resourceGroups/${address.resourceGroup}`;
    const group = this.#door.groupOf(address);
    if (group && (type.dialect === "privateDns" || type.dialect === "publicDns"))
      return `/subscriptions/${address.subscription}/resourceGroups/${group.name.toLowerCase()}/providers/${words[0]}/${words[1]}/${name}`;
    const scope =
      (type.within === "scope" ? undefined : group?.id) ??
      address.path.split("/").slice(0, address.scopeKey.split("/").length).join("/");
    return `${scope}/providers/${words[0]}/${words
      .slice(1)
      .map((word, i) => `${word}/${address.names[i]}`)
      .join("/")}`;
  }

  /** A look at an operation: its status, or its result. */
  #operationLook(request: ArmRequest, address: Address, apiVersion: string): Answer | undefined {
    const match =
      /\/(operations|operationresults|privatednsoperationstatuses|privatednsoperationresults)\/([^/]+)$/.exec(
        address.key,
      );
    if (!match || request.method !== "GET") return undefined;
    checkPoll(this.#options.secret, address.path, request.query);
    const operation = this.#options.world.operations.get(match[2] ?? "");
    if (!operation || operation.subscription.toLowerCase() !== address.subscription?.toLowerCase())
      throw new Refusal(404, "OperationNotFound", `The operation '${match[2]}' was not found.`, {
        by: "gateway",
      });
    const results = match[1]?.endsWith("results") === true;
    this.#door.authorizePoll(request.asker, operation, results, address.path);
    const done = operation.status !== "InProgress";
    const headers: Record<string, string> = { ...providerHeaders(operation.dialect) };
    if (!done) headers["Retry-After"] = String(this.#options.retryAfterSeconds);
    if (!results) return { status: 200, headers, body: operationBody(operation) };
    if (!done)
      return {
        status: 202,
        headers: { ...headers, ...this.#operationHeaders(operation, apiVersion) },
      };
    if (operation.status !== "Succeeded") {
      const {
        code = "Failed",
        message = "The operation failed.",
        details = [],
      } = operation.error ?? {};
      throw new Refusal(409, code, message, { details });
    }
    const body = operation.result ?? this.#made(operation, request.asker);
    return { status: 200, headers, ...(body && { body }) };
  }

  /** What an operation wrote, for a client that asks for its result and not for the resource. */
  #made({ verb, key, type: name }: Operation, asker: Principal): JsonObject | undefined {
    const { world } = this.#options;
    const type = typeNamed(name);
    // The right to look at operations is not the right to read what they made.
    const readable = world.allowed(asker, `${name}/read`, key);
    const resource = verb === "PUT" && readable ? world.store.get(key) : undefined;
    return type && resource && this.#keeper.shown(resource, type, noQuery);
  }

  #operationHeaders(operation: Operation, apiVersion: string): Record<string, string> {
    const { base, retryAfterSeconds, secret } = this.#options;
    const sign = (path: string) => signPoll(secret, path, operation.startedAt);
    return {
      ...operationHeaders(operation, base(), apiVersion, sign),
      "Retry-After": String(retryAfterSeconds),
    };
  }
}

const noQuery = new URLSearchParams();
const mostRoutes = 4096;
const longestRemembered = 400;

function isEmptyList(body: unknown): boolean {
  return (
    typeof body === "object" &&
    body !== null &&
    "value" in body &&
    Array.isArray(body.value) &&
    body.value.length === 0
  );
}
const entitiesLeft = {
  "X-Ms-Ratelimit-Remaining-Subscription-Resource-Entities-Read": "60000",
} as const;

function verbOf(method: string, address: Address, exact: ResourceType | undefined): string {
  switch (method) {
    case "GET":
    case "HEAD":
      return "read";
    case "DELETE":
      return "delete";
    case "POST":
      return exact ? "write" : `${lastSegment(address.type)}/action`;
    default:
      return "write";
  }
}

function notAllowed(method: string, address: Address): Refusal {
  return new Refusal(
    405,
    "MethodNotAllowed",
    `The HTTP method '${method}' is not supported at scope '${address.path}'.`,
    { by: "gateway" },
  );
}

function groupOrSubscription(address: Address): string {
  if (/\/resourcegroups(\/|$)/.test(address.key)) return groupType;
  return `Microsoft.Resources/${address.key.split("/")[1] ?? ""}`;
}
