import { type Clock, realClock } from "../model/clock.ts";
import { type Failure, isExplained } from "../model/failure.ts";
import { type Kind, type KubeObject, keyOf } from "../model/kind.ts";
import { Caches } from "./caches.ts";
import type { KubeClient } from "./client.ts";
import type { Feature, Plan } from "./feature.ts";
import type { Log } from "./log.ts";
import { RunningPass } from "./pass.ts";
import type { MakeFeature } from "./runtime.ts";

/** What a feature would do next with one object, or why it cannot say. */
export type Planned = { feature: string; kind: Kind; key: string } & (
  | { plan: Plan }
  | { failure: Failure }
);

export interface DryRunOptions {
  client: KubeClient;
  features: readonly MakeFeature[];
  log: Log;
  signal: AbortSignal;
  clock?: Clock;
  namespace?: string | undefined;
}

/** So many objects are looked at at once; what bounds it is Azure's budget, which is kept elsewhere. */
const atOnce = 32;

/** See and plan once for every object, as the controllers would, and write nothing. */
export async function dryRun(options: DryRunOptions): Promise<Planned[]> {
  const { client, log, namespace, features } = options;
  const clock = options.clock ?? realClock;
  const caches = new Caches({ client, log, namespace, clock });
  client.guard(() => false);
  const made = features.map((make) => {
    caches.takeAsked();
    const { feature, whereServed = false } = make({ caches, kube: client });
    caches.of(feature.kind);
    return { feature, whereServed, asked: caches.takeAsked() };
  });
  const over = new AbortController();
  const watching = caches.start(AbortSignal.any([options.signal, over.signal]));
  try {
    const work: (() => Promise<Planned>)[] = [];
    for (const { feature, asked, whereServed } of made) {
      await known(
        [...asked].map(([cache, needed]) => (needed && !whereServed ? cache.filled : cache.known)),
        options.signal,
      );
      for (const object of caches.of(feature.kind).list())
        work.push(() => planOne(feature, object, { clock, log, signal: options.signal }));
    }
    return await inTurns(work, atOnce);
  } finally {
    over.abort();
    await watching;
  }
}

/** See and plan once for one object, and write nothing. */
export async function planOne(
  feature: Feature,
  object: KubeObject,
  { clock, log, signal }: { clock: Clock; log: Log; signal: AbortSignal },
): Promise<Planned> {
  const key = keyOf(object);
  const pass = new RunningPass(key, "change", {
    clock,
    mayWrite: () => false,
    makeLog: () => log,
  });
  const end = () => pass.end("NotLeader");
  signal.addEventListener("abort", end, { once: true });
  const about = { feature: feature.name, kind: feature.kind, key };
  try {
    return { ...about, plan: feature.plan(await feature.see(object, pass)) };
  } catch (error) {
    signal.throwIfAborted();
    if (!isExplained(error)) throw error;
    return { ...about, failure: error.explain() };
  } finally {
    signal.removeEventListener("abort", end);
    pass.over();
  }
}

function known(all: readonly Promise<unknown>[], signal: AbortSignal): Promise<unknown> {
  const stopped = new Promise<never>((_, refuse) => {
    if (signal.aborted) refuse(signal.reason);
    signal.addEventListener("abort", () => refuse(signal.reason), { once: true });
  });
  return Promise.race([Promise.all(all), stopped]);
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
