import { createHash } from "node:crypto";
import { type Address, readAddress } from "./address.ts";
import type { Operation } from "./operations.ts";
import { Refusal } from "./refusal.ts";
import { typeNamed, typesUnder } from "./registry.ts";
import type { Accepted, Principal, ResourceType, World, Writing } from "./resource-type.ts";
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

const groupType = "Microsoft.Resources/resourceGroups";

/** Resource Manager: finds what a request is about, refuses what Azure refuses in Azure's order, and does the rest. */
export class Arm {
  readonly #options: ArmOptions;

  constructor(options: ArmOptions) {
    this.#options = options;
  }

  /** Find what a request is about. */
  route(method: string, path: string): Routed {
    const address = readAddress(path);
    const named = address.type === "" ? groupOrSubscription(address) : address.type;
    const exact = typeNamed(named);
    // `…/virtualNetworks/v/subnets` is a collection of subnets; `…/privateLinkServices/p/check` an action on p.
    const type =
      exact ?? (address.collection ? typeNamed(named.slice(0, named.lastIndexOf("/"))) : undefined);
    return { address, type, action: `${type?.type ?? named}/${verbOf(method, address, exact)}` };
  }

  /** Answer a request. Whatever is refused is thrown as a `Refusal`. */
  answer(request: ArmRequest, routed: Routed): Answer {
    const { address, type } = routed;
    this.#checkSubscription(address, request.asker);
    const apiVersion = checkApiVersion(request.query);
    const looking = this.#operationLook(address, apiVersion);
    if (looking) return looking;
    if (!type) throw unsupported(request.method, address);
    this.#authorize(request.asker, routed);
    this.#checkGroup(address, type);
    const answer = this.#dispatch(request, address, type, apiVersion);
    return {
      ...answer,
      headers: { ...providerHeaders(type.dialect), ...answer.headers },
      escapeSlashes: type.dialect === "privateDns",
    };
  }

