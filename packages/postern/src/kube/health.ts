import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { redact } from "@postern/core/redact.ts";
import { limitConnections, serverLimits } from "@postern/core/server-limits.ts";
import type { Registry } from "@prometheus-io/client";
import { KubeError } from "./errors.ts";
import type { Log } from "./log.ts";

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
  /**
   * Whether everybody who reaches the pages may see the notes of checks, and ids, DNS names and addresses of clusters in the
   * metrics. Nobody has to authenticate here.
   */
  details: boolean;
  /** Gets the reason of a failing check where the page withholds it. */
  log?: Pick<Log, "warn">;
}

/**
 * Serve `/healthz`, `/readyz` and `/metrics`. With `?verbose` each check is a line, as kube-apiserver prints them;
 * a failing check is always named.
 */
export async function serveHealth(
  options: HealthOptions,
): Promise<{ url: string; close(): Promise<void> }> {
  const withhold = withholding(options.log);
  const server = createServer(serverLimits, (request, response) => {
    const [path = "", query = ""] = (request.url ?? "/").split("?");
    const verbose = new URLSearchParams(query).has("verbose");
    answer(path, verbose, options, withhold).then(
      ({ status, type, text }) => response.writeHead(status, { "content-type": type }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  limitConnections(server);
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

/** Whether only this machine, or this pod, can reach an address. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

async function answer(
  path: string,
  verbose: boolean,
  options: HealthOptions,
  withhold: Withhold,
): Promise<{ status: number; type: string; text: string }> {
  const { metrics, details } = options;
  const noteOf = details ? shown : withhold;
  switch (path) {
    case "/metrics":
      return metricsPage(typeof metrics === "function" ? metrics() : metrics, details);
    case "/healthz":
    case "/livez":
      return page("healthz", options.health(), verbose, noteOf);
    case "/readyz":
      return page("readyz", options.ready(), verbose, noteOf);
    default:
      return {
        status: 404,
        type: "text/plain",
        text: "there are /healthz, /readyz and /metrics here\n",
      };
  }
}

/** Labels that name what a cluster has. A hash of them could be guessed, so metrics that have one are left out. */
const detailLabels = ["zone", "fqdn", "ip", "resource_group"];

async function metricsPage(registry: Registry, details: boolean) {
  const { contentType: type } = registry;
  if (details) return { status: 200, type, text: await registry.metrics() };
  const metrics = registry.getMetricsAsArray() as unknown as {
    name: string;
    labelNames: string[];
  }[];
  const open = metrics.filter(
    ({ labelNames }) => !labelNames.some((label) => detailLabels.includes(label)),
  );
  const texts = await Promise.all(open.map(({ name }) => registry.getSingleMetricAsString(name)));
  return { status: 200, type, text: `${texts.join("\n\n").replace(guids, shortHash)}\n` };
}

const guids = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/** Stands for an id that is not shown. It is the same everywhere, and nobody can guess the id. */
function shortHash(id: string): string {
  return createHash("sha256").update(id.toLowerCase()).digest("hex").slice(0, 8);
}

/** What follows the verdict of a check on the page. */
type Withhold = (each: Answer & { name: string }) => string;

const shown: Withhold = ({ note }) => (note ? `: ${redact(note)}` : "");

/** Withhold notes as kube-apiserver does, and log the reason of a failure when it changes. */
function withholding(log: HealthOptions["log"]): Withhold {
  const logged = new Map<string, string | undefined>();
  return ({ name, ok, note = "" }) => {
    if (ok) logged.delete(name);
    else if (logged.get(name) !== note) {
      logged.set(name, note);
      log?.warn({ check: name, reason: redact(note) }, "health check failed");
    }
    return ok ? "" : ": reason withheld";
  };
}

async function page(
  name: string,
  checks: Check[],
  verbose: boolean,
  noteOf: Withhold,
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
    (each) => `[${each.ok ? "+" : "-"}]${each.name} ${each.ok ? "ok" : "failed"}${noteOf(each)}`,
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
