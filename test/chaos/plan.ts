import type { Effect } from "@postern/azure-simulator/control/fault-rule.ts";
import { seededRandom } from "@postern/azure-simulator/control/seeded-random.ts";
import { applianceNames, hostedSlots, workloadSlots } from "./places.ts";

/** How Postern is deployed in a storm: one operator for everything, or one for each role. */
export type Layout = "all" | "split";

/** One thing that the storm does. Times are in simulated seconds. */
export type Deed =
  | { do: "create" | "delete" | "change" | "pause" | "unpause"; cluster: string; variant: number }
  | { do: "delete all" }
  | { do: "machine event"; machine: string; type: "Reboot" | "Terminate" | "Preempt" }
  | { do: "evict"; machine: string }
  | { do: "drop" | "modify" | "retag"; pick: number; variant: number }
  | { do: "stranger"; variant: number }
  | { do: "Azure fails"; effect: Effect; share: number; writes?: boolean; forSeconds: number }
  | { do: "refuse tokens"; forSeconds: number }
  | { do: "revoke"; pick: number; forSeconds: number }
  | { do: "kill API server" }
  | { do: "slow API server"; delayMs: number; forSeconds: number }
  | { do: "failing API server"; share: number; status: number; forSeconds: number }
  | { do: "cut watches" }
  | { do: "kill leader" | "kill follower"; pick: number; startAgainSeconds: number }
  | { do: "freeze leader"; pick: number; forSeconds: number }
  | { do: "kill agent"; machine: string };

/** A deed with its number, by which it can be chosen, and its time in simulated seconds from the beginning. */
export type Entry = Deed & { n: number; at: number };

/** A storm: everything that will be done, made from the seed before anything begins. */
export interface Storm {
  seed: number;
  layout: Layout;
  seconds: number;
  entries: readonly Entry[];
}

/** How hard a storm is. */
export interface Strength {
  /** Simulated seconds. */
  seconds: number;
  /** What may happen beside the life of the clusters. */
  faults: boolean;
}

const serverBusy = { error: { code: "ServerBusy", message: "made by the storm" } };
const internal = { error: { code: "InternalServerError", message: "made by the storm" } };

/** What happens to single requests; together one in ten. */
const weather: readonly {
  effect: (random: () => number) => Effect;
  share: number;
  writes?: boolean;
}[] = [
  {
    effect: (random) => ({ kind: "throttled", retryAfterSeconds: 1 + Math.floor(random() * 30) }),
    share: 0.012,
  },
  {
    effect: () => ({
      kind: "answer",
      status: 429,
      body: { error: { code: "TooManyRequests", message: "made by the storm" } },
    }),
    share: 0.012,
  },
  { effect: () => ({ kind: "answer", status: 500, body: internal }), share: 0.012 },
  { effect: () => ({ kind: "answer", status: 503, body: serverBusy }), share: 0.012 },
  { effect: () => ({ kind: "lost", when: "before" }), share: 0.012 },
  { effect: () => ({ kind: "lost", when: "after" }), share: 0.012 },
  { effect: () => ({ kind: "dropped" }), share: 0.01 },
  { effect: () => ({ kind: "html", status: 502 }), share: 0.01 },
  {
    effect: (random) => ({ kind: "stale", ms: Math.floor(5_000 + random() * 55_000) }),
    share: 0.02,
  },
  {
    effect: (random) => ({ kind: "operation", ms: Math.floor(30_000 + random() * 270_000) }),
    share: 0.1,
    writes: true,
  },
  {
    effect: () => ({
      kind: "operation",
      ms: 20_000,
      error: { code: "InternalServerError", message: "made by the storm" },
    }),
    share: 0.05,
    writes: true,
  },
  { effect: () => ({ kind: "operation", never: true }), share: 0.01, writes: true },
];

