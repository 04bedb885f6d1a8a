import { readFileSync } from "node:fs";
import { wait } from "@postern/core/clock.ts";
import { isExplained } from "@postern/core/failure.ts";
import { exitCodes } from "@postern/core/process/tell.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { type ApplianceContext, applianceContext } from "../appliance/context.ts";
import { deregisterFromBackendPool, drainInBackendPool } from "../appliance/deregister.ts";
import { discoverGWLBBackendPool } from "../appliance/discover.ts";
import { ApplianceError } from "../appliance/errors.ts";
import type { GWLBConfig } from "../appliance/gwlb-config.ts";
import { type HandOver, noticedAfterMs } from "../appliance/health.ts";
import { type ApplianceHealth, unstopped } from "../appliance/lifecycle.ts";
import { agentMetrics } from "../appliance/metrics-text.ts";
import type { JoinBy } from "../appliance/plan-join.ts";
import { membershipInBackendPool, registerWithBackendPool } from "../appliance/register.ts";
import { customCloud } from "../azure/clouds.ts";
import { bootLog, type LogLevel } from "./log.ts";
import { runAgent } from "./run.ts";
import { briefly, type OutputFormat, show } from "./show.ts";

/** What the options of `postern agent` say; those of the life cycle only for `run`. */
export interface AgentOptions {
  pool: string;
  loadBalancer?: string;
  resourceGroup?: string;
  subscription?: string;
  clientId?: string;
  patience: number;
  imds?: URL;
  resourceManager?: URL;
  output: OutputFormat;
  logLevel: LogLevel;
  joinBy?: JoinBy;
  healthListen?: { host: string; port: number };
  healthCertificate?: string;
  healthKey?: string;
  health?: boolean;
  healthTarget?: URL;
  healthCommand?: string;
  healthPortHandover?: boolean;
  healthStart?: number;
  leaveWithin?: number;
  tunnel?: "find" | "configure" | "none";
  ingressDeviceFile?: string;
  ingressDeviceEnvFile?: string;
  ingressDeviceHook?: string;
  metricsListen?: { host: string; port: number };
  events?: boolean;
}

/** `postern agent discover` */
export function discover(options: AgentOptions): Promise<void> {
  return withContext(options, async (ctx) => {
    const config = await find(ctx, options);
    show(options.output, options.output === "json" ? { ...config } : briefly(config));
  });
}

/** `postern agent register` */
export function register(options: AgentOptions): Promise<void> {
  return withContext(options, async (ctx) => {
    const config = await find(ctx, options);
    const made = await registerWithBackendPool(ctx, config, { joinBy: options.joinBy ?? "auto" });
    show(options.output, { registered: true, pool: config.backendPoolResourceId, ...made });
  });
}

/** `postern agent deregister` */
export function deregister(options: AgentOptions): Promise<void> {
  return withContext(options, async (ctx) => {
    const config = await find(ctx, options);
    // Asked to stop from here on it only waits no more: an entry that is drained must not stay.
    const unstoppedContext = unstopped(ctx);
    if (await drainInBackendPool(unstoppedContext, config))
      await wait(ctx.clock, noticedAfterMs(config.probe), ctx.signal).catch(() => undefined);
    const result = await deregisterFromBackendPool(unstoppedContext, config);
    show(options.output, { pool: config.backendPoolResourceId, ...result });
  });
}

/** `postern agent status` */
export function status(options: AgentOptions): Promise<void> {
  return withContext(options, async (ctx) => {
    const config = await find(ctx, options);
    const membership = await membershipInBackendPool(ctx, config);
    const registered = membership !== undefined;
    const known = options.output === "json" ? { ...config } : briefly(config);
    show(options.output, { registered, ...membership, ...known });
    if (registered) return;
    const what = "report a healthy registration";
    throw new ApplianceError({ code: "NotRegistered", what, detail: config.backendPoolResourceId });
  });
}

