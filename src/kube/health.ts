import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Registry } from "prom-client";
import { redact } from "../model/redact.ts";
import { KubeError } from "./errors.ts";

/** One question that a health page asks. */
export interface Check {
  name: string;
  check(): Answer | Promise<Answer>;
}

interface Answer {
  ok: boolean;
  note?: string | undefined;
}

export interface HealthOptions {
  listen: { host: string; port: number };
  /** Is the process alive? A failing one gets it restarted. */
  health: () => Check[];
  /** Is it of use? */
  ready: () => Check[];
  metrics: Registry | (() => Registry);
}

/**
 * Serve `/healthz`, `/readyz` and `/metrics`. With `?verbose` each check is a line, as kube-apiserver prints them;
 * a failing check is always named.
 */
export async function serveHealth(
  options: HealthOptions,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const [path = "", query = ""] = (request.url ?? "/").split("?");
    const verbose = new URLSearchParams(query).has("verbose");
    answer(path, verbose, options).then(
      ({ status, type, text }) => response.writeHead(status, { "content-type": type }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await listen(server, options.listen);
  const { address, port, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  path: string,
  verbose: boolean,
  options: HealthOptions,
): Promise<{ status: number; type: string; text: string }> {
  switch (path) {
    case "/metrics":
      return metricsPage(
        typeof options.metrics === "function" ? options.metrics() : options.metrics,
      );
    case "/healthz":
    case "/livez":
      return page("healthz", options.health(), verbose);
    case "/readyz":
      return page("readyz", options.ready(), verbose);
    default:
      return {
        status: 404,
        type: "text/plain",
        text: "there are /healthz, /readyz and /metrics here\n",
      };
  }
}

async function metricsPage(registry: Registry) {
  return { status: 200, type: registry.contentType, text: await registry.metrics() };
}

async function page(
  name: string,
  checks: Check[],
  verbose: boolean,
): Promise<{ status: number; type: string; text: string }> {
  const answers = await Promise.all(
    checks.map(async (each) => {
      try {
        return { name: each.name, ...(await each.check()) };
      } catch (error) {
        return {
          name: each.name,
          ok: false,
          note: error instanceof Error ? error.message : "failed",
        };
      }
    }),
  );
  const ok = answers.every((each) => each.ok);
  const lines = answers.map(
    ({ name, ok, note }) =>
      `[${ok ? "+" : "-"}]${name} ${ok ? "ok" : "failed"}${note ? `: ${redact(note)}` : ""}`,
  );
  const verdict = `${name} check ${ok ? "passed" : "failed"}`;
  const text = verbose || !ok ? `${[...lines, verdict].join("\n")}\n` : "ok";
  return { status: ok ? 200 : 503, type: "text/plain; charset=utf-8", text };
}

function listen(server: Server, where: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const why = cause.code ?? cause.message;
      reject(
        new KubeError("NotListening", `listening on ${where.host}:${where.port} failed · ${why}`, {
          cause,
        }),
      );
    });
    server.listen(where, () => {
      server.removeAllListeners("error");
      resolve();
    });
  });
}
