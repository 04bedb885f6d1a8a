import { type Clock, realClock } from "@postern/core/clock.ts";
import { Bucket, type BucketState, type Limit } from "./bucket.ts";

/** The three things that Azure counts. */
export type Kind = "reads" | "writes" | "deletes";

/** One bucket for each kind of request. */
export type Budget = Readonly<Record<Kind, Bucket>>;

/** Whose requests Azure counts together. */
export interface BudgetKey {
  identity: string;
  subscription: string;
  region: string;
}

/** What Azure gives each identity in each subscription and region:
 * https://learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling */
export const armLimits: Readonly<Record<Kind, Limit>> = {
  reads: { burst: 250, perSecond: 25 },
  writes: { burst: 200, perSecond: 10 },
  deletes: { burst: 200, perSecond: 10 },
};

/** All budgets of a process. Those who share an identity, a subscription and a region share a budget. */
export class Budgets {
  readonly #limits: Readonly<Record<Kind, Limit>>;
  readonly #clock: Clock;
  readonly #budgets = new Map<string, { key: BudgetKey; budget: Budget }>();

  constructor(options: { limits?: Partial<Record<Kind, Limit>>; clock?: Clock } = {}) {
    this.#limits = { ...armLimits, ...options.limits };
    this.#clock = options.clock ?? realClock;
  }

  of(key: BudgetKey): Budget {
    const name = `${key.identity}\n${key.subscription}\n${key.region}`.toLowerCase();
    const held = this.#budgets.get(name);
    if (held !== undefined) return held.budget;
    const budget: Budget = {
      reads: new Bucket(this.#limits.reads, this.#clock),
      writes: new Bucket(this.#limits.writes, this.#clock),
      deletes: new Bucket(this.#limits.deletes, this.#clock),
    };
    this.#budgets.set(name, { key, budget });
    return budget;
  }

  /** Forget the budgets of an identity. */
  forget(identity: string): void {
    const start = `${identity}\n`.toLowerCase();
    for (const name of this.#budgets.keys()) if (name.startsWith(start)) this.#budgets.delete(name);
  }

  /** What metrics and the dashboard show. */
  states(): (BudgetKey & Record<Kind, BucketState>)[] {
    return [...this.#budgets.values()].map(({ key, budget: { reads, writes, deletes } }) => ({
      ...key,
      reads: reads.state(),
      writes: writes.state(),
      deletes: deletes.state(),
    }));
  }
}

/** What Azure says is left: the least of its plain counters in an answer. */
export function remainingIn(headers: Record<string, unknown>): number | undefined {
  let least: number | undefined;
  for (const name in headers) {
    if (!name.startsWith("x-ms-ratelimit-remaining-subscription-")) continue;
    const text = headers[name];
    if (typeof text !== "string" || !/^\d+$/.test(text)) continue;
    least = Math.min(least ?? Number.POSITIVE_INFINITY, Number(text));
  }
  return least;
}