/** `postern agent run` */
export function run(options: AgentOptions): Promise<void> {
  return withContext(options, async (ctx, metrics) => {
    const { output, pool, ingressDeviceFile, ingressDeviceEnvFile, ingressDeviceHook } = options;
    const ingressOption = ingressDeviceFile ?? ingressDeviceEnvFile ?? ingressDeviceHook;
    if (options.tunnel === "none" && ingressOption !== undefined)
      throw new UsageError(
        "--tunnel none finds no ingress device: omit the --ingress-device options, or use --tunnel find",
      );
    const ingress = {
      file: ingressDeviceFile,
      environmentFile: ingressDeviceEnvFile,
      hook: ingressDeviceHook,
    };
    const settings = {
      ...discovery(options),
      joinBy: options.joinBy ?? "auto",
      health: healthOf(options),
      tunnel: options.tunnel,
      ingress,
      events: options.events,
      leaveMs: options.leaveWithin && options.leaveWithin * 1_000,
      metricsListen: options.metricsListen,
    } as const;
    await runAgent(ctx, metrics, pool, settings, (event) => {
      if (event.event === "left") return show(output, { ...event });
      const { applied, metricsPort } = event;
      const known = output === "json" ? { config: applied.config } : briefly(applied.config);
      show(output, {
        event: "joined",
        device: applied.interface?.name,
        by: applied.registration.by,
        seconds: applied.registration.seconds,
        healthPorts: applied.health?.ports,
        metricsPort,
        ...known,
      });
    });
  });
}

/** Where probes are answered, and by which of the ways the health of the appliance is known: exactly one of them. */
function healthOf(options: AgentOptions): ApplianceHealth | undefined {
  const { health, healthListen, healthTarget, healthCommand, healthPortHandover } = options;
  const ways: [name: string, handOver: HandOver | undefined][] = [
    ["--health-target", healthTarget],
    ["--health-command", healthCommand === undefined ? undefined : { command: healthCommand }],
    ["--health-port-handover", healthPortHandover === true ? "release" : undefined],
  ];
  const given = ways.filter(([, way]) => way !== undefined).map(([name]) => name);
  if (health === false) given.push("--no-health");
  const [, second] = given;
  if (second !== undefined)
    throw new UsageError(`${given.join(" and ")} are mutually exclusive: use one of them`);
  if (health === false || healthListen === undefined) return undefined;
  const handOver = ways.map(([, way]) => way).find((way) => way !== undefined);
  if (handOver === undefined)
    throw new UsageError(
      "no health check is configured: use --health-target, --health-command or --health-port-handover, or --no-health if the appliance answers the probes itself from the start",
    );
  const startMs = options.healthStart === undefined ? undefined : options.healthStart * 1_000;
  return { ...healthListen, tls: certificateOf(options), handOver, startMs };
}

function certificateOf({ healthCertificate, healthKey }: AgentOptions) {
  if (healthCertificate === undefined && healthKey === undefined) return undefined;
  if (healthCertificate === undefined || healthKey === undefined)
    throw new UsageError("--health-certificate and --health-key must be used together");
  return { certificate: fileAt(healthCertificate), key: fileAt(healthKey) };
}

function fileAt(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

function find(ctx: ApplianceContext, options: AgentOptions): Promise<GWLBConfig> {
  return discoverGWLBBackendPool(ctx, options.pool, discovery(options));
}

function discovery({ loadBalancer, resourceGroup, subscription, patience }: AgentOptions) {
  return {
    loadBalancer,
    resourceGroup,
    subscriptionId: subscription,
    patienceMs: patience * 1_000,
  };
}

/** Set the agent up, let the first SIGTERM or SIGINT stop it in order, and close its connections at the end. */
async function withContext(
  options: AgentOptions,
  work: (ctx: ApplianceContext, metrics: ReturnType<typeof agentMetrics>) => Promise<void>,
): Promise<void> {
  const stopping = new AbortController();
  const stop = () => stopping.abort(new ApplianceError({ code: "Stopped", what: "continue" }));
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
  const metrics = agentMetrics();
  const { resourceManager, imds } = options;
  const log = bootLog(options.logLevel, options.output);
  const ctx = applianceContext({
    imdsHost: imds?.origin,
    ...(resourceManager && { cloud: customCloud({ resourceManager: resourceManager.origin }) }),
    clientId: options.clientId,
    signal: stopping.signal,
    metrics,
    log,
  });
  try {
    await work(ctx, metrics);
  } catch (error) {
    // Who reads JSON is not told in another way at the end.
    if (options.output === "text" || !isExplained(error) || error instanceof UsageError)
      throw error;
    const { reason, message } = error.explain();
    log.error({ code: reason }, message);
    process.exitCode = exitCodes.failed;
  } finally {
    process.off("SIGTERM", stop);
    process.off("SIGINT", stop);
    ctx.close();
  }
}
