import type { IncomingMessage } from "node:http";
import { redact } from "@postern/core/redact.ts";
import type { Registry } from "@prometheus-io/client";
import type { Log } from "./log.ts";
import type { Access } from "./serving/access.ts";
import type { ServingCertificate } from "./serving/certificate.ts";
import { type Listen, type Serving, serve } from "./serving/server.ts";

/** One question that a health page asks. */
export interface Check {
  name: string;
  check(): Answer | Promise<Answer>;
}

interface Answer {
  ok: boolean;
  note?: string | undefined;
}

/** What is served on one address. */
export interface PageOptions {
  listen: Listen;
  /** `/healthz` and `/readyz`, which need no token: the kubelet has none. */
  health?: HealthPages;
  /** `/metrics`. */
  metrics?: Registry | (() => Registry);
  /** Who may read the metrics; everybody who reaches the address where this is left out. */
  access?: Access | undefined;
  certificate?: ServingCertificate | undefined;
}

export interface HealthPages {
  /** Is the process alive? A failing one gets it restarted. */
  alive: () => Check[];
  /** Is it of use? */
  ready: () => Check[];
  /** Whether everybody who reaches the pages may read the notes of checks. */
  details: boolean;
  /** Gets the reason of a failing check where the page withholds it. */
  log?: Pick<Log, "warn">;
}

/**
 * Serve health pages, metrics, or both. With `?verbose` each check is a line, as kube-apiserver prints them;
 * a failing check is always named.
 */
export async function servePages(options: PageOptions): Promise<Serving> {
  const withhold = withholding(options.health?.log);
  return serve(options.listen, options.certificate, (request, response) => {
    answer(request, options, withhold).then(
      ({ status, type = plain, text, headers }) =>
        response.writeHead(status, { "content-type": type, ...headers }).end(text),
      () => response.writeHead(500).end(),
    );
  });
}

const plain = "text/plain; charset=utf-8";

interface Page {
  status: number;
  type?: string;
  text: string;
  headers?: Record<string, string>;
}

async function answer(
  request: IncomingMessage,
  options: PageOptions,
  withhold: Withhold,
): Promise<Page> {
  const { health, metrics } = options;
  const [path = "", query = ""] = (request.url ?? "/").split("?");
  const verbose = new URLSearchParams(query).has("verbose");
  const noteOf = health?.details ? shown : withhold;
  if (metrics && path === "/metrics") return metricsPage(request, options, metrics);
  if (health && (path === "/healthz" || path === "/livez"))
    return page("healthz", health.alive(), verbose, noteOf);
  if (health && path === "/readyz") return page("readyz", health.ready(), verbose, noteOf);
  const pages = [...(health ? ["/healthz", "/readyz"] : []), ...(metrics ? ["/metrics"] : [])];
  return { status: 404, text: `there is only ${pages.join(", ")} here\n` };
}

async function metricsPage(
  { headers, socket }: IncomingMessage,
  { access }: PageOptions,
  metrics: Registry | (() => Registry),
): Promise<Page> {
  const asked = { headers, address: socket.remoteAddress, path: "/metrics" };
  const refusal = await access?.refusal(asked);
  if (refusal) return refusal;
  const registry = typeof metrics === "function" ? metrics() : metrics;
  return { status: 200, type: registry.contentType, text: await registry.metrics() };
}

/** What follows the verdict of a check on the page. */
type Withhold = (each: Answer & { name: string }) => string;

const shown: Withhold = ({ note }) => (note ? `: ${redact(note)}` : "");

/** Withhold notes as kube-apiserver does, and log the reason of a failure when it changes. */
function withholding(log: HealthPages["log"]): Withhold {
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
): Promise<Page> {
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
  return { status: ok ? 200 : 503, text };
}
