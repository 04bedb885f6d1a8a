import type { IncomingMessage, ServerResponse } from "node:http";
import type { Overview } from "@postern/core/dashboard/fleet.ts";
import { isExplained } from "@postern/core/failure.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { redactData } from "@postern/core/redact.ts";
import type { Log } from "../kube/log.ts";
import type { Access } from "../kube/serving/access.ts";
import type { ServingCertificate } from "../kube/serving/certificate.ts";
import { serve } from "../kube/serving/server.ts";
import { sendFile } from "./files.ts";
import { watchPresence } from "./presence.ts";
import { clusterObjects, clusterPage, overview, type SourceOptions } from "./source.ts";
import { Stream } from "./stream.ts";

/** Something that a person may do from the dashboard of local mode; in a real cluster there is none. */
export interface Action {
  name: string;
  /** What the button says, and what to expect. */
  label: string;
  about: string;
  /** Whether clients lose their connection by it. */
  isDestructive: boolean;
  /** Do it to the private endpoint with this id. The answer says what was done. */
  do(endpoint: string): Promise<string>;
}

export interface DashboardOptions {
  listen: { host: string; port: number };
  /** Who may read it, and over which certificate; without it everybody who reaches the address. */
  protection?: { access: Access; certificate: ServingCertificate } | undefined;
  source: SourceOptions;
  mode: "local" | "operator";
  version: string;
  /** Where the cloud shows its resources to people. */
  portal?: string | undefined;
  actions?: readonly Action[];
  /** Hears of what nobody expected. */
  log: Pick<Log, "error">;
}

/** A dashboard at work. */
export interface Dashboard {
  url: string;
  /** What its first page shows: whoever asks at the same time shares the reading. */
  overview(): Promise<Overview>;
  /** The runtime was replaced: watch the new one, and have all pages read everything again. */
  renew(): void;
  close(): Promise<void>;
}

/** The dashboard: files, data and what is new. It costs nothing while nobody looks. */
export async function serveDashboard(given: DashboardOptions): Promise<Dashboard> {
  const { runtime } = given.source;
  const presence = watchPresence(runtime);
  const options = { ...given, source: { presence, ...given.source } };
  const stream = new Stream(options.source);
  const whole = inTurns(() => overview(options.source));
  const { url, close } = await serve(
    options.listen,
    options.protection?.certificate,
    (request, response) => {
      answer(request, response, options, { stream, whole }).catch((error: unknown) => {
        const { status, text } = answerFor(error, options.log);
        if (response.headersSent) response.destroy();
        else send(response, status, { error: text });
      });
    },
  );
  return {
    url,
    overview: whole,
    renew: () => stream.renew(),
    close: () => {
      stream.close();
      return close();
    },
  };
}

/** Work that is done once for all who ask while they wait. What has begun may miss what they ask about: they share the next. */
function inTurns<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return () => {
    next ??= running.then(() => {
      next = undefined;
      const made = work();
      running = made.catch(() => undefined);
      return made;
    });
    return next;
  };
}

/**
 * What a ClusterRole must allow by `nonResourceURLs`. It is not the path that is asked for: every user may get `/api/*`, of the API server.
 */
const dashboardPath = "/postern/dashboard";

