import * as http from "node:http";
import * as https from "node:https";
import { type Clock, realClock, wait } from "@postern/core/clock.ts";
import { apiVersionOf, type Kind, type KubeObject } from "@postern/core/kind.ts";
import type { Connection, Proof } from "./credentials.ts";
import { errorFromAnswer, KubeError } from "./errors.ts";
import { CutOff, type PoolAnswer, SocketPool, Withdrawn } from "./socket-pool.ts";

/** How a patch says what it changes. */
export type PatchType = "apply" | "merge" | "json";

const contentTypes: Record<PatchType | "object", string> = {
  apply: "application/apply-patch+yaml",
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  object: "application/json",
};

/** One object's place: its kind, namespace and name. */
export interface Place {
  kind: Kind;
  namespace?: string | undefined;
  name: string;
}

/** What each request tells the metrics. */
export interface Sent {
  method: string;
  code: string;
  seconds: number;
}

export interface ClientOptions {
  /** How many requests may be under way at once; each watch has a socket of its own beside these. */
  maxSockets?: number;
  userAgent?: string;
  requestTimeoutMs?: number;
  /** For a server that is not trusted: how long all that this client does may take, and how long an answer may be. */
  limits?: { totalMs: number; answerBytes: number };
  onRequest?: (sent: Sent) => void;
  clock?: Clock;
}

interface RequestInit {
  body?: string;
  contentType?: string;
  accept?: string;
  gzip?: boolean;
  signal?: AbortSignal | undefined;
}

const partialMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

const throttledTries = 5;
const closedSocketTries = 3;
const closedSocketCodes = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"]);
// The API server ends a watch by itself; a stream without a byte for this long is a dead connection.
// It sends a bookmark about once a minute.
const quietWatchMs = 180_000;

/**
 * The way to the Kubernetes API: requests over a pool of HTTP/1.1 sockets, and one socket for each watch.
 * On one HTTP/2 connection the API server ends the watch when many writes are in flight beside it.
 */
export class KubeClient {
  readonly connection: Connection;
  readonly #options: ClientOptions;
  readonly #clock: Clock;
  readonly #library: typeof http | typeof https;
  readonly #place: { host: string; port: string | number; prefix: string };
  readonly #deadline: AbortSignal | undefined;
  #pool: SocketPool | undefined;
  #mayWrite: () => boolean = () => true;
  #poolProof: Proof | undefined;