  #dispatch(request: ArmRequest, address: Address, type: ResourceType, apiVersion: string): Answer {
    const { method } = request;
    if (method === "POST") return this.#post(request, address, type, apiVersion);
    if (address.collection) {
      if (method !== "GET" || typeNamed(address.type || groupOrSubscription(address)) !== type)
        throw unsupported(method, address);
      return this.#list(request, address, type);
    }
    switch (method) {
      case "GET":
        return this.#get(address, type, request.query);
      case "PUT":
        return this.#put(request, address, type, apiVersion);
      case "PATCH":
        return this.#patch(request, address, type);
      case "DELETE":
        return this.#delete(request, address, type, apiVersion);
      default:
        throw new Refusal(
          405,
          "MethodNotAllowed",
          `The HTTP method '${method}' is not supported at scope '${address.path}'.`,
          { by: "gateway" },
        );
    }
  }

  #get(address: Address, type: ResourceType, query: URLSearchParams): Answer {
    const resource = this.#find(address, type);
    const headers: Record<string, string> = {};
    const etag = this.#etagOf(resource, type);
    if (etag !== undefined) headers.ETag = etag;
    return { status: 200, headers, body: this.#shown(resource, type, query) };
  }

  #list(request: ArmRequest, address: Address, type: ResourceType): Answer {
    const { store } = this.#options.world;
    if (type.within === "parent") this.#parentOf(address, type);
    const found: Resource[] = [];
    if (address.resourceGroup === undefined && type.within === "resourceGroup") {
      const groups = `/subscriptions/${address.subscription?.toLowerCase()}/resourcegroups`;
      const rest = address.key.slice(groups.length - "/resourcegroups".length);
      for (const group of store.collection(groups))
        found.push(...store.collection(group.key + rest));
    } else found.push(...store.collection(address.key));
    const { pageSize } = this.#options;
    const from = Number(request.query.get("$skiptoken") ?? 0) || 0;
    const size = Math.max(1, Math.min(pageSize, Number(request.query.get("$top")) || pageSize));
    const value = found
      .slice(from, from + size)
      .map((each) => this.#shown(each, type, request.query));
    if (found.length <= from + size) return { status: 200, headers: {}, body: { value } };
    const next = new URLSearchParams(request.query);
    next.set("$skiptoken", String(from + size));
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
    this.#checkEtags(request, existing, type);
    checkPlace(body, existing, type);
    const name = address.names.at(-1) ?? address.resourceGroup ?? "";
    const group = this.#groupOf(address);
    const writing: Writing = {
      world,
      asker: request.asker,
      address,
      id: existing?.id ?? this.#idFor(address, type, parent),
      name: existing?.name ?? name,
      body,
      properties: objectIn(body, "properties"),
      existing,
      parent,
      groupLocation: typeof group?.top.location === "string" ? group.top.location : undefined,
    };
    const accepted = type.accept(writing);
    this.#checkJoins(request.asker, accepted);
    this.#checkNotBusy(existing, parent, accepted);
    const changed = !existing || differs(existing, accepted, this.#options.world);
    const resource = this.#keep(type, writing, accepted, changed);
    const status = existing ? 200 : 201;
    if (type.put === "sync") {
      type.provisioned?.(resource, world);
      return { status, headers: {}, body: this.#shown(resource, type, noQuery) };
    }
    if (changed && type.put === "async") this.#setState(resource, "Updating");
    const shown = this.#shown(resource, type, noQuery);
    const operation = this.#begin("PUT", resource, type, address);
    const headers = this.#operationHeaders(operation, apiVersion);
    return type.dialect === "privateDns"
      ? { status: 202, headers, body: {} }
      : { status, headers, body: shown };
  }

  #patch(request: ArmRequest, address: Address, type: ResourceType): Answer {
    if (!type.patchTags) throw unsupported("PATCH", address);
    const resource = this.#find(address, type);
    this.#checkEtags(request, resource, type);
    const body = objectBody(request.body);
    this.#touch(resource, type);
    resource.top = { ...resource.top, tags: objectIn(body, "tags") };
    this.#options.world.store.put(resource);
    return { status: 200, headers: {}, body: this.#shown(resource, type, noQuery) };
  }

  #delete(request: ArmRequest, address: Address, type: ResourceType, apiVersion: string): Answer {
    const { world } = this.#options;
    if (!type.delete) throw unsupported("DELETE", address);
    const resource = world.store.get(address.key);
    // A resource group that is not there is refused; anything else that is not there is gone already.
    if (!resource && type.type === groupType) this.#find(address, type);
    if (!resource) return { status: 204, headers: {} };
    this.#checkEtags(request, resource, type);
    type.mayDelete?.(resource, world);
    if (type.delete === "sync") {
      this.#remove(resource, type);
      return { status: 200, headers: {} };
    }
    this.#setState(resource, "Deleting");
    const operation = this.#begin("DELETE", resource, type, address);
    const headers = this.#operationHeaders(operation, apiVersion);
    return { status: type.delete === "async200" ? 200 : 202, headers };
  }

  #post(request: ArmRequest, address: Address, type: ResourceType, apiVersion: string): Answer {
    const { world } = this.#options;
    const word = address.type.slice(address.type.lastIndexOf("/") + 1).toLowerCase();
    const name = Object.keys(type.posts ?? {}).find((each) => each.toLowerCase() === word);
    const action = name === undefined ? undefined : type.posts?.[name];
    if (!action || !address.collection) throw unsupported("POST", address);
    const resource = world.store.get(collectionOf(address.key));
    const body = objectBody(request.body ?? {});
    const result = action.run({ world, asker: request.asker, address, body, resource });
    if (!action.long) return { status: 200, headers: {}, ...(result && { body: result }) };
    const operation = world.operations.begin({
      verb: "POST",
      dialect: type.dialect,
      subscription: address.subscription ?? "",
      resourceGroup: address.resourceGroup,
      location: address.names[0] ?? "global",
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
    if (operation.status !== "Succeeded") {
      this.#setState(resource, operation.status === "Canceled" ? "Canceled" : "Failed");
      return;
    }
    if (operation.verb === "DELETE") {
      this.#remove(resource, type);
      return;
    }
    this.#setState(resource, "Succeeded");
    type.provisioned?.(resource, world);
  }

  /** Write a resource, and the children in its body, and tell the type. */
  #keep(type: ResourceType, writing: Writing, accepted: Accepted, changed: boolean): Resource {
    const { world } = this.#options;
    const { existing, id, name } = writing;
    const before = existing && { ...existing };
    const resource: Resource = existing ?? {
      id,
      key: id.toLowerCase(),
      type: type.type,
      name,
      top: {},
      properties: {},
      state: "Succeeded",
      version: 0,
      etag: "",
    };
    resource.top = accepted.top ?? {};
    resource.properties = accepted.properties;
    if (changed) this.#touch(resource, type);
    world.store.put(resource);
    if (accepted.children) this.#keepChildren(resource, accepted.children);
    type.written?.(resource, before, world);
    return resource;
  }

  #keepChildren(parent: Resource, wanted: NonNullable<Accepted["children"]>): void {
    const { world } = this.#options;
    const { store } = world;
    for (const [typeName, listed] of Object.entries(wanted)) {
      const type = typeNamed(typeName);
      if (!type) continue;
      const word = typeName.slice(typeName.lastIndexOf("/") + 1);
      const keys = new Set(
        listed.map((each) => `${parent.key}/${word}/${each.name}`.toLowerCase()),
      );
      for (const child of [...store.collection(`${parent.key}/${word}`.toLowerCase())])
        if (!keys.has(child.key)) this.#remove(child, type);
      for (const { name, properties } of listed) {
        const id = `${parent.id}/${word}/${name}`;
        const existing = store.get(id);
        const before = existing && { ...existing };
        const child = existing ?? {
          id,
          key: id.toLowerCase(),
          type: type.type,
          name,
          top: {},
          properties: {},
          state: "Succeeded" as const,
          version: 0,
          etag: "",
        };
        child.properties = properties;
        store.put(child);
        type.written?.(child, before, world);
      }
    }
  }

  #remove(resource: Resource, type: ResourceType): void {
    const { world } = this.#options;
    const { store } = world;
    if (type.type === groupType) {
      for (const each of [...store.all()])
        if (each.key.startsWith(`${resource.key}/`)) this.#removeOne(each);
    } else
      for (const child of typesUnder(type.type)) {
        const word = child.type.slice(child.type.lastIndexOf("/") + 1).toLowerCase();
        for (const each of [...store.collection(`${resource.key}/${word}`)])
          this.#remove(each, child);
      }
    this.#removeOne(resource);
  }

  #removeOne(resource: Resource): void {
    const type = typeNamed(resource.type);
    this.#options.world.store.remove(resource.key);
    if (type) this.#touchRootOf(resource, type);
    type?.deleted?.(resource, this.#options.world);
  }

  #begin(
    verb: "PUT" | "DELETE",
    resource: Resource,
    type: ResourceType,
    address: Address,
  ): Operation {
    const { world } = this.#options;
    const { operations, store } = world;
    const root = this.#rootOf(resource);
    const running =
      resource.operation === undefined ? undefined : operations.get(resource.operation);
    const operation = operations.begin({
      verb,
      dialect: type.dialect,
      subscription: address.subscription ?? "",
      resourceGroup: address.resourceGroup,
      location: String(root.top.location ?? this.#groupOf(address)?.top.location ?? "global"),
      key: resource.key,
      type: type.type,
    });
    resource.operation = operation.id;
    // The later write wins: the one before it is told that it was.
    if (running?.status === "InProgress")
      operations.end(running, "Canceled", superseded(running, operation));
    store.put(resource);
    return operation;
  }

  #setState(resource: Resource, state: Resource["state"]): void {
    const { store } = this.#options.world;
    resource.state = state;
    store.put(resource);
    for (const child of typesUnder(resource.type)) {
      if (child.dialect !== "network") continue;
      const word = child.type.slice(child.type.lastIndexOf("/") + 1).toLowerCase();
      for (const each of store.collection(`${resource.key}/${word}`))
        if (each.operation === undefined) each.state = state;
    }
  }

  #shown(resource: Resource, type: ResourceType, query: URLSearchParams): JsonObject {
    const { world } = this.#options;
    return show(resource, type, world, query, this.#etagOf(resource, type));
  }

  #etagOf(resource: Resource, type: ResourceType): string | undefined {
    return type.dialect === "resources" ||
      type.dialect === "authorization" ||
      type.dialect === "identity"
      ? undefined
      : etagOf(type.dialect === "network" ? this.#rootOf(resource) : resource, type);
  }

  /** Children of the network provider share the etag of the resource that they are in. */
  #rootOf(resource: Resource): Resource {
    const { store } = this.#options.world;
    let root = resource;
    while (root.type.split("/").length > 2) {
      const above = store.get(parentOf(root.key));
      if (!above) return root;
      root = above;
    }
    return root;
  }

  #touch(resource: Resource, type: ResourceType): void {
    bump(resource);
    if (type.dialect === "network") this.#touchRootOf(resource, type);
  }

  #touchRootOf(resource: Resource, type: ResourceType): void {
    if (type.dialect !== "network" || type.within !== "parent") return;
    const root = this.#options.world.store.get(parentOf(resource.key));
    if (!root) return;
    const above = this.#rootOf(root);
    bump(above);
    this.#options.world.store.put(above);
  }

  #checkSubscription(address: Address, asker: Principal): void {
    if (address.subscription === undefined) return;
    const tenant = this.#options.tenantOf(address.subscription.toLowerCase());
    if (tenant === undefined)
      throw new Refusal(
        404,
        "SubscriptionNotFound",
        `The subscription '${address.subscription}' could not be found.`,
        { by: "gateway" },
      );
    if (tenant !== asker.tenant)
      throw new Refusal(
        401,
        "InvalidAuthenticationTokenTenant",
        `The access token is from the wrong issuer. It must match the tenant '${tenant}' associated with this subscription. Please use the authority (URL) of that tenant to get the token.`,
        {
          by: "gateway",
          headers: {
            "WWW-Authenticate": `Bearer error="invalid_token", error_description="The access token is from the wrong issuer."`,
          },
        },
      );
  }

  #authorize(asker: Principal, { action, address }: Routed): void {
    const { world } = this.#options;
    const scope = address.collection ? collectionOf(address.key) : address.key;
    if (world.allowed(asker, action, scope)) return;
    throw new Refusal(
      403,
      "AuthorizationFailed",
      `The client '${asker.appId}' with object id '${asker.objectId}' does not have authorization to perform action '${action}' over scope '${address.path}' or the scope is invalid. If access was recently granted, please refresh your credentials.`,
      { by: "gateway" },
    );
  }

  #checkJoins(asker: Principal, { joins = [] }: Accepted): void {
    const { world } = this.#options;
    for (const { id, action } of joins) {
      if (world.allowed(asker, action, id.toLowerCase())) continue;
      throw new Refusal(
        403,
        "LinkedAuthorizationFailed",
        `The client '${asker.appId}' with object id '${asker.objectId}' has permission to perform the write; however, it does not have permission to perform action(s) '${action}' on the linked scope(s) '${id}' (respectively) or the linked scope(s) are invalid.`,
        { by: "gateway" },
      );
    }
  }

  /** Something that is being changed or deleted can be neither written to nor referred to. */
  #checkNotBusy(
    existing: Resource | undefined,
    parent: Resource | undefined,
    accepted: Accepted,
  ): void {
    const { world } = this.#options;
    const busy = (resource: Resource) => {
      const operation =
        resource.operation === undefined ? undefined : world.operations.get(resource.operation);
      return operation?.status === "InProgress" ? operation : undefined;
    };
    if (existing?.state === "Deleting") {
      const operation = busy(existing);
      if (operation) throw anotherOperation(operation, this.#options.base());
    }
    if (parent && parent.type === "Microsoft.Network/virtualNetworks") {
      for (const sibling of [parent, ...world.store.collection(`${parent.key}/subnets`)]) {
        const operation = sibling.key === existing?.key ? undefined : busy(sibling);
        if (operation) throw anotherOperation(operation, this.#options.base());
      }
    }
    for (const { id } of accepted.joins ?? []) {
      const target = this.#nearest(id.toLowerCase());
      if (target?.state !== "Deleting") continue;
      throw new Refusal(429, "RetryableError", "A retryable error occurred.", {
        details: [
          {
            code: "ReferencedResourceNotProvisioned",
            message: `Cannot proceed with operation because resource ${target.id} used by resource ${existing?.id ?? "that is being created"} is not in Succeeded state. Resource is in ${target.state} state and the last operation that updated/is updating the resource is DeleteOperation.`,
          },
        ],
      });
    }
  }

  #nearest(key: string): Resource | undefined {
    const { store } = this.#options.world;
    for (let at = key; at.length > 1; at = parentOf(at)) {
      const found = store.get(at);
      if (found) return found;
    }
    return undefined;
  }

  #checkEtags(request: ArmRequest, existing: Resource | undefined, type: ResourceType): void {
    const { ifMatch, ifNoneMatch } = request;
    if (ifNoneMatch === "*" && existing)
      throw new Refusal(412, "PreconditionFailed", `The resource ${existing.id} exists already.`);
    if (ifMatch === undefined || ifMatch === "*") return;
    const etag = existing ? (this.#etagOf(existing, type) ?? "") : "";
    if (existing && plainEtag(ifMatch) === plainEtag(etag)) return;
    throw etagMismatch(type, ifMatch, etag, existing?.id ?? request.path);
  }

  #checkGroup(address: Address, type: ResourceType): void {
    if (address.resourceGroup === undefined || type.type === groupType) return;
    if (this.#groupOf(address)) return;
    throw groupNotFound(address.resourceGroup);
  }

  #groupOf(address: Address): Resource | undefined {
    if (address.resourceGroup === undefined) return undefined;
    return this.#options.world.store.get(address.key.split("/").slice(0, 5).join("/"));
  }

  #parentOf(address: Address, type: ResourceType): Resource | undefined {
    const key = address.collection ? collectionOf(address.key) : parentOf(address.key);
    const parent = this.#options.world.store.get(key);
    if (parent) return parent;
    const above = typeNamed(type.type.slice(0, type.type.lastIndexOf("/")));
    const path = address.path.split("/").slice(0, key.split("/").length).join("/");
    throw notFound(
      { ...address, path, names: address.names.slice(0, address.collection ? undefined : -1) },
      above ?? type,
    );
  }

  #find(address: Address, type: ResourceType): Resource {
    const resource = this.#options.world.store.get(address.key);
    if (resource) return resource;
    if (type.within === "parent") this.#parentOf(address, type);
    throw type.type === groupType
      ? groupNotFound(address.resourceGroup ?? "")
      : notFound(address, type);
  }

  #idFor(address: Address, type: ResourceType, parent: Resource | undefined): string {
    const words = type.type.split("/");
    const name = address.names.at(-1) ?? "";
    if (parent) return `${parent.id}/${words.at(-1)}/${name}`;
    if (type.type === groupType)
      return `/subscriptions/${address.subscription}/resourceGroups/${address.resourceGroup}`;
    const group = this.#groupOf(address);
    const scope =
      group?.id ?? address.path.split("/").slice(0, address.scopeKey.split("/").length).join("/");
    return `${scope}/providers/${words[0]}/${words
      .slice(1)
      .map((word, i) => `${word}/${address.names[i]}`)
      .join("/")}`;
  }

  /** A look at an operation: its status, or its result. */
  #operationLook(address: Address, apiVersion: string): Answer | undefined {
    const match =
      /\/(operations|operationresults|privatednsoperationstatuses|privatednsoperationresults)\/([^/]+)$/.exec(
        address.key,
      );
    if (!match) return undefined;
    const operation = this.#options.world.operations.get(match[2] ?? "");
    if (!operation || operation.subscription.toLowerCase() !== address.subscription?.toLowerCase())
      throw new Refusal(404, "OperationNotFound", `The operation '${match[2]}' was not found.`, {
        by: "gateway",
      });
    const done = operation.status !== "InProgress";
    const headers: Record<string, string> = { ...providerHeaders(operation.dialect) };
    if (!done) headers["Retry-After"] = String(this.#options.retryAfterSeconds);
    const results = match[1]?.endsWith("results") === true;
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
    return { status: 200, headers, ...(operation.result && { body: operation.result }) };
  }

  #operationHeaders(operation: Operation, apiVersion: string): Record<string, string> {
    const { base, retryAfterSeconds, secret } = this.#options;
    const sign = (path: string) => {
      const mark = createHash("sha256").update(secret).update(path).digest("base64url");
      return `&t=${operation.startedAt}&c=simulator&s=${mark.slice(0, 24)}&h=${mark.slice(24)}`;
    };
    return {
      ...operationHeaders(operation, base(), apiVersion, sign),
      "Retry-After": String(retryAfterSeconds),
    };
  }
}

