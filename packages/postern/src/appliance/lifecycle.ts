import type { RequestListener } from "node:http";
import type { ApplianceContext } from "./context.ts";
import {
  type Deregistration,
  deregisterFromBackendPool,
  drainInBackendPool,
} from "./deregister.ts";
import { type DiscoverOptions, discoverGWLBBackendPool } from "./discover.ts";
import { ApplianceError } from "./errors.ts";
import type { GWLBConfig } from "./gwlb-config.ts";
import { type HealthOptions, type HealthServer, startHealthServer } from "./health.ts";
import { type IngressTargets, writeIngressDevice } from "./ingress-device.ts";
import { type RegisterOptions, type Registration, registerWithBackendPool } from "./register.ts";
import {
  checkTunnels,
  findVXLANTunnelInterface,
  type LocalInterface,
  type TunnelInterface,
} from "./tunnel.ts";
import { makeTunnelLinks, type TunnelLinks } from "./tunnel-links.ts";

/** How an appliance joins. */
export interface ApplyOptions extends DiscoverOptions, RegisterOptions {
  /** Where probes are answered; without it the appliance answers them itself. Port 0 is any free one and stays the only one. */
  health?: HealthOptions | undefined;
  /** Who answers the probes when the appliance has started; without it the agent goes on. */
  handOver?: RequestListener | URL | undefined;
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
  undoLocal(): Promise<void>;
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
  const undo: (() => Promise<unknown>)[] = [];
  try {
    const health = options.health && (await startHealthServer(ctx, options.health));
    if (health) undo.push(() => health.close());

    const config = await discoverGWLBBackendPool(ctx, poolName, options);
    if (health && options.health) {
      await listenForProbe(ctx, health, config, options.health);
      refuseItself(health, config, options);
    }

    const { tunnel = "find", interfaces, namespace } = options;
    if (tunnel !== "none") checkTunnels(config.tunnels);

    const registration = await register(ctx, config, options);
    if (registration.wrote) undo.push(() => deregisterFromBackendPool(unstopped(ctx), config));

    const local: (() => Promise<unknown>)[] = [];
    undo.push(() => undoAll(local));
    const found = tunnel === "none" ? undefined : findVXLANTunnelInterface(ctx, config, interfaces);
    const links =
      found && tunnel === "configure"
        ? await makeTunnelLinks(config, found.name, { namespace })
        : undefined;
    if (links) local.push(() => links.remove());

    if (health && options.handOver) beginHandOver(ctx, health, options.handOver);

    if (found) local.push(await writeIngressDevice(options.ingress ?? {}, found.name));
    ctx.signal.throwIfAborted();
    return {
      config,
      registration,
      ...(found && { interface: found }),
      ...(links && { links }),
      ...(health && { health }),
      undoLocal: () => undoAll(local),
    };
  } catch (error) {
    await undoAll(undo).catch((failed: unknown) =>
      ctx.log.warn({ error: String(failed) }, "what was done could not all be undone"),
    );
    throw error;
  }
}

/**
 * Leave: fail the probes and take no new connections until the load balancer has noticed, then remove this machine's own
 * entry and what was made on it. It works also where the context's signal has ended everything else. With `mostDrainMs` 0
 * it only removes.
 */
export async function cleanup(
  ctx: ApplianceContext,
  applied: Pick<Applied, "config" | "health" | "undoLocal">,
  options: { mostDrainMs?: number | undefined } = {},
): Promise<Deregistration> {
  const { config, health, undoLocal } = applied;
  const going = unstopped(ctx);
  try {
    await Promise.all([
      options.mostDrainMs !== 0 && drainInBackendPool(going, config),
      health?.leave(config.probe, options.mostDrainMs),
    ]);
    return await deregisterFromBackendPool(going, config);
  } finally {
    await undoLocal().finally(() => health?.close());
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

/**
 * The load balancer may probe another port than was thought. A probe that the agent cannot answer is refused before
 * anything is written: the machine would be in the pool, and never be well.
 */
async function listenForProbe(
  { log }: ApplianceContext,
  health: HealthServer,
  { probe, loadBalancerName }: GWLBConfig,
  { port: asked, tls }: HealthOptions,
): Promise<void> {
  if (probe === undefined) return;
  if (probe.protocol === "Https" && tls === undefined) {
    const what = `answer the health probes of ${loadBalancerName}`;
    const seen = `port ${probe.port}`;
    throw new ApplianceError({ code: "HealthCertificateMissing", what, seen });
  }
  if (asked === 0 || health.ports.includes(probe.port)) return;
  log.warn({ probe: probe.port, listening: health.ports }, "the load balancer probes another port");
  await health.listen(probe.port);
}

/** An agent that asks itself for the appliance is well for ever, and its first probe never ends. */
function refuseItself(
  health: HealthServer,
  { privateIP }: GWLBConfig,
  { health: { host = "0.0.0.0" } = { port: 0 }, handOver }: ApplyOptions,
): void {
  if (!(handOver instanceof URL)) return;
  const { hostname, protocol, port } = handOver;
  if (!health.ports.includes(Number(port || (protocol === "http:" ? 80 : 443)))) return;
  const everywhere = host === "0.0.0.0" || host === "::";
  const here = /^(localhost|127\..*|0\.0\.0\.0|\[::1?\])$/.test(hostname) || hostname === privateIP;
  if (hostname !== host && !(everywhere && here)) return;
  const what = `ask the appliance at ${handOver.host}`;
  const seen = "the agent itself answers there";
  throw new ApplianceError({ code: "HealthPortTaken", what, seen });
}

/**
 * It is not waited for: an appliance may start only when it has been told its ingress device, and until it is well the
 * agent answers for it.
 */
function beginHandOver(
  { log }: ApplianceContext,
  health: HealthServer,
  to: RequestListener | URL,
): void {
  health.handOver(to).then(
    () => log.info({}, "the appliance answers the probes"),
    // It leaves, or a later step failed.
    () => log.debug({}, "the probes were not handed over"),
  );
}

/** What undoes must not end with what it undoes. */
export function unstopped(ctx: ApplianceContext): ApplianceContext {
  return ctx.until(new AbortController().signal);
}

/** Undo all, the last first, also where one of them fails; the first failure is told. */
async function undoAll(undo: (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const each of undo.splice(0).reverse())
    await each().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
