import type { Json, JsonObject, Resource } from "../state/store.ts";
import type { Address } from "./address.ts";
import type { ArmOptions, ArmRequest } from "./arm.ts";
import type { FrontDoor } from "./front-door.ts";
import type { Operation } from "./operations.ts";
import { checkPoll, signPoll } from "./poll-address.ts";
import { Refusal } from "./refusal.ts";
import { superseded } from "./refusals.ts";
import { typeNamed } from "./registry.ts";
import type { ResourceStore } from "./resource-store.ts";
import { groupType, type Principal, type ResourceType } from "./resource-type.ts";
import type { Routed } from "./routes.ts";
import { type Answer, operationBody, operationHeaders, providerHeaders } from "./wire.ts";

const noQuery = new URLSearchParams();

/** Begins the operations of writes, shows them to those who look, and does what their end brings about. */
export class LongOperations {
  readonly #options: ArmOptions;
  readonly #resources: ResourceStore;
  readonly #door: FrontDoor;

  constructor(options: ArmOptions, resources: ResourceStore, door: FrontDoor) {
    this.#options = options;
    this.#resources = resources;
    this.#door = door;
  }

  /** Begin an operation that changes no resource, or none that is there yet. */
  begin(
    verb: Operation["verb"],
    address: Address,
    type: ResourceType,
    { key = address.key, location, ...more }: Beginning,
  ): Operation {
    return this.#options.world.operations.begin({
      verb,
      dialect: type.dialect,
      subscription: address.subscription ?? "",
      resourceGroup: address.resourceGroup,
      location: String(location ?? "global"),
      key,
      type: type.type,
      ...more,
    });
  }

  /** Begin an operation that changes a resource. */
  beginOn(
    verb: "PUT" | "DELETE",
    resource: Resource,
    type: ResourceType,
    address: Address,
    error?: Operation["error"],
  ): Operation {
    const { operations, store } = this.#options.world;
    const { key } = resource;
    const location =
      this.#resources.rootOf(resource).top.location ?? this.#door.groupOf(address)?.top.location;
    const running =
      resource.operation === undefined ? undefined : operations.get(resource.operation);
    const operation = this.begin(verb, address, type, { key, location, ...(error && { error }) });
    resource.operation = operation.id;
    // The later write wins: the one before it is told that it was.
    if (running?.status === "InProgress")
      operations.end(running, "Canceled", superseded(running, operation));
    store.put(resource);
    return operation;
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
      this.#resources.setState(resource, "Succeeded");
      return;
    }
    if (operation.status !== "Succeeded") {
      this.#resources.setState(resource, operation.status === "Canceled" ? "Canceled" : "Failed");
      if (operation.verb === "PUT") type.afterFailure?.(resource, world);
      return;
    }
    if (operation.verb === "DELETE") {
      this.#resources.remove(resource, type);
      return;
    }
    this.#resources.setState(resource, "Succeeded");
    type.afterProvision?.(resource, world);
  }

  /** A look at an operation: its status, or its result. */
  look(
    request: ArmRequest,
    address: Address,
    { operation: id, results }: NonNullable<Routed["poll"]>,
    apiVersion: string,
  ): Answer {
    checkPoll(this.#options.secret, address.path, request.query);
    const operation = this.#options.world.operations.get(id);
    if (!operation || operation.subscription.toLowerCase() !== address.subscription?.toLowerCase())
      throw new Refusal(404, "OperationNotFound", `The operation '${id}' was not found.`, {
        by: "gateway",
      });
    this.#door.authorizePoll(request.asker, operation, results, address.path);
    const done = operation.status !== "InProgress";
    const headers: Record<string, string> = { ...providerHeaders(operation.dialect) };
    const isDns = operation.dialect === "privateDns" || operation.dialect === "publicDns";
    const body = results ? undefined : operationBody(operation);
    // Recorded: whoever asks DNS too early is given the addresses again, as everyone is who asks for a result.
    if (!done && (results || isDns))
      return {
        status: 202,
        headers: { ...headers, ...this.headers(operation, apiVersion) },
        ...(body && { body }),
      };
    if (!done) headers["Retry-After"] = this.#retryAfter(operation);
    if (!results) return { status: 200, headers, body };
    if (operation.status !== "Succeeded") {
      const {
        code = "Failed",
        message = "The operation failed.",
        details = [],
      } = operation.error ?? {};
      throw new Refusal(409, code, message, { details });
    }
    const { verb, dialect } = operation;
    if (verb === "DELETE" && dialect === "network")
      return { status: 204, headers: { ...headers, ...this.#addresses(operation, apiVersion) } };
    const result = operation.result ?? this.#made(operation, request.asker);
    return { status: 200, headers, ...(result && { body: result }) };
  }

  /** The headers that say where an operation can be looked at, and when. */
  headers(operation: Operation, apiVersion: string): Record<string, string> {
    return {
      ...this.#addresses(operation, apiVersion),
      "Retry-After": this.#retryAfter(operation),
    };
  }

  #addresses(operation: Operation, apiVersion: string): Record<string, string> {
    const { base, secret } = this.#options;
    const sign = (path: string) => signPoll(secret, path, operation.startedAt);
    return operationHeaders(operation, base(), apiVersion, sign);
  }

  #retryAfter({ dialect }: Operation): string {
    return String(this.#options.retryAfterSeconds ?? (dialect === "privateDns" ? 30 : 10));
  }

  /** What an operation wrote, for a client that asks for its result and not for the resource. */
  #made({ verb, key, type: name }: Operation, asker: Principal): JsonObject | undefined {
    const { world } = this.#options;
    const type = typeNamed(name);
    // The right to look at operations is not the right to read what they made.
    const readable = world.allowed(asker, `${type?.roleType ?? name}/read`, key);
    const resource = verb === "PUT" && readable ? world.store.get(key) : undefined;
    return type && resource && this.#resources.shown(resource, type, noQuery);
  }
}

/** What is said of an operation beside what its address tells. */
type Beginning = Pick<Operation, "error" | "result"> & {
  /** The address's where nothing is said. */
  key?: string;
  /** `global` where there is none. */
  location: Json | undefined;
};
