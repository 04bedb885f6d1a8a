import { AzureError } from "../azure/errors.ts";
import { type BackendPool, backendPools } from "../azure/gateways/backend-pools.ts";
import { refusesAddresses } from "../azure/wording.ts";
import type { ApplianceContext } from "./context.ts";
import { ApplianceError } from "./errors.ts";
import type { GWLBConfig } from "./gwlb-config.ts";
import { associate } from "./join-interface.ts";
import { type JoinBy, planJoin } from "./plan-join.ts";
import {
  asItIs,
  type Membership,
  membershipIn,
  withAdminState,
  withMember,
} from "./pool-members.ts";
import { type Attempt, callerUntil, retryUntil, type Step } from "./retry.ts";
import { isSuperseded, type PoolWrite, writePool } from "./write-pool.ts";

/** How to join. */
export interface RegisterOptions {
  joinBy?: JoinBy;
  /** How long in all. */
  limitMs?: number;
  /** Told before anything is written: from then on the machine may be in the pool, also where this fails. */
  writing?: () => void;
}

/** A registration that is there. */
export interface Registration {
  by: "address" | "interface";
  /** Whether anything had to be written for it. */
  wrote: boolean;
  /** False where Azure was still at work on the pool when the entry had been there for long. */
  settled: boolean;
  seconds: number;
  retries: number;
}

const registerMs = 120_000;
/** How much of it a write that is under way has at the end, to be answered. */
const longestFinishMs = 5_000;
/** Others may go on writing to the pool for long. An entry that has stayed through so much of it is there. */
const settleMs = 30_000;
/** A pool that refuses what it was read to take is decided about anew so often. */
const mostRefusals = 3;

/** Whether this machine is in the pool, by its interface or by its address. */
export async function isRegisteredWithBackendPool(
  ctx: ApplianceContext,
  config: GWLBConfig,
): Promise<boolean> {
  return (await membershipInBackendPool(ctx, config)) !== undefined;
}

/** How this machine is in the pool; undefined where it is not. */
export async function membershipInBackendPool(
  ctx: ApplianceContext,
  config: GWLBConfig,
): Promise<Membership | undefined> {
  const arm = ctx.azure(config.environment).for(callerUntil(ctx.signal));
  const pool = await backendPools(arm).get(config.backendPoolResourceId);
  const membership = pool && membershipIn(pool, config);
  ctx.metrics.registered(membership !== undefined);
  return membership;
}

/**
 * Put this machine into the pool. Where it is there already nothing is written. It is there when it was read there after
 * the write, so that nobody need believe in a write that another one undid.
 */
export async function registerWithBackendPool(
  ctx: ApplianceContext,
  config: GWLBConfig,
  options: RegisterOptions = {},
): Promise<Registration> {
  const { joinBy = "auto", limitMs = registerMs } = options;
  const startedAt = ctx.clock.now();
  const what = `join the backend pool "${config.backendPoolName}"`;
  const ended = (cause: unknown) =>
    new ApplianceError({ code: "RegistrationTimedOut", what, detail: reason(cause), cause });
  const { writing = () => undefined } = options;
  const state: Joining = {
    joinBy,
    what,
    writing,
    wrote: false,
    addressesRefused: false,
    refusals: 0,
    waits: 0,
  };
  const finishMs = Math.min(longestFinishMs, limitMs / 10);
  const retryOptions = { what: "register", limitMs, ended, finishMs } as const;
  const made = await retryUntil(ctx, retryOptions, (pass) => join(ctx, config, state, pass));
  const seconds = (ctx.clock.now() - startedAt) / 1000;
  const registration = { ...made, wrote: state.wrote, seconds };
  ctx.metrics.registered(true);
  if (state.wasMissing === true) ctx.metrics.repaired();
  if (state.wrote) ctx.metrics.registeredAfter(seconds);
  ctx.log.info({ pool: config.backendPoolResourceId, ...registration }, "registered");
  return registration;
}

/** What is remembered from one try to the next. */
interface Joining {
  joinBy: JoinBy;
  what: string;
  writing: () => void;
  wrote: boolean;
  addressesRefused: boolean;
  /** How often Azure refused what the pool holds. */
  refusals: number;
  /** The write that may still be going on. */
  lastWrite?: PoolWrite | undefined;
  /** Since when the entry was seen in every read. */
  presentSince?: number | undefined;
  /** How often it was looked at since the last write. */
  waits: number;
  wasMissing?: boolean;
}