  constructor(connection: Connection, options: ClientOptions = {}) {
    this.connection = connection;
    this.#options = options;
    this.#clock = options.clock ?? realClock;
    if (options.limits) this.#deadline = AbortSignal.timeout(options.limits.totalMs);
    const { protocol, hostname, port, pathname } = connection.server;
    this.#library = protocol === "http:" ? http : https;
    this.#place = {
      host: hostname.replace(/^\[|\]$/g, ""),
      port: port || (protocol === "http:" ? 80 : 443),
      prefix: pathname.replace(/\/$/, ""),
    };
  }

  /** Ask this right before every write is handed to its socket, and send none where it says no. */
  guard(mayWrite: () => boolean): void {
    this.#mayWrite = mayWrite;
  }

  /** Another client to the same server with sockets of its own, for what must not wait behind others. */
  apart(maxSockets: number): KubeClient {
    return new KubeClient(this.connection, { ...this.#options, maxSockets });
  }

  /** The object, or undefined where there is none. */
  get<T extends KubeObject>(place: Place, signal?: AbortSignal): Promise<T | undefined> {
    return this.#get(place, { signal });
  }

  /** The metadata of an object without the rest, or undefined where there is none. */
  getMetadata(place: Place, signal?: AbortSignal): Promise<KubeObject | undefined> {
    return this.#get(place, { accept: partialMetadata, signal });
  }

  async #get<T extends KubeObject>(place: Place, asked: RequestInit): Promise<T | undefined> {
    try {
      return parseBody(await this.request("GET", pathOf(place), asked));
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Every object of a kind, page by page. */
  async *list<T extends KubeObject>(
    kind: Kind,
    options: {
      namespace?: string | undefined;
      query?: string;
      accept?: string;
      /** How many objects are asked for at once. */
      pageSize?: number;
      signal?: AbortSignal;
    } = {},
  ): AsyncGenerator<{ items: T[]; resourceVersion: string }> {
    const path = collectionPath(kind, options.namespace);
    let next = "";
    do {
      const query = `limit=${options.pageSize ?? 500}${next && `&continue=${encodeURIComponent(next)}`}${options.query ? `&${options.query}` : ""}`;
      const text = await this.request("GET", `${path}?${query}`, {
        gzip: true,
        ...(options.accept && { accept: options.accept }),
        signal: options.signal,
      });
      const page: { metadata?: { continue?: string; resourceVersion?: string }; items?: T[] } =
        parseBody(text);
      yield { items: page.items ?? [], resourceVersion: page.metadata?.resourceVersion ?? "" };
      next = page.metadata?.continue ?? "";
    } while (next);
  }

  async create<T extends KubeObject>(kind: Kind, object: T, signal?: AbortSignal): Promise<T> {
    const path = collectionPath(kind, object.metadata.namespace);
    const body = JSON.stringify({ apiVersion: apiVersionOf(kind), kind: kind.kind, ...object });
    return parseBody(
      await this.request("POST", path, { body, contentType: contentTypes.object, signal }),
    );
  }

  /** Replace an object; its resourceVersion guards against another's change. */
  async replace<T extends KubeObject>(kind: Kind, object: T, signal?: AbortSignal): Promise<T> {
    const { namespace, name } = object.metadata;
    const body = JSON.stringify({ apiVersion: apiVersionOf(kind), kind: kind.kind, ...object });
    const path = pathOf({ kind, namespace, name });
    return parseBody(
      await this.request("PUT", path, { body, contentType: contentTypes.object, signal }),
    );
  }

  /** Change an object, or with a subresource a part of it; the answer is the text of the whole object. */
  patch(
    place: Place,
    type: PatchType,
    change: unknown,
    options: {
      subresource?: "status";
      fieldManager?: string;
      force?: boolean;
      /** The API server answers as if it had done it, and does nothing. */
      dryRun?: boolean;
      signal?: AbortSignal;
    } = {},
  ): Promise<string> {
    let path = pathOf(place);
    if (options.subresource) path += `/${options.subresource}`;
    path += `?fieldManager=${encodeURIComponent(options.fieldManager ?? "postern")}`;
    if (options.force) path += "&force=true";
    if (options.dryRun) path += "&dryRun=All";
    const body = JSON.stringify(change);
    return this.request("PATCH", path, {
      body,
      contentType: contentTypes[type],
      signal: options.signal,
    });
  }

  /** Delete an object. One that is gone already is no error. */
  async remove(place: Place, signal?: AbortSignal): Promise<void> {
    try {
      await this.request("DELETE", pathOf(place), { signal });
    } catch (error) {
      if (!(error instanceof KubeError && error.status === 404)) throw error;
    }
  }

  /** Send a request and give the body of a successful answer. */
  async request(method: string, path: string, asked: RequestInit = {}): Promise<string> {
    const deadline = this.#deadline;
    if (deadline === undefined) return this.#request(method, path, asked);
    const signal = AbortSignal.any(asked.signal ? [asked.signal, deadline] : [deadline]);
    try {
      return await this.#request(method, path, { ...asked, signal });
    } catch (cause) {
      if (!deadline.aborted || asked.signal?.aborted) throw cause;
      const seconds = (this.#options.limits?.totalMs ?? 0) / 1000;
      const why = `it was not answered within ${seconds} s`;
      throw new KubeError("Timeout", `${method} ${plain(path)} failed · ${why}`, { cause });
    }
  }

  async #request(method: string, path: string, asked: RequestInit): Promise<string> {
    let renewed = false;
    let proof = await unlessAborted(this.connection.proof(), asked.signal);
    for (let tries = 1; ; tries++) {
      const answer = await this.#send(method, path, asked, proof);
      if (answer === "lost" && tries < closedSocketTries) continue;
      if (answer === "lost")
        throw new KubeError(
          "Unreachable",
          `${method} ${plain(path)} failed · the connection was closed`,
        );
      if (answer.status < 300) return answer.text;
      if (answer.status === 401 && !renewed) {
        renewed = true;
        proof = await unlessAborted(this.connection.proof(proof), asked.signal);
        continue;
      }
      const error = errorFromAnswer(
        `${method} ${plain(path)}`,
        answer.status,
        answer.text,
        answer.retryAfter,
      );
      const busy = answer.status === 429 || answer.status === 503;
      if (!busy || error.retryAfterMs === undefined || tries >= throttledTries) throw error;
      await wait(this.#clock, error.retryAfterMs, asked.signal);
    }
  }

  /**
   * Open a watch on a socket of its own and hand on what arrives, until the server ends it.
   * `onBytes` answers false to end it from our side.
   */
  async watch(
    path: string,
    onBytes: (bytes: Buffer) => boolean,
    asked: RequestInit = {},
  ): Promise<void> {
    const started = performance.now();
    const proof = await unlessAborted(this.connection.proof(), asked.signal);
    let response = await this.#openStream(path, asked, proof);
    if (response.statusCode === 401) {
      response.destroy();
      const renewed = await unlessAborted(this.connection.proof(proof), asked.signal);
      response = await this.#openStream(path, asked, renewed);
    }
    const status = response.statusCode ?? 0;
    this.#count("GET", String(status), started);
    if (status !== 200) {
      const text = await textOf(response);
      throw errorFromAnswer(`watch ${plain(path)}`, status, text, response.headers["retry-after"]);
    }
    response.setTimeout(quietWatchMs, () => response.destroy());
    try {
      for await (const bytes of response) if (!onBytes(bytes as Buffer)) return;
    } catch (cause) {
      if (asked.signal?.aborted) return;
      throw new KubeError("Unreachable", `watch ${plain(path)} failed · the connection was cut`, {
        cause,
      });
    } finally {
      response.destroy();
    }
  }

  /** Close the sockets, those of requests under way too; the client can still be used. */
  close(): void {
    this.#pool?.destroy();
    this.#pool = undefined;
  }

  #openStream(path: string, asked: RequestInit, proof: Proof): Promise<http.IncomingMessage> {
    return new Promise((resolve, reject) => {
      const request = this.#library.request({
        ...this.#tls(proof),
        ...this.#place,
        agent: false,
        method: "GET",
        path: this.#place.prefix + path,
        headers: this.#headers(asked, proof),
        timeout: this.#options.requestTimeoutMs ?? 30_000,
        ...(asked.signal && { signal: asked.signal }),
      });
      request.on("response", (response) => {
        request.setTimeout(0);
        resolve(response);
      });
      request.on("timeout", () => request.destroy(new Error("no answer in time")));
      request.on("error", (cause) => reject(this.#unreachable("watch", path, cause)));
      request.end();
    });
  }

  async #send(
    method: string,
    path: string,
    asked: RequestInit,
    proof: Proof,
  ): Promise<"lost" | PoolAnswer> {
    const started = performance.now();
    try {
      const pool = this.#poolFor(proof);
      const headers = this.#headers(asked, proof);
      const answer = await pool.send(method, this.#place.prefix + path, headers, asked.body, {
        signal: asked.signal,
        mayStart: method === "GET" ? undefined : this.#mayWrite,
      });
      this.#count(method, String(answer.status), started);
      return answer;
    } catch (error) {
      if (error instanceof Withdrawn)
        throw new KubeError(
          "NotLeader",
          `${method} ${plain(path)} was not sent · the lease is not held`,
        );
      this.#count(method, "<error>", started);
      const cause = error as NodeJS.ErrnoException;
      // The server may close an idle socket at the very moment we reuse it. All that we send can be sent
      // twice: reads, patches, and writes guarded by a resourceVersion or by the name.
      if (closedSocketCodes.has(cause.code ?? "") && !asked.signal?.aborted) return "lost";
      const what = `${method} ${plain(path)} failed`;
      if (cause.name === "HeadersTimeoutError" || cause.name === "BodyTimeoutError")
        throw new KubeError("Timeout", `${what} · no answer in time`, { cause });
      if (cause instanceof CutOff)
        throw new KubeError("UnreadableAnswer", `${what} · ${cause.message}`, { cause });
      throw asked.signal?.aborted ? cause : this.#unreachable(method, path, cause);
    }
  }

  #unreachable(method: string, path: string, cause: NodeJS.ErrnoException): Error {
    if (cause instanceof KubeError || cause.name === "AbortError") return cause;
    const why = cause.code ?? cause.message;
    const where = `${this.#place.host}:${this.#place.port}`;
    return new KubeError("Unreachable", `${method} ${plain(path)} failed · ${where}: ${why}`, {
      cause,
    });
  }

  #headers(asked: RequestInit, proof: Proof): Record<string, string> {
    const headers: Record<string, string> = {
      accept: asked.accept ?? "application/json",
      "user-agent": this.#options.userAgent ?? "postern",
    };
    if (proof.authorization) headers.authorization = proof.authorization;
    // Compression costs the API server more than it saves on this machine.
    if (asked.gzip && !isLoopback(this.#place.host)) headers["accept-encoding"] = "gzip";
    if (asked.body !== undefined) {
      headers["content-type"] = asked.contentType ?? contentTypes.object;
    }
    return headers;
  }

  #tls(proof: Proof): https.AgentOptions {
    const { ca, servername, insecure, lookup } = this.connection;
    return {
      ...(lookup && { lookup }),
      ...(ca && { ca }),
      ...(servername && { servername }),
      ...(insecure && { rejectUnauthorized: false }),
      ...(proof.cert && { cert: proof.cert }),
      ...(proof.key && { key: proof.key }),
    };
  }

  #poolFor(proof: Proof): SocketPool {
    const current = this.#poolProof;
    if (this.#pool && current?.cert === proof.cert && current?.key === proof.key) return this.#pool;
    // Requests under way end on the sockets of the old certificate.
    this.#pool?.close();
    this.#poolProof = proof;
    this.#pool = new SocketPool({
      origin: this.connection.server.origin,
      tls: this.#tls(proof),
      maxSockets: this.#options.maxSockets ?? 32,
      timeoutMs: this.#options.requestTimeoutMs ?? 30_000,
      answerBytes: this.#options.limits?.answerBytes,
    });
    return this.#pool;
  }

  #count(method: string, code: string, started: number): void {
    this.#options.onRequest?.({ method, code, seconds: (performance.now() - started) / 1000 });
  }
}

/** The path of one object. */
export function pathOf(place: Place): string {
  return `${collectionPath(place.kind, place.namespace)}/${encodeURIComponent(place.name)}`;
}

/** The path of all objects of a kind, in one namespace or in all. */
export function collectionPath(kind: Kind, namespace: string | undefined): string {
  const root = kind.group === "" ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  const within = kind.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return `${root}${within}/${kind.plural}`;
}

/** The object in an answer, or the error that says that there was none. */
export function parseBody<T>(text: string): T {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // The error of the parser would quote the answer.
    throw new KubeError("UnreadableAnswer", "the API server's answer is not JSON");
  }
  if (typeof body === "object" && body !== null) return body as T;
  throw new KubeError("UnreadableAnswer", "the API server's answer is not an object");
}

function textOf(response: http.IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("end", () =>
      resolve(chunks.length === 1 ? String(chunks[0]) : Buffer.concat(chunks).toString()),
    );
    response.on("error", reject);
  });
}

/** The end of a promise, or of the signal: a credential plugin may hang. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

function plain(path: string): string {
  const query = path.indexOf("?");
  return query < 0 ? path : path.slice(0, query);
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}
