import { type Clock, realClock } from "@postern/core/clock.ts";
import { type Failure, isExplained } from "@postern/core/failure.ts";
import { type Kind, type KubeObject, keyOf } from "@postern/core/kind.ts";
import { redact } from "@postern/core/redact.ts";
import type { WatchCache } from "./cache.ts";
import { Caches } from "./caches.ts";
import { collectionPath, type KubeClient } from "./client.ts";
import { KubeError } from "./errors.ts";
import type { Feature, Plan } from "./feature.ts";
import type { Log } from "./log.ts";
import { RunningReconcile } from "./reconcile.ts";
import type { MakeFeature } from "./runtime.ts";
import { planByPolicy, type StepPolicy } from "./step-policy.ts";

/** What a feature would do next with one object, or why it cannot say. */
export type Planned = { feature: string; kind: Kind; key: string } & (
  | { plan: Plan; failedReads: readonly Failure[] }
  | { failure: Failure }
);

/** A feature that has no plans, because the API server does not serve a kind that it needs. */
export interface Unplanned {
  feature: string;
  kind: Kind;
}

export interface DryRunOptions {
  client: KubeClient;
  features: readonly MakeFeature[];
  log: Log;
  signal: AbortSignal;
  clock?: Clock;
  /** The `--policy` of the operator. Default: everything may be written. */
  policy?: StepPolicy | undefined;
}

/** How many objects are planned at once. The budget of requests to Azure is what limits them. */
const atOnce = 32;

/** So many sockets are enough for lists and for what a plan reads beside them. */
const sockets = 32;

/** Observe and plan once for every object, as the controllers would, and write nothing. */
export async function dryRun(
  options: DryRunOptions,
): Promise<{ plans: Planned[]; unplanned: Unplanned[] }> {
  const { log, features } = options;
  const clock = options.clock ?? realClock;
  // A client of its own: the caller may want to write with the other one.
  const client = options.client.apart(sockets);
  client.guard(() => false);
  const caches = new Caches({ client, log, clock });
  const made = features.map((make) => {
    caches.takeRequested();
    const { feature, whereServed } = make({ caches, kube: client });
    caches.of(feature.kind);
    return { feature, whereServed, asked: caches.takeRequested() };
  });
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  const watching = caches.start(signal).catch((error: unknown) => over.abort(error));
  try {
    const work: (() => Promise<Planned>)[] = [];
    const unplanned: Unplanned[] = [];
    for (const { feature, asked, whereServed } of made) {
      await unlessAborted(Promise.all([...asked.keys()].map((cache) => cache.known)), signal);
      const needed = [...asked].flatMap(([cache, needs]) => (needs ? [cache] : []));
      const unserved = await unservedOf(needed, client, signal);
      // As in the operator: without a kind that it needs a feature does not begin.
      if (unserved !== undefined) {
        if (whereServed !== "optional") unplanned.push({ feature: feature.name, kind: unserved });
        continue;
      }
      for (const object of caches.of(feature.kind).list())
        work.push(() => planOne(feature, object, { clock, log, signal, policy: options.policy }));
    }
    return { plans: await inTurns(work, atOnce), unplanned };
  } finally {
    over.abort();
    await watching;
    client.close();
  }
}

/** The first kind that the API server does not serve; undefined where there is none. One that is not shown is an error. */
async function unservedOf(
  needed: readonly WatchCache[],
  client: KubeClient,
  signal: AbortSignal,
): Promise<Kind | undefined> {
  for (const { kind, filled } of needed.filter((cache) => !cache.health().filled)) {
    try {
      await client.request("GET", `${collectionPath(kind, undefined)}?limit=1`, { signal });
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return kind;
      throw error;
    }
    await unlessAborted(filled, signal);
  }
  return undefined;
}

/** Observe and plan once for one object, and write nothing. */
export async function planOne(
  feature: Feature,
  object: KubeObject,
  {
    clock,
    log,
    signal,
    policy,
  }: { clock: Clock; log: Log; signal: AbortSignal; policy: StepPolicy | undefined },
): Promise<Planned> {
  const key = keyOf(object);
  // After changes, and from recent reads where there are any: a dry run must not delay the operator.
  const reconcile = new RunningReconcile(key, "retry", {
    clock,
    mayWrite: () => false,
    makeLog: () => log,
  });
  const end = () => reconcile.end("NotLeader");
  signal.addEventListener("abort", end, { once: true });
  const about = { feature: feature.name, kind: feature.kind, key };
  try {
    const plan = planByPolicy(feature, object, await feature.observe(object, reconcile), policy);
    return { ...about, plan, failedReads: reconcile.failedReads };
  } catch (error) {
    signal.throwIfAborted();
    if (!isExplained(error)) throw error;
    const failure = error.explain();
    return { ...about, failure: { ...failure, message: redact(failure.message) } };
  } finally {
    signal.removeEventListener("abort", end);
    reconcile.over();
  }
}

function unlessAborted(work: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  const stopped = new Promise<never>((_, refuse) => {
    if (signal.aborted) refuse(signal.reason);
    signal.addEventListener("abort", () => refuse(signal.reason), { once: true });
  });
  return Promise.race([work, stopped]);
}

/** The results in order, with so many under way at once. */
async function inTurns<T>(work: readonly (() => Promise<T>)[], width: number): Promise<T[]> {
  const results: T[] = new Array(work.length);
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < work.length; at = next++)
      results[at] = await (work[at] as () => Promise<T>)();
  };
  await Promise.all(Array.from({ length: Math.min(width, work.length) }, worker));
  return results;
}