type Joined = Omit<Registration, "wrote" | "seconds">;

async function join(
  ctx: ApplianceContext,
  config: GWLBConfig,
  state: Joining,
  pass: Attempt,
): Promise<Step<Joined>> {
  const azure = ctx.azure(config.environment);
  const arm = azure.for(callerUntil(pass.signal));
  const pool = await backendPools(arm).get(config.backendPoolResourceId);
  if (pool === undefined)
    throw new ApplianceError({
      code: "PoolGone",
      what: state.what,
      detail: config.backendPoolResourceId,
    });
  const step = planJoin({ ...state, pool, config });
  noticeLoss(ctx, config, state, pool);
  const { retries } = pass;
  const write = async (body: BackendPool): Promise<Step<Joined>> => {
    beginWrite(state);
    state.lastWrite = await writePool(azure.for(pass.writer), ctx.clock, pool, body);
    state.waits = 0;
    return { againAfterMs: state.lastWrite.running ? nextReadMs(state) : 0 };
  };
  switch (step.do) {
    case "nothing":
      return { done: { by: step.by, settled: true, retries } };
    case "wait": {
      const againAfterMs = nextReadMs(state);
      const isSettled = ctx.clock.now() - (state.presentSince ?? 0) >= settleMs;
      if (isSettled || againAfterMs >= pass.remainingMs())
        return { done: { by: step.by, settled: false, retries } };
      return { againAfterMs };
    }
    case "add":
      return await unlessRefused(state, () => write(withMember(pool, config)));
    case "restore":
      return write(withAdminState(pool, config, "None"));
    case "rewrite":
      await explainFailure(state);
      return write(asItIs(pool));
    case "associate":
      return await unlessRefused(state, async () => {
        const writing = () => beginWrite(state);
        const wrote = await associate(azure.for(pass.writer), config, writing);
        // The pool may be read as it was before the interface was written.
        return { againAfterMs: wrote ? 0 : nextReadMs(state) };
      });
    case "refuse":
      throw new ApplianceError({ code: step.code, what: state.what, detail: pool.id });
  }
}

/** Before the answer: a write whose answer is lost may have come about. */
function beginWrite(state: Joining): void {
  state.wrote = true;
  state.writing();
}

/** After 1 s, 3 s, 7 s and 15 s, and then every 8 s: what ends in a quarter of a minute costs four reads at most. */
function nextReadMs(state: Joining): number {
  return Math.min(8_000, 1_000 * 2 ** state.waits++);
}

function noticeLoss(
  { clock, metrics, log }: ApplianceContext,
  config: GWLBConfig,
  state: Joining,
  pool: BackendPool,
): void {
  if (membershipIn(pool, config) !== undefined) {
    state.presentSince ??= clock.now();
    return;
  }
  // A write that Azure took and a read that showed the entry are the same promise.
  if (state.presentSince === undefined && state.lastWrite === undefined) return;
  state.presentSince = undefined;
  state.lastWrite = undefined;
  state.waits = 0;
  state.wasMissing = true;
  metrics.missing();
  log.warn({ pool: pool.id }, "the registration was made and is gone");
}

/** Where the last write to the pool failed and was ours: why. One that another took the place of is no failure. */
async function explainFailure(state: Joining): Promise<void> {
  const { lastWrite } = state;
  state.lastWrite = undefined;
  const error = await lastWrite?.failure();
  if (error !== undefined && !isSuperseded(error)) throw error;
}

/** A pool that takes no addresses, or whose members have become others since it was read, is decided about anew. */
async function unlessRefused<T>(
  state: Joining,
  write: () => Promise<T>,
): Promise<T | { againAfterMs: number }> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof AzureError) || error.status !== 400) throw error;
    const mixed = error.code.startsWith("CannotMixIPBasedAddresses");
    if (!mixed && !refusesAddresses(error.message)) throw error;
    // A pool may be of another kind than its members show, such as an empty one that names a network.
    if (++state.refusals > mostRefusals) throw error;
    if (!mixed) state.addressesRefused = true;
    state.wrote = false;
    return { againAfterMs: (state.refusals - 1) * 1_000 };
  }
}

/** What went wrong last, in one clause. */
export function reason(cause: unknown): string | undefined {
  return cause instanceof AzureError || cause instanceof ApplianceError ? cause.message : undefined;
}
