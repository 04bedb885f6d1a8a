import { provisioningOf } from "@postern/core/provisioning.ts";
import { AzureError } from "../azure/errors.ts";
import { type BackendPool, backendPools } from "../azure/gateways/backend-pools.ts";
import type { ApplianceContext } from "./context.ts";
import { ApplianceError } from "./errors.ts";
import type { GWLBConfig } from "./gwlb-config.ts";
import { dissociate } from "./join-interface.ts";
import {
  asItIs,
  hasOwnIn,
  membershipIn,
  sizeOf,
  withAdminState,
  withoutMember,
} from "./pool-members.ts";
import { reason } from "./register.ts";
import { type Attempt, callerUntil, retryUntil, type Step } from "./retry.ts";
import { type PoolWrite, writePool } from "./write-pool.ts";

/** How a machine left. */
export interface Deregistration {
  /** `kept`: it is in the pool by its interface or by an entry that somebody else put there. */
  state: "left" | "absent" | "kept";
  seconds: number;
  retries: number;
}

const deregisterMs = 20_000;
const drainMs = 5_000;
/** How long to watch Azure at work on a pool that does not name this machine any more. */
const settleMs = 6_000;

/**
 * Let this machine take no new connections before it leaves; true where that was written. It is a favour to connections
 * and no condition of leaving: it is tried once, and neither a pool that others write to nor one that refuses it matters.
 * Only the agent's own entry by address, which goes with the machine: what somebody else put there would stay Down.
 */
export async function drainInBackendPool(
  ctx: ApplianceContext,
  config: GWLBConfig,
  options: { limitMs?: number } = {},
): Promise<boolean> {
  const over = new AbortController();
  const limitMs = Math.min(drainMs, options.limitMs ?? drainMs);
  const cancel = ctx.clock.after(limitMs, () => over.abort(new Error("the time is over")));
  const signal = AbortSignal.any([ctx.signal, over.signal]);
  try {
    const arm = ctx.azure(config.environment).for(callerUntil(signal));
    const pool = await backendPools(arm).get(config.backendPoolResourceId);
    const membership = pool && membershipIn(pool, config);
    if (pool === undefined || membership?.madeBy !== "this agent" || membership.drained)
      return false;
    await writePool(arm, ctx.clock, pool, withAdminState(pool, config, "Down"));
    return true;
  } catch (error) {
    if (!(error instanceof AzureError)) throw error;
    ctx.log.debug({ code: error.code }, "not drained");
    return false;
  } finally {
    cancel();
  }
}

/** Take this machine's own entry out of the pool, and nobody else's. */
export async function deregisterFromBackendPool(
  ctx: ApplianceContext,
  config: GWLBConfig,
  options: { limitMs?: number } = {},
): Promise<Deregistration> {
  const { limitMs = deregisterMs } = options;
  const startedAt = ctx.clock.now();
  const what = `leave the backend pool "${config.backendPoolName}"`;
  const ended = (cause: unknown) =>
    new ApplianceError({ code: "DeregistrationTimedOut", what, detail: reason(cause), cause });
  const state: DeregisterState = { wrote: false, spread: false, waits: 0, members: 1 };
  const contention = () => Math.max(300, apart(state));
  const result = await retryUntil(ctx, { what: "deregister", limitMs, ended, contention }, (pass) =>
    removeEntry(ctx, config, state, pass),
  );
  if (result.state !== "kept") ctx.metrics.registered(false);
  const deregistration = { ...result, seconds: (ctx.clock.now() - startedAt) / 1000 };
  const message =
    result.state === "kept" ? "stays in the pool: somebody else put it there" : "deregistered";
  ctx.log.info({ pool: config.backendPoolResourceId, ...deregistration }, message);
  return deregistration;
}

/**
 * At worst all members of a pool leave at once, and each write that comes about makes those fail that were read for before
 * it. So who leaves a large pool takes a moment first, and who met another takes one again: so long, for each member, that
 * of two hundred about forty write in a second.
 */
const apartMs = 25;
const largePool = 20;

interface DeregisterState {
  wrote: boolean;
  /** The moment has been taken. */
  spread: boolean;
  lastWrite?: PoolWrite | undefined;
  absentSince?: number | undefined;
  waits: number;
  /** How many the pool had when it was last read. */
  members: number;
}

type Departure = Omit<Deregistration, "seconds">;

async function removeEntry(
  ctx: ApplianceContext,
  config: GWLBConfig,
  state: DeregisterState,
  pass: Attempt,
): Promise<Step<Departure>> {
  const arm = ctx.azure(config.environment).for(callerUntil(pass.signal));
  const pool = await backendPools(arm).get(config.backendPoolResourceId);
  const { retries } = pass;
  const done = { done: { state: state.wrote ? "left" : "absent", retries } } as const;
  if (pool === undefined) return done;
  state.members = sizeOf(pool);
  // Also one with an address that the machine had before, which an agent that was killed may have left.
  const own = hasOwnIn(pool, config);
  if (own && !state.spread && state.members > largePool) {
    state.spread = true;
    return { againAfterMs: ctx.random() * apart(state) };
  }
  const write = async (body: BackendPool): Promise<Step<Departure>> => {
    state.wrote = true;
    state.lastWrite = await writePool(arm, ctx.clock, pool, body);
    state.waits = 0;
    return { againAfterMs: state.lastWrite.running ? nextReadMs(state) : 0 };
  };
  if (own) {
    state.absentSince = undefined;
    return write(withoutMember(pool, config));
  }
  const by = membershipIn(pool, config)?.by;
  if (by !== undefined) {
    const how = by === "interface" ? await dissociate(arm, config) : "kept";
    if (how === "kept") return { done: { state: "kept", retries } };
    if (how === "gone") return done;
    state.wrote = true;
    return { againAfterMs: 0 };
  }
  if (!state.wrote || state.lastWrite === undefined) return done;
  state.absentSince ??= ctx.clock.now();
  switch (provisioningOf(pool)) {
    case "succeeded":
      return done;
    case "changing": {
      // It goes on without us; whoever has written since had read that we are gone, and looks after the end.
      const { etag } = state.lastWrite;
      if (etag !== undefined && pool.etag !== etag) return done;
      const againAfterMs = nextReadMs(state);
      const isSettled = ctx.clock.now() - state.absentSince >= settleMs;
      return isSettled || againAfterMs >= pass.remainingMs() ? done : { againAfterMs };
    }
    case "failed":
      return write(asItIs(pool));
  }
}

function nextReadMs(state: DeregisterState): number {
  return 1_000 * 2 ** Math.min(state.waits++, 2);
}

function apart({ members }: DeregisterState): number {
  return Math.min(5_000, apartMs * members);
}