const noQuery = new URLSearchParams();

/** A resource as its readers see it. */
export function show(
  resource: Resource,
  type: ResourceType,
  world: World,
  query: URLSearchParams,
  etag: string | undefined,
): JsonObject {
  const { id, name, top } = resource;
  const body = withEtag(type.dialect) && etag !== undefined ? { etag } : {};
  const properties = {
    provisioningState: resource.state,
    ...resource.properties,
    ...type.show?.(resource, world, query),
  };
  return { name, id, ...body, type: type.type, ...top, properties };
}

function withEtag(dialect: ResourceType["dialect"]): boolean {
  return dialect !== "resources" && dialect !== "authorization" && dialect !== "identity";
}

function etagOf(resource: Resource, type: ResourceType): string {
  switch (type.dialect) {
    case "network":
      return `W/"${resource.etag}"`;
    case "compute":
      return `"${resource.version}"`;
    case "privateDns":
      return type.within === "parent" ? `"${resource.etag}"` : resource.etag;
    default:
      return resource.etag;
  }
}

function bump(resource: Resource): void {
  resource.version++;
  const hash = createHash("sha256").update(`${resource.key} ${resource.version}`).digest("hex");
  resource.etag = `${hash.slice(0, 8)}-${hash.slice(8, 12)}-4${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

function plainEtag(etag: string): string {
  return etag.replace(/^W\//, "").replace(/^"|"$/g, "");
}

function etagMismatch(type: ResourceType, given: string, held: string, id: string): Refusal {
  if (type.dialect === "compute")
    return new Refusal(
      412,
      "PreconditionFailed",
      `Etag provided in if-match header ${given} does not match etag ${held} of resource.`,
    );
  const message = `Etag provided in if-match header W/"${plainEtag(given)}" does not match etag ${held} of resource ${id} in NRP data store.`;
  return new Refusal(412, "PreconditionFailed", "Precondition failed.", {
    details: [{ code: "PreconditionFailedEtagMismatch", message }],
  });
}

function verbOf(method: string, address: Address, exact: ResourceType | undefined): string {
  switch (method) {
    case "GET":
    case "HEAD":
      return "read";
    case "DELETE":
      return "delete";
    case "POST":
      return exact ? "write" : `${address.type.slice(address.type.lastIndexOf("/") + 1)}/action`;
    default:
      return "write";
  }
}

function groupOrSubscription(address: Address): string {
  if (/\/resourcegroups(\/|$)/.test(address.key)) return groupType;
  return "Microsoft.Resources/subscriptions";
}

function checkApiVersion(query: URLSearchParams): string {
  const given = query.get("api-version");
  if (!given)
    throw new Refusal(
      400,
      "MissingApiVersionParameter",
      "The api-version query parameter (?api-version=) is required for all requests.",
      { by: "gateway" },
    );
  if (/^\d{4}-\d{2}-\d{2}(-[a-z]+)?$/i.test(given)) return given;
  throw new Refusal(
    400,
    "InvalidApiVersionParameter",
    `The api-version '${given.slice(0, 40)}' is invalid. The supported versions are of the form yyyy-mm-dd.`,
    { by: "gateway" },
  );
}

function checkPlace(body: JsonObject, existing: Resource | undefined, type: ResourceType): void {
  const location = body.location;
  if (location !== undefined && typeof location !== "string")
    throw new Refusal(
      400,
      "InvalidRequestContent",
      "The request content was invalid and could not be deserialized: 'location' must be a string.",
      { by: "gateway" },
    );
  const held = existing?.top.location;
  if (
    typeof location === "string" &&
    typeof held === "string" &&
    plainLocation(location) !== plainLocation(held)
  )
    throw new Refusal(
      409,
      "InvalidResourceLocation",
      `The resource '${existing?.name}' already exists in location '${held}' in resource group. A resource with the same name cannot be created in location '${location}'. Please select a new resource name.`,
      { by: "gateway" },
    );
  const tags = body.tags;
  if (tags !== undefined && tags !== null && (typeof tags !== "object" || Array.isArray(tags)))
    throw new Refusal(
      400,
      "InvalidRequestContent",
      "The request content was invalid and could not be deserialized: 'tags' must be an object.",
      { by: "gateway" },
    );
  if (type.within === "resourceGroup" && existing === undefined && location === undefined)
    throw new Refusal(
      400,
      "LocationRequired",
      "The location property is required for this definition.",
      { by: "gateway" },
    );
}

/** `East US` and `eastus` are one place. */
export function plainLocation(location: string): string {
  return location.toLowerCase().replaceAll(" ", "");
}

function objectBody(body: Json | undefined): JsonObject {
  if (typeof body === "object" && body !== null && !Array.isArray(body)) return body;
  throw new Refusal(
    400,
    "InvalidRequestContent",
    "The request content was invalid and could not be deserialized: a JSON object is required.",
    { by: "gateway" },
  );
}

function objectIn(body: JsonObject, name: string): JsonObject {
  const value = body[name];
  if (value === undefined || value === null) return {};
  if (typeof value === "object" && !Array.isArray(value)) return value;
  throw new Refusal(400, "InvalidRequestFormat", "Cannot parse the request.", {
    details: [{ code: "InvalidJson", message: `'${name}' must be an object.` }],
  });
}

function differs(existing: Resource, accepted: Accepted, world: World): boolean {
  if (existing.state !== "Succeeded") return true;
  if (
    JSON.stringify([existing.top, existing.properties]) !==
    JSON.stringify([accepted.top ?? {}, accepted.properties])
  )
    return true;
  return Object.entries(accepted.children ?? {}).some(([type, wanted]) => {
    const collection = `${existing.key}/${type.slice(type.lastIndexOf("/") + 1)}`.toLowerCase();
    if (world.store.count(collection) !== wanted.length) return true;
    return wanted.some(({ name, properties }) => {
      const child = world.store.get(`${collection}/${name}`);
      return !child || JSON.stringify(child.properties) !== JSON.stringify(properties);
    });
  });
}

function anotherOperation(running: Operation, base: string): Refusal {
  const uri = `${base}/subscriptions/${running.subscription}/providers/Microsoft.Network/locations/${running.location}/operations/${running.id}`;
  return new Refusal(
    409,
    "AnotherOperationInProgress",
    `Another operation on this or dependent resource is in progress. To retrieve status of the operation use uri: ${uri}.`,
  );
}

function superseded(earlier: Operation, later: Operation): NonNullable<Operation["error"]> {
  const name = (operation: Operation) =>
    `${operation.verb === "DELETE" ? "Delete" : "Put"}${singular(operation.type)}Operation (${operation.id})`;
  return {
    code: "Canceled",
    message: "Operation was canceled.",
    details: [
      {
        code: "CanceledAndSupersededDueToAnotherOperation",
        message: `Operation ${name(earlier)} was canceled and superseded by operation ${name(later)}.`,
      },
    ],
  };
}

function singular(type: string): string {
  const word = type.slice(type.lastIndexOf("/") + 1);
  return word.charAt(0).toUpperCase() + word.slice(1).replace(/s$/, "");
}

function groupNotFound(name: string): Refusal {
  return new Refusal(404, "ResourceGroupNotFound", `Resource group '${name}' could not be found.`, {
    by: "gateway",
  });
}

/** The front door knows top-level resources and answers for them; children are the provider's. */
function notFound(address: Address, type: ResourceType): Refusal {
  if (type.dialect === "network" && type.within === "parent")
    return new Refusal(404, "NotFound", `Resource ${address.path} not found.`);
  const [provider = "", ...words] = type.type.split("/");
  const path = [provider, ...words.flatMap((word, i) => [word, address.names[i] ?? ""])].join("/");
  return new Refusal(
    404,
    "ResourceNotFound",
    `The Resource '${path}' under resource group '${address.resourceGroup}' was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix`,
    { by: "gateway" },
  );
}

function unsupported(method: string, address: Address): Refusal {
  const what = `${method} ${address.type || address.path}`;
  return new Refusal(
    501,
    "NotSupportedBySimulator",
    `The simulator does not do '${what}'. What it does is listed in docs/reference/simulator.md.`,
    { by: "gateway", target: address.type },
  );
}
