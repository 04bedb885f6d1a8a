import type { RequestListener, ServerResponse } from "node:http";
import { wait } from "@postern/core/clock.ts";
import type { ApplianceContext } from "./context.ts";
import { ApplianceError } from "./errors.ts";
import type { HealthProbe } from "./gwlb-config.ts";
import { type HealthCheck, type HealthSource, healthCheck } from "./health-check.ts";
import { listenForProbes, type ProbeCertificate, type ProbeServer } from "./probe-server.ts";

/** Where the load balancer's probes are answered. */
export interface HealthOptions {
  host?: string | undefined;
  port: number;
  /** For probes over TLS; without it they are not answered. */
  tls?: ProbeCertificate | undefined;
}

/**
 * Who decides about the health of the appliance once it has joined: a function of this process, which gets the requests of
 * the same listening socket; an address or a command, which is asked for each probe; or, with `release`, the appliance itself,
 * which listens on the port after the agent has closed it.
 */
export type HandOver = RequestListener | HealthSource | "release";

/** How the hand-over is done. */
export interface HandOverOptions {
  /** How long the appliance may take to start. Until it is healthy for the first time the agent answers for it, but no longer. */
  withinMs?: number | undefined;
  /** The probe of the load balancer. */
  probe?: HealthProbe | undefined;
}

/** Who answers the probes: the agent before the appliance can, then whoever they are handed to, and the agent when it leaves. */
export interface HealthServer {
  readonly ports: readonly number[];
  /** Listen on another port too. */
  listen(port: number): Promise<void>;
  /** Hand the probes over. It ends when that is done; where the server ends or leaves first, that is an error. */
  handOver(to: HandOver, options?: HandOverOptions): Promise<void>;
  /** From now on the answer is 503, or for probes that only connect none; it ends when the load balancer has noticed. */
  leave(probe?: HealthProbe, mostMs?: number): Promise<void>;
  close(): Promise<void>;
}

const betweenChecksMs = 500;
/** How often the health is checked for a probe that only connects, and so asks nothing itself. */
const guardEveryMs = 2_000;
const usualProbe: Pick<HealthProbe, "intervalSeconds" | "threshold" | "protocol"> = {
  protocol: "Http",
  intervalSeconds: 5,
  threshold: 2,
};
const longestStartMs = 300_000;
const longestLeaveMs = 10_000;

/** Start to answer probes with 200, before anything else is known. */
export async function startHealthServer(
  ctx: ApplianceContext,
  options: HealthOptions,
): Promise<HealthServer> {
  const { clock, log } = ctx;
  const { host = "0.0.0.0" } = options;
  /** The ports, and what listens there now. */
  const places = new Map<number, ProbeServer | undefined>();
  const over = new AbortController();
  let leaving = false;
  let appliance: RequestListener | undefined;

  const answer: RequestListener = (request, response) => {
    response.once("finish", () => ctx.metrics.probed(response.statusCode));
    if (leaving) return reply(response, 503, "leaving");
    if (appliance === undefined) return reply(response, 200, "starting");
    return appliance(request, response);
  };

  const listen = async (port: number): Promise<void> => {
    const server = await listenForProbes({ host, port }, answer, options.tls);
    places.set(server.port, server);
  };
  const closeServers = async (): Promise<void> => {
    const servers = [...places.values()];
    for (const port of places.keys()) places.set(port, undefined);
    await Promise.all(servers.map((server) => server?.close()));
  };
  const close = async (): Promise<void> => {
    over.abort(new Error("nobody answers probes any more"));
    await closeServers();
    places.clear();
  };

  const openServers = async (): Promise<void> => {
    for (const [port, server] of places) if (server === undefined) await listen(port);
    // It has ended meanwhile.
    if (over.signal.aborted) await closeServers();
  };

  /** While the appliance is not healthy nobody listens: to a probe that only connects, a listening socket is the answer. */
  const guardSockets = async (check: HealthCheck): Promise<void> => {
    while (!over.signal.aborted) {
      const { status } = await check();
      if (over.signal.aborted) return;
      if (status !== 200) await closeServers();
      else
        await openServers().catch((error: unknown) => {
          if (!(error instanceof ApplianceError)) throw error;
          log.warn({ code: error.code, error: error.message }, "probes cannot be answered");
        });
      await wait(clock, guardEveryMs, over.signal).catch(() => undefined);
    }
  };

  const handOverToSource = async (
    source: HealthSource,
    { withinMs = longestStartMs, probe }: HandOverOptions,
  ): Promise<void> => {
    const signal = AbortSignal.any([ctx.signal, over.signal]);
    const check = logged(ctx, healthCheck(clock, source, over.signal));
    const endsAt = clock.now() + withinMs;
    while ((await check()).status !== 200) {
      signal.throwIfAborted();
      if (clock.now() >= endsAt) {
        log.warn({}, "the appliance is not healthy after its time to start");
        break;
      }
      await wait(clock, betweenChecksMs, signal);
    }
    appliance = asking(check);
    if (probe?.protocol === "Tcp")
      guardSockets(check).catch((error: unknown) =>
        log.warn({ error: String(error) }, "the health of the appliance is not checked any more"),
      );
  };

  await listen(options.port);
  return {
    get ports() {
      return [...places.keys()];
    },
    listen,
    async handOver(to, handOverOptions = {}) {
      if (to === "release") {
        await closeServers();
        places.clear();
        return;
      }
      if (typeof to === "function") {
        appliance = to;
        return;
      }
      await handOverToSource(to, handOverOptions);
    },
    async leave(probe, mostMs) {
      leaving = true;
      over.abort(new Error("it leaves"));
      if ((probe ?? usualProbe).protocol === "Tcp") await close();
      await wait(clock, noticedAfterMs(probe, mostMs));
    },
    close,
  };
}

/** How long the load balancer takes to notice that a machine leaves: as many probes as its threshold, but at most `mostMs`. */
export function noticedAfterMs(probe?: HealthProbe, mostMs = longestLeaveMs): number {
  const { intervalSeconds, threshold } = probe ?? usualProbe;
  return Math.min(mostMs, intervalSeconds * threshold * 1_000);
}

/** A check that logs when its result changes, and not for every probe. */
function logged({ log }: Pick<ApplianceContext, "log">, check: HealthCheck): HealthCheck {
  let was: boolean | undefined;
  return async () => {
    const health = await check();
    const is = health.status === 200;
    if (is !== was && is) log.info({}, "the appliance is healthy");
    if (is !== was && !is) log.warn({ why: health.why }, "the appliance is not healthy");
    was = is;
    return health;
  };
}

/** Answer each probe with the health of the appliance. */
function asking(check: HealthCheck): RequestListener {
  return (_request, response) => {
    check()
      .then(({ status }) => reply(response, status, status === 200 ? "healthy" : "not healthy"))
      .catch(() => response.destroy());
  };
}

function reply(response: ServerResponse, status: number, text: string): void {
  // A probe makes a new connection each time; an idle one would delay the end.
  response.writeHead(status, { "content-type": "text/plain", connection: "close" });
  response.end(`${text}\n`);
}
