import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { type Clock, dateBy, realClock } from "../../model/clock.ts";
import { type Certificate, serverCertificates } from "../../simulator/certificates.ts";
import { isLoopback } from "../../simulator/server.ts";
import { SimulatorError } from "../../simulator/simulator-error.ts";
import { internal, methodNotAllowed, noSuchPath, Refused, unauthorized } from "./answers.ts";
import { type Audit, auditTo } from "./audit.ts";
import { parseBody, readBody } from "./body.ts";
import type { Call, World } from "./call.ts";
import { dispatch } from "./dispatch.ts";
import { keptIn, keptNowhere } from "./kept.ts";
import type { Asker } from "./kinds/reviews.ts";
import { isTrue } from "./options.ts";
import { type Pages, pagesOf } from "./pages.ts";
import { type ResourcePath, resourcePath, type Verb, verbOf } from "./routes.ts";
import { Sender } from "./send.ts";
import { serveWatch } from "./streams.ts";
import { review } from "./verbs/review.ts";
import { watch } from "./verbs/watch.ts";
import { makeWorld, type Running } from "./world.ts";
import { writingFor, written } from "./written.ts";

/** How the embedded Kubernetes API is started. */
export interface KubernetesOptions {
  /** Any free one where none is said. */
  port?: number;
  /** An address of loopback; nothing else is listened on. */
  host?: string;
  /** Where everything is kept; nowhere without it. */
  data?: { file: string; reset?: boolean };
  /** Its own where none is given, from an authority that is kept with the data. */
  certificate?: Certificate & { ca: string };
  /** Tokens by the names of their users, beside the admin's. */
  tokens?: Readonly<Record<string, string>>;
  clock?: Clock;
  /** A file for one line of each finished request. */
  auditLog?: string;
  /** The most that the log of changes holds; who watches from further back lists again. */
  mostLogBytes?: number;
}

/** The embedded Kubernetes API, listening. */
export interface Kubernetes {
  url: string;
  /** The certificate of who signed the server's, in PEM. */
  ca: string;
  /** The admin's. */
  token: string;
  /** The text of a kubeconfig for the admin. */
  kubeconfig: string;
  /** How many requests were answered, by verb and resource. */
  counts(): Record<string, number>;
  stop(): Promise<void>;
}

/** Start an API on loopback that clients of Kubernetes take for a cluster's. */
export async function startKubernetes(options: KubernetesOptions = {}): Promise<Kubernetes> {
  const { host = "127.0.0.1", port = 0, data, clock = realClock } = options;
  if (!isLoopback(host))
    throw new SimulatorError(
      "AddressRefused",
      `the embedded Kubernetes API does not listen on ${host} · it is for trying and testing, and others could reach it there · choose 127.0.0.1 or ::1`,
    );
  const kept = data ? keptIn(data) : keptNowhere();
  const audit = options.auditLog === undefined ? undefined : auditTo(options.auditLog);
  const { ca, server: own } = options.certificate
    ? { ca: options.certificate.ca, server: options.certificate }
    : serverCertificates(kept.things, [host, "kubernetes", "kubernetes.default.svc"]);
  const running = makeWorld({
    kept,
    clock,
    tokens: options.tokens ?? {},
    ...(options.mostLogBytes && { mostLogBytes: options.mostLogBytes }),
  });
  const front = new FrontDoor(running.world, audit);
  const server = createServer(
    { key: own.key, cert: own.certificate, keepAliveTimeout: 120_000, requestTimeout: 0 },
    (request, response) => void front.receive(request, response),
  );
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", (error) => reject(whyNotListening(error, host, port)));
      server.listen(port, host, resolve);
    });
  } catch (error) {
    running.stop();
    kept.close();
    throw error;
  }
  const { address, port: given, family } = server.address() as AddressInfo;
  const authority = `${family === "IPv6" ? `[${address}]` : address}:${given}`;
  front.pages = pagesOf(running.world, authority);
  const url = `https://${authority}`;
  let stopped: Promise<void> | undefined;
  return {
    url,
    ca,
    token: running.world.tokens.admin,
    kubeconfig: kubeconfigOf(url, ca, running.world.tokens.admin),
    counts: () => Object.fromEntries([...front.counts].sort()),
    stop: () => {
      stopped ??= stop(running, server, kept.close, audit);
      return stopped;
    },
  };
}

async function stop(
  running: Running,
  server: ReturnType<typeof createServer>,
  close: () => void,
  audit: Audit | undefined,
): Promise<void> {
  running.stop();
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
  await audit?.close();
  close();
}

function whyNotListening(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const inUse = error.code === "EADDRINUSE";
  return new SimulatorError(
    inUse ? "AddressInUse" : "AddressRefused",
    inUse
      ? `cannot listen on ${host}:${port} · something else listens there · stop it, or choose another port (0 for any free one)`
      : `cannot listen on ${host}:${port} · ${error.message} · choose a port that you may use`,
    { cause: error },
  );
}