interface Shared {
  stream: Stream;
  /** The overview, once for all pages that ask for it together. */
  whole: () => Promise<unknown>;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: DashboardOptions,
  { stream, whole }: Shared,
): Promise<void> {
  const path = pathIn(request);
  const { protection } = options;
  const reading = {
    headers: request.headers,
    address: request.socket.remoteAddress,
    path: dashboardPath,
  };
  const askRefusal = async () => protection?.access.refusal(reading);
  const refusal = await askRefusal();
  if (refusal) {
    for (const [name, value] of Object.entries(refusal.headers)) response.setHeader(name, value);
    return send(response, refusal.status, { error: refusal.text.trim() });
  }
  if (!isSameSite(request, path) || (!protection && !isOwnName(request))) {
    send(response, 403, {
      error: "the dashboard accepts only requests to the name of this machine",
    });
    return;
  }
  if (path === undefined) return send(response, 400, { error: "the URL is invalid" });
  const { source, mode, version, portal, actions = [] } = options;
  const [, wanted] = /^\/api\/actions\/([a-z-]+)$/.exec(path) ?? [];
  if (wanted !== undefined) return act(request, response, actions, wanted);
  if (request.method !== "GET" && request.method !== "HEAD")
    return send(response, 405, { error: "only GET and HEAD are allowed" });
  if (path === "/api/about")
    return send(response, 200, {
      mode,
      version,
      portal,
      actions: actions.map(({ do: _, ...rest }) => rest),
    });
  if (path === "/api/overview") return send(response, 200, await whole());
  if (path === "/api/stream" && request.method === "GET") return stream.serve(response, askRefusal);
  const [, objectsOf] = /^\/api\/objects\/([^/]+\/[^/]+)$/.exec(path) ?? [];
  if (objectsOf !== undefined) return send(response, 200, await clusterObjects(source, objectsOf));
  const [, cluster] = /^\/api\/clusters\/([^/]+\/[^/]+)$/.exec(path) ?? [];
  if (cluster !== undefined) {
    const page = await clusterPage(source, cluster);
    if (page === undefined)
      return send(response, 404, { error: `cluster ${cluster} does not exist` });
    return send(response, 200, page);
  }
  if (path.startsWith("/api/")) return send(response, 404, { error: "no such page" });
  await sendFile(request, response, path);
}

async function act(
  request: IncomingMessage,
  response: ServerResponse,
  actions: readonly Action[],
  name: string,
): Promise<void> {
  const action = actions.find((each) => each.name === name);
  if (action === undefined || request.method !== "POST")
    return send(response, 404, { error: "no such action" });
  // A page of another site cannot set a header without asking first, and is not answered.
  if (request.headers["x-postern"] !== "1")
    return send(response, 403, { error: "the header x-postern is missing" });
  const body = await bodyOf(request);
  if (body === undefined) return send(response, 400, { error: "the body is invalid" });
  send(response, 200, { message: await action.do(String(body.target ?? "")) });
}

/** What is asked for; undefined where it cannot be read. */
function pathIn({ url = "/" }: IncomingMessage): string | undefined {
  try {
    return decodeURIComponent(new URL(url, "http://dashboard").pathname);
  } catch {
    return undefined;
  }
}

/** A name that resolves to this machine may belong to anybody: where no token is needed, only its own names are answered. */
function isOwnName({ headers: { host = "" } }: IncomingMessage): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/i.test(host);
}

/** A page of another site may link to the dashboard, and may not ask it for data: it could not read the answer, but the answer has its price. */
function isSameSite({ headers }: IncomingMessage, path = "/api/"): boolean {
  const { origin, host = "" } = headers;
  const site = headers["sec-fetch-site"] ?? "none";
  if (path.startsWith("/api/") && site !== "none" && site !== "same-origin") return false;
  return origin === undefined || origin.replace(/^https?:\/\//, "") === host;
}

/** The text and the status with which a page answers an error. */
function answerFor(error: unknown, log: Pick<Log, "error">): { status: number; text: string } {
  if (error instanceof UsageError) return { status: 400, text: error.message };
  if (isExplained(error)) return { status: 502, text: error.explain().message };
  const { name } = error as Error;
  if (name === "TimeoutError" || name === "AbortError")
    return {
      status: 504,
      text: "Kubernetes or Azure did not respond in time · the dashboard retries",
    };
  log.error({ err: error }, "the dashboard failed");
  return { status: 500, text: "an unexpected error occurred · check the log · please report it" };
}

const largestBody = 65_536;

/** The body of a request; undefined where it is none of ours. */
async function bodyOf(request: IncomingMessage): Promise<{ target?: unknown } | undefined> {
  let text = "";
  for await (const chunk of request) {
    text += String(chunk);
    if (text.length > largestBody) return undefined;
  }
  try {
    const body: unknown = JSON.parse(text || "{}");
    return typeof body === "object" && body !== null ? body : undefined;
  } catch {
    return undefined;
  }
}

function send(response: ServerResponse, status: number, data: unknown): void {
  response
    .writeHead(status, {
      "content-type": "application/json; charset=utf-8",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    })
    .end(JSON.stringify(redactData(data)));
}
