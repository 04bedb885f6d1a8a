import { type Clock, realClock } from "@postern/core/clock.ts";
import type { Priority } from "@postern/core/priority.ts";
import type { ArmAnswer } from "./answer.ts";
import { Budgets } from "./budget.ts";
import type { Cloud } from "./clouds.ts";
import { contradicts, idsIn } from "./contradictions.ts";
import { Durations } from "./durations.ts";
import { AzureError } from "./errors.ts";
import {
  type Asking,
  type Caller,
  Exchange,
  type Method,
  type RequestOptions,
} from "./exchange.ts";
import {
  type OperationState,
  Operations,
  operationKind,
  type SentWrite,
  type ShowResource,
} from "./operations.ts";
import { ReadCache } from "./read-cache.ts";
import { checkPath, describePath } from "./request-path.ts";
import type { SpareRead } from "./spare-reads.ts";
import type { TokenSource } from "./tokens.ts";

/** What each request over the wire tells the metrics. */
export interface ArmRequest {
  resource: string;
  verb: Method;
  /** The HTTP status, or our own code when there was no answer. */
  code: string;
  seconds: number;
  subscription: string;
  throttled: boolean;
  remaining: number | undefined;
  /** What it was about, in words. */
  thing: string;
  /** Who asked: the id of a reconcile. */
  caller: string | undefined;
  priority: Priority;
  /** By which Microsoft's support finds it. */
  requestId: string | undefined;
}

/** The part of a log that is used here. */
export interface ArmLog {
  debug(fields: object, message: string): void;
}

/** What the road to Resource Manager is made of. */
export interface ArmOptions {
  cloud: Cloud;
  /** Who asks where a caller names nobody else. */
  credential: TokenSource;
  /** Where this process runs: Azure counts by the region that takes the request. */
  region?: string;
  budgets?: Budgets;
  log?: ArmLog;
  onRequest?: (request: ArmRequest) => void;
  clock?: Clock;
  userAgent?: string;
  timeoutMs?: number;
}

/** Resource Manager as one caller sees it. Making one costs nothing. */
export interface ArmClient {
  /** Ask for a path. Anything but success is an `AzureError`. */
  request(method: Method, path: string, options?: RequestOptions): Promise<ArmAnswer>;
  /** Read an address that Resource Manager gave us: a next page, or the state of an operation. */
  follow(address: string, what?: string): Promise<ArmAnswer>;
  /** What became of the long-running operation on a resource, if we know of one. */
  check(id: string, show?: ShowResource): Promise<OperationState | undefined>;
  /** What this identity has begun. */
  readonly operations: Operations;
  /** What this identity has seen of Azure so far. */
  readonly readCache: ReadCache;
  /** Whether a drift check may send one more DNS read about this resource now, of those that nobody else needs. */
  takeSpareDnsRead(id: string, read: SpareRead): boolean;
  /** Show that the caller can act as its identity, before it is told what that identity has seen. */
  prove(): Promise<void>;
}

/** What one identity has begun and seen. Another must neither learn of it nor ask about it by its own token. */
interface Memory {
  operations: Operations;
  readCache: ReadCache;
}

const verbs: Record<Method, string> = {
  GET: "read",
  PUT: "write",
  POST: "call",
  PATCH: "write",
  DELETE: "delete",
};

/**
 * A refusal that contradicts what was observed, after that has been forgotten; every other error as it is. A read that finds no
 * parent contradicts what is known of the parent.
 */
function contradictionOf<T>(
  error: T,
  readCache: ReadCache,
  method: Method,
  path: string,
  { sentAt, refersTo }: SentWrite,
): T | AzureError {
  if (!(error instanceof AzureError)) return error;
  const isAbout = method === "GET" ? error.code === "ParentResourceNotFound" : contradicts(error);
  if (!isAbout) return error;
  const wasCached = readCache.invalidateRelated([path, ...refersTo, ...error.namedIds], sentAt);
  return wasCached ? error.asOutdated() : error;
}

/**
 * The road to Azure Resource Manager: one pool of connections for all callers. Each asks by an identity, and none by
 * another's: tokens, budgets, long-running operations and what was seen are kept apart.
 */
export class Arm {
  readonly cloud: Cloud;
  readonly budgets: Budgets;
  readonly #base: URL;
  readonly #exchange: Exchange;
  readonly #credential: TokenSource;
  readonly #clock: Clock;
  readonly #writes = new Map<string, Promise<ArmAnswer>>();
  readonly #memories = new Map<string, Memory>();
  /** The credentials that act by each identity. */
  readonly #users = new Map<string, Set<TokenSource>>();
  readonly #durations = new Durations();

  constructor(options: ArmOptions) {
    const clock = options.clock ?? realClock;
    this.cloud = options.cloud;
    this.#credential = options.credential;
    this.#clock = clock;
    this.budgets = options.budgets ?? new Budgets({ clock });
    this.#base = new URL(options.cloud.resourceManager);
    this.#exchange = new Exchange({ ...options, clock, budgets: this.budgets });
  }

