import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isExplained } from "../model/failure.ts";
import { redact } from "../model/redact.ts";
import { sendFile } from "./files.ts";
import { clusterPage, overview, type SourceOptions } from "./source.ts";
import { Stream } from "./stream.ts";

/** Something that a person may do from the dashboard of local mode; in a real cluster there is none. */
export interface Action {
  name: string;
  /** What the button says, and what it does. */
  label: string;
  about: string;
  /** What it is done to: nothing, a cluster, or a thing in the picture. */
  on: "nothing" | "endpoint" | "link-service" | "cluster";
  do(target: string): Promise<string>;
}

export interface DashboardOptions {
  listen: { host: string; port: number };
  source: SourceOptions;
  mode: "local" | "operator";
  version: string;
  actions?: readonly Action[];
}

/** A dashboard at work. */
export interface Dashboard {
  url: string;
  /** Say to all pages that they should listen anew, because what they listened to is gone. */
  renew(): void;
  close(): Promise<void>;
}

/** The dashboard: files, data and what is new. It costs nothing while nobody looks. */
export async function serveDashboard(options: DashboardOptions): Promise<Dashboard> {
  const stream = new Stream(options.source);
  const server = createServer((request, response) => {
    answer(request, response, options, stream).catch((error: unknown) => {
      const text = isExplained(error) ? error.explain().message : "an unexpected error";
      if (response.headersSent) response.destroy();
      else send(response, isExplained(error) ? 502 : 500, { error: redact(text) });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.listen, () => resolve());
  });
  const { address, port, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${port}`,
    renew: () => stream.close(),
    close: () =>
      new Promise((resolve) => {
        stream.close();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: DashboardOptions,
  stream: Stream,
): Promise<void> {
  if (!isMeantForUs(request)) {
    send(response, 403, { error: "the dashboard answers only to the name of this machine" });
    return;
  }
  const { pathname } = new URL(request.url ?? "/", "http://dashboard");
  const { source, mode, version, actions = [] } = options;
  const write = request.method === "POST";
  if (!write && request.method !== "GET" && request.method !== "HEAD")
    return send(response, 405, { error: "only GET and POST are known here" });
  if (pathname === "/api/about")
    return send(response, 200, {
      mode,
      version,
      actions: actions.map(({ do: _, ...rest }) => rest),
    });
  if (pathname === "/api/overview") return send(response, 200, await overview(source));
  if (pathname === "/api/budget") return send(response, 200, source.budgets());
  if (pathname === "/api/stream") return stream.serve(response);
  const [, namespace, name] = /^\/api\/clusters\/([^/]+)\/([^/]+)$/.exec(pathname) ?? [];
  if (namespace !== undefined && name !== undefined) {
    const cluster = `${decodeURIComponent(namespace)}/${decodeURIComponent(name)}`;
    const page = await clusterPage(source, cluster);
    if (page === undefined) return send(response, 404, { error: `there is no cluster ${cluster}` });
    return send(response, 200, page);
  }
  const [, wanted] = /^\/api\/actions\/([a-z-]+)$/.exec(pathname) ?? [];
  if (wanted !== undefined) {
    const action = actions.find((each) => each.name === wanted);
    if (action === undefined || !write)
      return send(response, 404, { error: "there is no such action here" });
    // A page of another site cannot set a header without asking first, and is not answered.
    if (request.headers["x-postern"] !== "1")
      return send(response, 403, { error: "the header x-postern is missing" });
    const { target = "" } = (await bodyOf(request)) as { target?: string };
    return send(response, 200, { said: await action.do(String(target)) });
  }
  if (pathname.startsWith("/api/")) return send(response, 404, { error: "there is no such page" });
  await sendFile(request, response, pathname);
}

/** A name that resolves to this machine may belong to anybody: only its own names are answered. */
function isMeantForUs({ headers }: IncomingMessage): boolean {
  const host = (headers.host ?? "").replace(/:\d+$/, "");
  const { origin } = headers;
  const known = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(host);
  return known && (origin === undefined || new URL(origin).host === headers.host);
}

const largestBody = 65_536;

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = "";
  for await (const chunk of request) {
    text += String(chunk);
    if (text.length > largestBody) throw new Error("the body is too large");
  }
  try {
    return text === "" ? {} : JSON.parse(text);
  } catch {
    return {};
  }
}

function send(response: ServerResponse, status: number, data: unknown): void {
  response
    .writeHead(status, {
      "content-type": "application/json; charset=utf-8",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    })
    .end(JSON.stringify(data));
}
