import { wait } from "@postern/core/clock.ts";
import type { ApplianceContext } from "./context.ts";
import {
  type Deregistration,
  deregisterFromBackendPool,
  drainInBackendPool,
} from "./deregister.ts";
import { type DiscoverOptions, discoverGWLBBackendPool } from "./discover.ts";
import { ApplianceError } from "./errors.ts";
import type { GWLBConfig } from "./gwlb-config.ts";
import {
  type HandOver,
  type HealthOptions,
  type HealthServer,
  startHealthServer,
} from "./health.ts";
import { type IngressTargets, writeIngressDevice } from "./ingress-device.ts";
import { type RegisterOptions, type Registration, registerWithBackendPool } from "./register.ts";
import {
  checkTunnels,
  findVXLANTunnelInterface,
  type LocalInterface,
  type TunnelInterface,
} from "./tunnel.ts";
import { makeTunnelLinks, type TunnelLinks } from "./tunnel-links.ts";

/** Where probes are answered, and who decides about the health of the appliance. */
export interface ApplianceHealth extends HealthOptions {
  /** Required: an agent that went on with 200 would report an appliance as healthy that is dead. */
  handOver: HandOver;
  /** How long the appliance may take to start; five minutes if not given. */
  startMs?: number | undefined;
}

/** How an appliance joins. */
export interface ApplyOptions extends DiscoverOptions, RegisterOptions {
  /** Without it the appliance answers the probes itself. Port 0 is any free one and stays the only one. */
  health?: ApplianceHealth | undefined;
  /** Whether to find the tunnel's interface, also to make the links on it, or neither. */
  tunnel?: "find" | "configure" | "none" | undefined;
  /** The interfaces among which to find it; those of this machine if not given. */
  interfaces?: readonly LocalInterface[] | undefined;
  /** The network namespace for the links. */
  namespace?: string | undefined;
  ingress?: IngressTargets | undefined;
}

/** An appliance that has joined. */
export interface Applied {
  config: GWLBConfig;
  registration: Registration;
  interface?: TunnelInterface;
  links?: TunnelLinks;
  health?: HealthServer;
  /** Take back what was done on this machine, in the opposite order. */
  revertLocal(): Promise<void>;
}

/**
 * Join, in six steps: answer probes, find the pool, register, find the tunnel, let the appliance answer the probes, tell it
 * its ingress device. Where one of them fails, those before it are undone, and the error is that of the step.
 */
export async function apply(
  ctx: ApplianceContext,
  poolName: string,
  options: ApplyOptions = {},
): Promise<Applied> {
  const reverts: (() => Promise<unknown>)[] = [];
  try {
    const health = options.health && (await startHealth(ctx, options.health));
    if (health) reverts.push(() => health.close());

    const config = await discoverGWLBBackendPool(ctx, poolName, options);
    if (health && options.health) {
      await listenForProbe(ctx, health, config, options.health);
      refuseItself(health, config, options.health);
    }

    const { tunnel = "find", interfaces, namespace } = options;
    if (tunnel !== "none") checkTunnels(config.tunnels);

    const registration = await register(ctx, config, options);
    if (registration.wrote) reverts.push(() => deregisterFromBackendPool(unstopped(ctx), config));

    const local: (() => Promise<unknown>)[] = [];
    reverts.push(() => revertAll(local));
    const found = tunnel === "none" ? undefined : findVXLANTunnelInterface(ctx, config, interfaces);
    const links =
      found && tunnel === "configure"
        ? await makeTunnelLinks(config, found.name, { namespace })
        : undefined;
    if (links) local.push(() => links.remove());

    if (health && options.health) await beginHandOver(ctx, health, options.health, config);

    if (found) local.push(await writeIngressDevice(options.ingress ?? {}, found.name));
    ctx.signal.throwIfAborted();
    return {
      config,
      registration,
      ...(found && { interface: found }),
      ...(links && { links }),
      ...(health && { health }),
      revertLocal: () => revertAll(local),
    };
  } catch (error) {
    await revertAll(reverts).catch((failed: unknown) =>
      ctx.log.warn({ error: String(failed) }, "what was done could not all be undone"),
    );
    throw error;
  }
}

/** How an appliance leaves. */
export interface CleanupOptions {
  /** How long in all: 20 seconds. At most half of it is for draining, so that the rest is left for Azure. */
  limitMs?: number | undefined;
  /** The longest drain, where that should be shorter still. With 0 the entry is removed at once. */
  mostDrainMs?: number | undefined;
}

const cleanupMs = 20_000;
/** So much of the time is left for what was done on this machine. */
const revertLocalMs = 1_000;

/**
 * Leave: fail the probes and take no new connections until the load balancer has noticed, then remove this machine's own
 * entry and what was done on it, all within `limitMs`. It works also where the context's signal has ended everything else.
 */
export async function cleanup(
  ctx: ApplianceContext,
  applied: Pick<Applied, "config" | "health" | "revertLocal">,
  options: CleanupOptions = {},
): Promise<Deregistration> {
  const { config, health, revertLocal } = applied;
  const { limitMs = cleanupMs } = options;
  const { clock } = ctx;
  const endsAt = clock.now() + limitMs;
  const drainMs = Math.min(options.mostDrainMs ?? limitMs, limitMs / 2);
  const unstoppedContext = unstopped(ctx);
  try {
    await Promise.all([
      drainMs > 0 && drainInBackendPool(unstoppedContext, config, { limitMs: drainMs }),
      health?.leave(config.probe, drainMs),
    ]);
    const remainingMs = endsAt - clock.now();
    const reservedMs = Math.min(revertLocalMs, remainingMs / 10);
    return await deregisterFromBackendPool(unstoppedContext, config, {
      limitMs: remainingMs - reservedMs,
    });
  } finally {
    const undone = revertLocal().finally(() => health?.close());
    await within(ctx, Math.max(revertLocalMs, endsAt - clock.now()), undone);
  }
}