/** Make the storm of a seed. */
export function stormOf(seed: number, { seconds, faults }: Strength): Storm {
  const random = seededRandom(`storm ${seed}`);
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const between = (from: number, to: number) => from + random() * (to - from);
  const whole = (from: number, to: number) => Math.floor(between(from, to + 1));
  const layout: Layout = random() < 0.5 ? "all" : "split";
  const deeds: (Deed & { at: number })[] = [];
  const clusters = [...hostedSlots.map(({ name }) => name), ...workloadSlots];

  // Most are there early, so that there is something to strike.
  for (const cluster of clusters)
    if (random() < 0.8)
      deeds.push({ do: "create", cluster, variant: whole(0, 9), at: between(0, seconds * 0.1) });
  const lives = ["create", "create", "delete", "delete", "change", "pause", "unpause"] as const;
  for (let i = whole(14, 22); i > 0; i--)
    deeds.push({
      do: pick(lives),
      cluster: pick(clusters),
      variant: whole(0, 9),
      at: between(seconds * 0.1, seconds),
    });
  if (random() < 0.4) deeds.push({ do: "delete all", at: between(seconds * 0.3, seconds * 0.8) });
  for (const machine of applianceNames) {
    if (random() < 0.5)
      deeds.push({
        do: "machine event",
        machine,
        type: pick(["Reboot", "Terminate", "Preempt"] as const),
        at: between(seconds * 0.2, seconds),
      });
    if (random() < 0.6) deeds.push({ do: "evict", machine, at: between(seconds * 0.2, seconds) });
  }
  if (!faults) return made(seed, layout, seconds, deeds);

  for (let i = whole(8, 14); i > 0; i--)
    deeds.push({
      do: pick(["drop", "drop", "modify", "modify", "retag"] as const),
      pick: random(),
      variant: whole(0, 9),
      at: between(seconds * 0.15, seconds),
    });
  for (let i = whole(2, 4); i > 0; i--)
    deeds.push({ do: "stranger", variant: whole(0, 9), at: between(0, seconds) });
  for (const { effect, share, writes } of weather)
    deeds.push({
      do: "Azure fails",
      effect: effect(random),
      share,
      ...(writes && { writes }),
      at: 0,
      forSeconds: seconds,
    });
  if (random() < 0.6)
    deeds.push({ do: "refuse tokens", forSeconds: whole(30, 180), at: between(0, seconds) });
  for (let i = whole(1, 3); i > 0; i--)
    deeds.push({
      do: "revoke",
      pick: random(),
      forSeconds: whole(60, 300),
      at: between(0, seconds * 0.9),
    });

  if (random() < 0.6)
    deeds.push({ do: "kill API server", at: between(seconds * 0.1, seconds * 0.9) });
  if (random() < 0.6)
    deeds.push({
      do: "slow API server",
      delayMs: whole(100, 600),
      forSeconds: whole(60, 240),
      at: between(0, seconds),
    });
  for (let i = whole(1, 2); i > 0; i--)
    deeds.push({
      do: "failing API server",
      share: between(0.05, 0.3),
      status: pick([429, 500, 503]),
      forSeconds: whole(60, 240),
      at: between(0, seconds),
    });
  for (let i = whole(1, 4); i > 0; i--) deeds.push({ do: "cut watches", at: between(0, seconds) });
  for (let i = whole(2, 4); i > 0; i--)
    deeds.push({
      do: random() < 0.75 ? "kill leader" : "kill follower",
      pick: random(),
      startAgainSeconds: whole(30, 120),
      at: between(seconds * 0.1, seconds),
    });
  if (random() < 0.6)
    deeds.push({
      do: "freeze leader",
      pick: random(),
      forSeconds: whole(240, 540),
      at: between(seconds * 0.1, seconds * 0.8),
    });
  if (random() < 0.7)
    deeds.push({ do: "kill agent", machine: pick(applianceNames), at: between(0, seconds) });
  return made(seed, layout, seconds, deeds);
}

function made(
  seed: number,
  layout: Layout,
  seconds: number,
  deeds: (Deed & { at: number })[],
): Storm {
  const entries = deeds
    .map((deed) => ({ ...deed, at: Math.round(deed.at) }))
    .sort((a, b) => a.at - b.at)
    .map((deed, n) => ({ ...deed, n: n + 1 }));
  return { seed, layout, seconds, entries };
}

/** An entry as a person reads it. */
export function told({ n, at, do: what, ...rest }: Entry): string {
  const more = Object.entries(rest).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return `${String(n).padStart(3)}  ${String(at).padStart(5)} s  ${[what, ...more].join(" ")}`;
}