  /** The road for one caller, by the given identity or by the process's own. */
  for(caller: Caller, credential: TokenSource = this.#credential): ArmClient {
    const { operations, readCache } = this.#memoryOf(credential);
    const client: ArmClient = {
      operations,
      readCache,
      request: async (method, path, options = {}) => {
        const sentAt = this.#clock.now();
        try {
          return await this.#request(method, path, options, caller, credential);
        } catch (error) {
          const write = { sentAt, refersTo: idsIn(options.body) };
          throw contradictionOf(error, readCache, method, path, write);
        }
      },
      follow: (address, what) => this.#follow(address, what, caller, credential),
      check: async (id, show) => {
        const state = await operations.check(client, id, !caller.mayWrite(), show);
        if (state?.state !== "failed") return state;
        return { ...state, error: contradictionOf(state.error, readCache, "PUT", id, state.write) };
      },
      takeSpareDnsRead: (id, read) =>
        this.budgets.takeSpareDnsRead(describePath(id).subscription, read),
      prove: async () => credential.prove?.(caller.signal),
    };
    return client;
  }

  /** How long an operation that this request begins is expected to take, once one of its kind was seen to end. */
  expectedMs({ verb, resource }: Pick<ArmRequest, "verb" | "resource">): number | undefined {
    return this.#durations.expectedMs(operationKind(verb, resource));
  }

  /**
   * Forget what an identity has seen and how much it may ask, if this was the last credential that acts by it. Anybody can
   * name another's identity for a while, the process's own too: that must not wipe what the others know.
   */
  forget(credential: TokenSource): void {
    const identity = credential.identity.toLowerCase();
    const users = this.#users.get(identity);
    users?.delete(credential);
    if ((users?.size ?? 0) > 0 || identity === this.#credential.identity.toLowerCase()) return;
    this.#users.delete(identity);
    this.#memories.delete(identity);
    this.budgets.forget(identity);
  }

  /**
   * Forget what every identity has seen, when this process begins to lead: another has led and written since, and an absence
   * that was seen before may be what it made. Operations are kept: each tells itself what became of it.
   */
  forgetReads(): void {
    for (const { readCache } of this.#memories.values()) readCache.clear();
  }

  #memoryOf(credential: TokenSource): Memory {
    // Entra does not tell upper case from lower, and neither do budgets.
    const identity = credential.identity.toLowerCase();
    const users = this.#users.get(identity);
    if (users === undefined) this.#users.set(identity, new Set([credential]));
    else users.add(credential);
    const known = this.#memories.get(identity);
    if (known !== undefined) return known;
    const clock = this.#clock;
    const operations = new Operations({ clock, durations: this.#durations });
    const made = { operations, readCache: new ReadCache({ clock }) };
    this.#memories.set(identity, made);
    return made;
  }

  /** Close the connections. Requests under way end by their callers' signals. */
  close(): void {
    this.#exchange.close();
  }

  async #request(
    method: Method,
    path: string,
    options: RequestOptions,
    caller: Caller,
    credential: TokenSource,
  ): Promise<ArmAnswer> {
    const url = new URL(this.cloud.resourceManager + checkPath(path));
    for (const name in options.query) url.searchParams.set(name, options.query[name] ?? "");
    const described = describePath(path);
    const what = `${verbs[method]} ${described.thing}`;
    const asking: Asking = { method, url, path: described, what, options, caller, credential };
    if (method === "GET") return this.#exchange.ask(asking);
    if (!caller.mayWrite()) throw new AzureError({ code: "NotLeader", what });
    return method === "POST" ? this.#exchange.ask(asking) : this.#join(asking);
  }

  /** The same write by two callers at once is one request. */
  #join(asking: Asking): Promise<ArmAnswer> {
    const { method, url, options, credential } = asking;
    const key = JSON.stringify([method, url.href.toLowerCase(), options, credential.identity]);
    const running = this.#writes.get(key);
    if (running !== undefined) return running;
    const write = this.#exchange.ask(asking).finally(() => this.#writes.delete(key));
    this.#writes.set(key, write);
    return write;
  }

  async #follow(
    address: string,
    what: string | undefined,
    caller: Caller,
    credential: TokenSource,
  ): Promise<ArmAnswer> {
    const url = URL.canParse(address, this.#base.href) ? new URL(address, this.#base) : undefined;
    // The token goes with the request: to this server and to no other.
    if (url === undefined || url.origin !== this.#base.origin)
      throw new AzureError({ code: "ForeignAddress", what: what ?? "read on" });
    const path = describePath(url.pathname);
    const asked = what ?? `read ${path.thing}`;
    const asking = { url, path, what: asked, options: {}, caller, credential };
    return this.#exchange.ask({ method: "GET", ...asking });
  }
}
