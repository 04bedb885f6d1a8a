import type { RequestListener, ServerResponse } from "node:http";
import { type Clock, wait } from "@postern/core/clock.ts";
import { http, https } from "../azure/http.ts";
import { send } from "../azure/transport.ts";
import type { ApplianceContext } from "./context.ts";
import type { HealthProbe } from "./gwlb-config.ts";
import { listenForProbes, type ProbeCertificate, type ProbeServer } from "./probe-server.ts";

/** Where the load balancer's probes are answered. */
export interface HealthOptions {
  host?: string | undefined;
  port: number;
  /** For probes over TLS; without it they are not answered. */
  tls?: ProbeCertificate | undefined;
}

/** Who answers the probes: the agent before the appliance can, then the appliance, and the agent again when it leaves. */
export interface HealthServer {
  readonly ports: readonly number[];
  /** Listen on another port too. */
  listen(port: number): Promise<void>;
  /**
   * Let the appliance answer: a function of this process gets the requests of the same listening socket; an address is
   * asked for each probe, once it has answered 200 for the first time or the time is over: an appliance that never comes
   * must not look well for ever. Either way the port is never closed in between. Where it ends first, that is an error.
   */
  handOver(to: RequestListener | URL, withinMs?: number): Promise<void>;
  /** From now on the answer is 503, or for probes that only connect none; it is over when the load balancer has seen it. */
  leave(probe?: HealthProbe, mostMs?: number): Promise<void>;
  close(): Promise<void>;
}

/** Half of what Azure gives a probe where it says nothing else: an appliance that hangs is told of in time. */
const answerMs = 2_500;
const betweenLooksMs = 500;
const usualProbe: Pick<HealthProbe, "intervalSeconds" | "threshold" | "protocol"> = {
  protocol: "Http",
  intervalSeconds: 5,
  threshold: 2,
};
const longestStartMs = 300_000;
const longestLeaveMs = 30_000;

/** Start to answer probes with 200, before anything else is known. */
export async function startHealthServer(
  ctx: ApplianceContext,
  options: HealthOptions,
): Promise<HealthServer> {
  const { clock, log } = ctx;
  const { host = "0.0.0.0" } = options;
  const servers: ProbeServer[] = [];
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
    servers.push(await listenForProbes({ host, port }, answer, options.tls));
  };
  const close = async (): Promise<void> => {
    over.abort(new Error("nobody answers probes any more"));
    await Promise.all(servers.splice(0).map((server) => server.close()));
  };

  await listen(options.port);
  return {
    get ports() {
      return servers.map(({ port }) => port);
    },
    listen,
    async handOver(to, withinMs = longestStartMs) {
      const signal = AbortSignal.any([ctx.signal, over.signal]);
      if (to instanceof URL) await untilWell({ clock, signal, log }, to, withinMs);
      appliance = to instanceof URL ? forwarding(clock, to) : to;
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

/** When the load balancer has noticed that a machine leaves: after so many probes as it wants, but in a time that is left. */
export function noticedAfterMs(probe?: HealthProbe, mostMs = longestLeaveMs): number {
  const { intervalSeconds, threshold } = probe ?? usualProbe;
  return Math.min(mostMs, intervalSeconds * threshold * 1_000);
}

/** Ask the appliance until it is well, so that no probe meets one that is not there yet. */
async function untilWell(
  { clock, signal, log }: Pick<ApplianceContext, "clock" | "signal" | "log">,
  url: URL,
  withinMs: number,
): Promise<void> {
  const endsAt = clock.now() + withinMs;
  while ((await ask(clock, url, signal)) !== 200) {
    if (clock.now() >= endsAt)
      return log.warn({ appliance: url.host }, "the appliance is not well after its time to start");
    await wait(clock, betweenLooksMs, signal);
  }
}

/** Answer with the status of the appliance's own answer; where it gives none, it is not well. */
function forwarding(clock: Clock, url: URL): RequestListener {
  return (_request, response) => {
    ask(clock, url)
      .then((status) =>
        reply(response, status ?? 503, status === undefined ? "no answer" : "appliance"),
      )
      .catch(() => response.destroy());
  };
}

async function ask(clock: Clock, url: URL, signal?: AbortSignal): Promise<number | undefined> {
  // Like a probe, it does not ask who signed the appliance's certificate.
  const agent =
    url.protocol === "http:"
      ? new http.Agent({ keepAlive: false })
      : new (https().Agent)({ keepAlive: false, rejectUnauthorized: false });
  const headers = { "user-agent": "postern-agent" };
  const timeoutMs = answerMs;
  const answer = await send({ method: "GET", url, headers, agent, clock, timeoutMs, signal });
  return "status" in answer ? answer.status : undefined;
}

function reply(response: ServerResponse, status: number, text: string): void {
  // A probe makes a new connection each time; one that is kept would hold the end up.
  response.writeHead(status, { "content-type": "text/plain", connection: "close" });
  response.end(`${text}\n`);
}