/** Wait for local work, but no longer than is left: a hook that hangs must not delay the end of the machine. */
async function within({ clock, log }: ApplianceContext, ms: number, work: Promise<void>) {
  const ended = new AbortController();
  const late = wait(clock, ms, ended.signal).then(
    () => log.warn({}, "what was done on this machine is not undone in time"),
    () => undefined,
  );
  try {
    await Promise.race([work, late]);
  } finally {
    ended.abort(new Error("the work has ended"));
    // Who waits no more must not fail for it either.
    work.catch(() => undefined);
  }
}

/** A registration that fails half-way may have come about in Azure. One that was there before stays. */
async function register(
  ctx: ApplianceContext,
  config: GWLBConfig,
  options: RegisterOptions,
): Promise<Registration> {
  let wrote = false;
  const writing = () => {
    wrote = true;
    options.writing?.();
  };
  try {
    return await registerWithBackendPool(ctx, config, { ...options, writing });
  } catch (error) {
    if (wrote)
      await deregisterFromBackendPool(unstopped(ctx), config).catch((failed: unknown) =>
        ctx.log.warn({ error: String(failed) }, "what was done could not all be undone"),
      );
    throw error;
  }
}

/** Begin to answer probes. Undefined where the appliance has its port already, as when the agent starts again. */
async function startHealth(
  ctx: ApplianceContext,
  options: ApplianceHealth,
): Promise<HealthServer | undefined> {
  // Programs in JavaScript may leave it out.
  if ((options.handOver as HandOver | undefined) === undefined)
    throw new ApplianceError({ code: "HealthCheckMissing", what: "answer health probes" });
  return unlessReleased(ctx, options, () => startHealthServer(ctx, options));
}

/** A port that is to be released, and that somebody has, has been released. */
async function unlessReleased<T>(
  { log }: ApplianceContext,
  { handOver }: ApplianceHealth,
  listen: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await listen();
  } catch (error) {
    const isTaken =
      error instanceof ApplianceError &&
      (error.cause as NodeJS.ErrnoException | undefined)?.code === "EADDRINUSE";
    if (handOver !== "release" || !isTaken) throw error;
    log.info({ error: error.message }, "the appliance already listens on the port of the probe");
    return undefined;
  }
}

/**
 * The load balancer may probe another port than was given. A probe that the agent cannot answer is rejected before
 * anything is written: the machine would be in the pool, and never be healthy.
 */
async function listenForProbe(
  ctx: ApplianceContext,
  health: HealthServer,
  { probe, loadBalancerName }: GWLBConfig,
  options: ApplianceHealth,
): Promise<void> {
  const { port: asked, tls, handOver } = options;
  if (probe === undefined) return;
  if (probe.protocol === "Https" && tls === undefined && handOver !== "release") {
    const what = `answer the health probes of ${loadBalancerName}`;
    const detail = `port ${probe.port}`;
    throw new ApplianceError({ code: "HealthCertificateMissing", what, detail });
  }
  if (asked === 0 || health.ports.includes(probe.port)) return;
  const fields = { probe: probe.port, listening: health.ports };
  ctx.log.warn(fields, "the load balancer probes another port");
  await unlessReleased(ctx, options, () => health.listen(probe.port));
}

/** An agent that asks itself for the appliance is healthy for ever, and its first probe never ends. */
function refuseItself(
  health: HealthServer,
  { privateIP }: GWLBConfig,
  { host = "0.0.0.0", handOver }: ApplianceHealth,
): void {
  if (!(handOver instanceof URL)) return;
  const { hostname, protocol, port } = handOver;
  if (!health.ports.includes(Number(port || (protocol === "http:" ? 80 : 443)))) return;
  const everywhere = host === "0.0.0.0" || host === "::";
  const here = /^(localhost|127\..*|0\.0\.0\.0|\[::1?\])$/.test(hostname) || hostname === privateIP;
  if (hostname !== host && !(everywhere && here)) return;
  const what = `ask the appliance at ${handOver.host}`;
  const detail = "the agent itself answers there";
  throw new ApplianceError({ code: "HealthPortTaken", what, detail });
}

/**
 * An address or a command is not waited for: an appliance may start only when it has been told its ingress device, and until
 * it is healthy the agent answers for it.
 */
async function beginHandOver(
  { log }: ApplianceContext,
  health: HealthServer,
  { handOver: to, startMs: withinMs }: ApplianceHealth,
  { probe }: GWLBConfig,
): Promise<void> {
  const handedOver = health.handOver(to, { withinMs, probe });
  if (to === "release" || typeof to === "function") return handedOver;
  handedOver.then(
    () => log.info({}, "the health of the appliance answers the probes"),
    // It leaves, or a later step failed.
    () => log.debug({}, "the probes were not handed over"),
  );
}

/** What undoes must not end with what it undoes. */
export function unstopped(ctx: ApplianceContext): ApplianceContext {
  return ctx.until(new AbortController().signal);
}

/** Undo all, the last first, also where one of them fails; the first failure is thrown. */
async function revertAll(reverts: (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const each of reverts.splice(0).reverse())
    await each().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
