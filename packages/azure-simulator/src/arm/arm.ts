import type { Json, JsonObject } from "../state/store.ts";
import type { Address } from "./address.ts";
import { checkApiVersion } from "./checks.ts";
import { FrontDoor } from "./front-door.ts";
import { checkLevel } from "./level.ts";
import { LongOperations } from "./long-operations.ts";
import type { Operation } from "./operations.ts";
import { ReadCache } from "./read-cache.ts";
import { Reads } from "./reads.ts";
import { methodNotAllowed, unsupported } from "./refusals.ts";
import { typeNamed } from "./registry.ts";
import { ResourceStore } from "./resource-store.ts";
import type { Principal, ResourceType, World } from "./resource-type.ts";
import { type Routed, Routes } from "./routes.ts";
import { type Answer, providerHeaders } from "./wire.ts";
import { Writes } from "./writes.ts";

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
  /** What clients of operations are asked to wait; where nothing is said, as Azure does now. */
  retryAfterSeconds: number | undefined;
  secret: string;
}

/** Resource Manager: finds what a request is about, refuses what Azure refuses in Azure's order, and does the rest. */
export class Arm {
  readonly #world: World;
  readonly #resources: ResourceStore;
  readonly #routes = new Routes();
  readonly #door: FrontDoor;
  readonly #reads: Reads;
  readonly #writes: Writes;
  readonly #operations: LongOperations;
  readonly #readCache: ReadCache;

  constructor(options: ArmOptions) {
    const resources = new ResourceStore(options.world);
    this.#world = options.world;
    this.#resources = resources;
    this.#readCache = new ReadCache(options.world.store);
    this.#door = new FrontDoor({ ...options, resources });
    this.#operations = new LongOperations(options, resources, this.#door);
    this.#reads = new Reads(options, resources);
    this.#writes = new Writes(options, resources, this.#door, this.#operations);
  }

  /** Find what a request is about. */
  route(method: string, path: string): Routed {
    return this.#routes.find(method, path);
  }

  /** Answer a request. Whatever is refused is thrown as a `Refusal`. */
  answer(request: ArmRequest, routed: Routed): Answer {
    const { address, type, poll } = routed;
    this.#door.checkSubscription(address, request.asker);
    const apiVersion = checkApiVersion(request.query);
    if (poll) return this.#operations.look(request, address, poll, apiVersion);
    if (!type) throw unsupported(request.method, address);
    this.#door.checkScope(address, type, apiVersion);
    checkLevel(request.method, address, type);
    if (!type.open) this.#door.authorize(request.asker, routed);
    this.#door.checkGroup(request.method, address, type);
    this.#door.checkRegistered(request.method, address, type);
    const cached =
      request.method === "GET" ? this.#readCache.get(address, request.query) : undefined;
    if (cached) return cached;
    const answer = decorated(this.#dispatch(request, address, type, apiVersion), address, type);
    return answer.lasting ? this.#readCache.set(address, request.query, answer) : answer;
  }

  #dispatch(request: ArmRequest, address: Address, type: ResourceType, apiVersion: string): Answer {
    const { method } = request;
    if (method === "POST") return this.#writes.post(request, address, type, apiVersion);
    if (address.collection) {
      if (method !== "GET") throw unsupported(method, address);
      return this.#reads.list(request, address, type);
    }
    switch (method) {
      case "GET":
        return this.#reads.get(request, address, type);
      case "HEAD":
        return this.#reads.head(address, type);
      case "PUT":
        return this.#writes.put(request, address, type, apiVersion);
      case "PATCH":
        return this.#writes.patch(request, address, type, apiVersion);
      case "DELETE":
        return this.#writes.delete(request, address, type, apiVersion);
      default:
        throw methodNotAllowed(method, address);
    }
  }

  /** What a GET of the newest version shows the asker of a resource; what he may not read is refused. */
  shown(id: string, asker: Principal): JsonObject | undefined {
    const { store } = this.#world;
    const resource = store.get(id);
    const type = resource && typeNamed(resource.type);
    if (!type) return undefined;
    this.#door.checkSubscription(this.route("GET", id).address, asker);
    this.#door.authorize(asker, this.route("GET", id));
    return this.#resources.shown(resource, type, new URLSearchParams());
  }

  /** Called when an operation has ended: what it changed becomes so. */
  ended(operation: Operation): void {
    this.#operations.ended(operation);
  }
}

/** An answer with what its provider adds to all of its answers. */
function decorated(answer: Answer, address: Address, type: ResourceType): Answer {
  const { dialect } = type;
  switch (dialect) {
    case "privateDns": {
      // Lists of zones and links come from the front door: recorded without escapes, and with a counter of its own.
      const listed = type.put === "async" && address.collection && typeNamed(address.type) === type;
      const added = { ...providerHeaders(dialect), ...(listed && entitiesLeft) };
      return { ...answer, headers: { ...added, ...answer.headers }, escapeSlashes: !listed };
    }
    case "compute":
      // Recorded: a list of machines with none in it comes from the front door, which knows that there are none.
      if (isEmptyList(answer.body)) return answer;
      return { ...answer, headers: { ...providerHeaders(dialect), ...answer.headers } };
    default:
      return answer;
  }
}

const entitiesLeft = {
  "X-Ms-Ratelimit-Remaining-Subscription-Resource-Entities-Read": "60000",
} as const;

function isEmptyList(body: unknown): boolean {
  return (
    typeof body === "object" &&
    body !== null &&
    "value" in body &&
    Array.isArray(body.value) &&
    body.value.length === 0
  );
}