function kubeconfigOf(server: string, ca: string, token: string): string {
  const name = "postern";
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name,
        cluster: { server, "certificate-authority-data": Buffer.from(ca).toString("base64") },
      },
    ],
    users: [{ name: "admin", user: { token } }],
    contexts: [{ name, context: { cluster: name, user: "admin" } }],
    "current-context": name,
  };
  // YAML is a superset of JSON.
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

/** A request on its way through. */
interface Passage {
  method: string;
  url: string;
  path: string;
  query: URLSearchParams;
  received: Date;
  asker?: Asker;
  verb: string;
  target?: ResourcePath;
}

/** Takes requests in: who asks, what for, and the answer back. */
class FrontDoor {
  readonly counts = new Map<string, number>();
  readonly #world: World;
  readonly #audit: Audit | undefined;
  readonly #sender = new Sender();
  pages: Pages = { page: () => undefined };

  constructor(world: World, audit: Audit | undefined) {
    this.#world = world;
    this.#audit = audit;
  }

  async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", url = "/" } = request;
    const mark = url.indexOf("?");
    const path = mark < 0 ? url : url.slice(0, mark);
    const query = new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1));
    const received = dateBy(this.#world.clock);
    const passage: Passage = { method, url, path, query, received, verb: method.toLowerCase() };
    response.on("error", () => undefined);
    response.on("close", () => this.#finished(request, response, passage));
    try {
      await this.#answer(request, response, passage);
    } catch (error) {
      const refused = error instanceof Refused ? error : internal(messageOf(error));
      if (response.headersSent) response.destroy();
      else this.#sender.refuse(request, response, refused);
    }
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    passage: Passage,
  ): Promise<void> {
    const { method, path, query } = passage;
    const asker = this.#world.tokens.whoHas(bearer(request));
    if (!asker) throw unauthorized();
    passage.asker = asker;
    const target = resourcePath(path);
    if (!target) return this.#page(request, response, passage);
    passage.target = target;
    const watching = target.subresource === undefined && isTrue(query.get("watch"));
    const verb = verbOf(method, target.name !== undefined, watching);
    if (verb) passage.verb = verb;
    const asked = this.#world.registry.review(target);
    const resource = this.#world.registry.find(target.group, target.version, target.plural);
    if (!asked && !resource) throw noSuchPath();
    if (!verb) throw methodNotAllowed();
    const { text, body } = await bodyOf(request);
    const writing = writingFor(request.headers.accept, query, dateBy(this.#world.clock).getTime());
    if (asked) {
      if (verb !== "create") throw methodNotAllowed();
      const answer = review(asked, body, asker, this.#world);
      return this.#sender.send(request, response, answer, written(answer, writing));
    }
    if (!resource) throw noSuchPath();
    if (
      resource.namespaced
        ? target.namespace === undefined && needsNamespace(verb)
        : target.namespace !== undefined
    )
      throw noSuchPath();
    const call: Call = {
      resource,
      ...(target.namespace !== undefined && { namespace: target.namespace }),
      ...(target.name !== undefined && { name: target.name }),
      ...(target.subresource !== undefined && { subresource: target.subresource }),
      query,
      contentType: mediaType(request),
      userAgent: request.headers["user-agent"] ?? "",
      asker,
      text,
      body,
    };
    if (verb === "watch") return serveWatch(response, watch(call, this.#world), writing);
    const answer = dispatch(verb, call, this.#world);
    this.#sender.send(request, response, answer, written(answer, writing));
  }

  #page(
    request: IncomingMessage,
    response: ServerResponse,
    { path, query, method }: Passage,
  ): void {
    const page =
      method === "GET" || method === "HEAD"
        ? this.pages.page(path, request.headers.accept, query)
        : undefined;
    this.#sender.page(request, response, page);
  }

  #finished(request: IncomingMessage, response: ServerResponse, passage: Passage): void {
    const { verb, target, asker, url, received } = passage;
    const about = target
      ? `${verb} ${target.plural}${target.subresource ? `/${target.subresource}` : ""}`
      : `${verb} /`;
    this.counts.set(about, (this.counts.get(about) ?? 0) + 1);
    this.#audit?.log({
      verb,
      requestURI: url,
      username: asker?.username ?? "system:anonymous",
      userAgent: request.headers["user-agent"] ?? "",
      ...(target && { objectRef: objectRef(target) }),
      code: response.statusCode,
      received,
    });
  }
}

function objectRef({ group, version, plural, ...rest }: ResourcePath): object {
  return {
    resource: plural,
    ...rest,
    ...(group !== "" && { apiGroup: group }),
    apiVersion: version,
  };
}

function needsNamespace(verb: Verb): boolean {
  return verb !== "list" && verb !== "watch" && verb !== "deletecollection";
}

async function bodyOf(request: IncomingMessage): Promise<{ text: string; body: unknown }> {
  if (request.method === "GET" || request.method === "HEAD") return { text: "", body: undefined };
  const text = await readBody(request);
  const body =
    text === "" && request.method === "DELETE"
      ? undefined
      : await parseBody(text, mediaType(request));
  return { text, body };
}

function mediaType(request: IncomingMessage): string {
  return (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

function bearer(request: IncomingMessage): string {
  return /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
