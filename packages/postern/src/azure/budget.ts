import { type Clock, realClock } from "@postern/core/clock.ts";
import type { Priority } from "@postern/core/priority.ts";
import { Bucket } from "./bucket.ts";
import { defaultDriftShare } from "./drift-interval.ts";
import type { AzureError } from "./errors.ts";
import {
  azureLimits,
  type Kind,
  type LimitName,
  type Limits,
  type Provider,
  sharedLimitsOf,
} from "./limits.ts";
import { Line, type ScheduledRequest, Scheduler } from "./scheduler.ts";
import { type SpareRead, SpareReads } from "./spare-reads.ts";

/** Whose requests Resource Manager counts together. */
export interface BudgetKey {
  identity: string;
  subscription: string;
  region: string;
}

/** What a request is counted as. */
export interface Counted extends BudgetKey {
  kind: Kind;
  provider: Provider;
}

/** The budget of one kind of requests as the dashboard shows it. */
export interface BudgetState {
  /** Requests that may be sent now, by the tightest limit. */
  remaining: number;
  waiting: Record<Priority, number>;
  /** How long Azure still wants to hear nothing. */
  parkedForMs: number;
}

/** What a process may ask of Azure as one identity in one subscription. `dnsReads` are among the reads. */
export type BudgetStates = BudgetKey & Record<Kind | "dnsReads", BudgetState>;

/** The limits of one subscription, for all identities by which this process acts in it. */
interface Subscription {
  scheduler: Scheduler;
  shared: Map<LimitName, Bucket>;
  /** The DNS reads that drift checks may use. */
  spareDnsReads: SpareReads;
  identities: Map<string, Identity>;
}

interface Identity {
  key: BudgetKey;
  buckets: Record<Kind, Bucket>;
  budgets: Map<string, Budget>;
}

/** What one kind of requests of one identity waits for, and what is learned from their answers. */
export class Budget {
  readonly #scheduler: Scheduler;
  readonly #line: Line;

  /** The buckets: the identity's, the subscription's, and those of the resource provider, the most specific last. */
  constructor(scheduler: Scheduler, buckets: readonly Bucket[]) {
    this.#scheduler = scheduler;
    this.#line = new Line(buckets);
  }

  /** Wait for the permission to send one request. */
  take(request: ScheduledRequest): Promise<void> {
    return this.#scheduler.take(this.#line, request);
  }

  /** Learn from the headers of an answer what is left. */
  learn(headers: Record<string, unknown>): void {
    const [own, subscription] = this.#line.buckets;
    const provider = this.#line.buckets.at(-1);
    for (const [name, remaining] of countersIn(headers)) {
      // Where a service has a limit of its own, Resource Manager says what is left of that.
      const bucket = name.startsWith("resource-")
        ? provider
        : name.startsWith("global-")
          ? subscription
          : own;
      bucket?.lower(remaining);
    }
  }

  /** Azure refused a request as one too many: wait with all that count towards the same limit. */
  park(error: AzureError, isByGateway: boolean, ms: number): void {
    const bucket = this.#limiting(error.code, isByGateway);
    if (bucket !== undefined) this.#scheduler.park(bucket, ms);
  }

  /** The bucket of the limit that a refusal is about. */
  #limiting(code: string, isByGateway: boolean): Bucket | undefined {
    const [own, subscription] = this.#line.buckets;
    const provider = this.#line.buckets.at(-1);
    if (code === "SubscriptionRequestsThrottled") return subscription;
    return code === "ResourceRequestsThrottled" || !isByGateway ? provider : own;
  }

  state(): BudgetState {
    const { buckets, waiting, parkedForMs } = this.#line;
    const remaining = Math.min(...buckets.map((bucket) => bucket.remaining));
    return { remaining, waiting: { ...waiting }, parkedForMs };
  }
}

/** All budgets of a process. Whoever shares a limit of Azure shares a bucket. */
export class Budgets {
  readonly limits: Limits;
  readonly #clock: Clock;
  readonly #driftShare: number;
  readonly #subscriptions = new Map<string, Subscription>();

  constructor(
    options: {
      limits?: Partial<Limits> | undefined;
      driftShare?: number | undefined;
      clock?: Clock;
    } = {},
  ) {
    this.limits = { ...azureLimits, ...options.limits };
    this.#driftShare = options.driftShare ?? defaultDriftShare;
    this.#clock = options.clock ?? realClock;
  }

  of(counted: Counted): Budget {
    const { kind, provider } = counted;
    const subscription = this.#subscriptionOf(counted);
    const { buckets, budgets } = this.#identityOf(counted, subscription);
    const name = `${kind} ${provider}`;
    const present = budgets.get(name);
    if (present !== undefined) return present;
    const shared = sharedLimitsOf(kind, provider).map((limit) =>
      this.#sharedBucket(subscription, limit),
    );
    const budget = new Budget(subscription.scheduler, [buckets[kind], ...shared]);
    budgets.set(name, budget);
    return budget;
  }

  /** Whether a drift check may send one more DNS read now; see `SpareReads`. */
  takeSpareDnsRead(subscription: string, read: SpareRead): boolean {
    return this.#subscriptionOf({ subscription }).spareDnsReads.take(read);
  }

  /** Forget the budgets of an identity. The limits that it shares with others are remembered. */
  forget(identity: string): void {
    const start = `${identity}\n`.toLowerCase();
    for (const { identities } of this.#subscriptions.values())
      for (const name of identities.keys()) if (name.startsWith(start)) identities.delete(name);
  }

  /** What metrics and the dashboard show. */
  states(): BudgetStates[] {
    const identities = [...this.#subscriptions.values()].flatMap((each) => [
      ...each.identities.values(),
    ]);
    return identities.map(({ key, budgets }) => ({
      ...key,
      reads: this.#stateOf(key, budgets, "reads"),
      writes: this.#stateOf(key, budgets, "writes"),
      deletes: this.#stateOf(key, budgets, "deletes"),
      dnsReads: this.of({ ...key, kind: "reads", provider: "dns" }).state(),
    }));
  }

  #stateOf(key: BudgetKey, budgets: ReadonlyMap<string, Budget>, kind: Kind): BudgetState {
    const { remaining, parkedForMs } = this.of({ ...key, kind, provider: "network" }).state();
    const waiting = { change: 0, retry: 0, drift: 0 };
    for (const [name, budget] of budgets) {
      if (!name.startsWith(`${kind} `)) continue;
      const { change, retry, drift } = budget.state().waiting;
      waiting.change += change;
      waiting.retry += retry;
      waiting.drift += drift;
    }
    return { remaining, waiting, parkedForMs };
  }

  #subscriptionOf(key: Pick<BudgetKey, "subscription">): Subscription {
    const name = key.subscription.toLowerCase();
    const present = this.#subscriptions.get(name);
    if (present !== undefined) return present;
    this.#forgetUnused();
    const clock = this.#clock;
    const shared = new Map<LimitName, Bucket>();
    const limit = this.limits["dns-reads"];
    // People's changes need them, and Azure may have said to wait.
    const isIdle = () => {
      const bucket = shared.get("dns-reads");
      return (
        bucket === undefined || (bucket.parkedForMs === 0 && bucket.remaining * 2 >= limit.burst)
      );
    };
    const created: Subscription = {
      scheduler: new Scheduler(clock),
      shared,
      spareDnsReads: new SpareReads({ limit, share: this.#driftShare, clock, isIdle }),
      identities: new Map(),
    };
    this.#subscriptions.set(name, created);
    return created;
  }

  /** Forget the subscriptions in which nobody acts any more, once their limits are full again. */
  #forgetUnused(): void {
    for (const [name, { identities, shared }] of this.#subscriptions) {
      const isFull = [...shared.values()].every(
        (bucket) => bucket.remaining >= Math.floor(bucket.limit.burst),
      );
      if (identities.size === 0 && isFull) this.#subscriptions.delete(name);
    }
  }

  #identityOf({ identity, subscription, region }: BudgetKey, { identities }: Subscription) {
    const name = `${identity}\n${region}`.toLowerCase();
    const present = identities.get(name);
    if (present !== undefined) return present;
    const bucket = (kind: Kind) => new Bucket(this.limits[kind], this.#clock);
    const created: Identity = {
      key: { identity, subscription, region },
      buckets: { reads: bucket("reads"), writes: bucket("writes"), deletes: bucket("deletes") },
      budgets: new Map(),
    };
    identities.set(name, created);
    return created;
  }

  #sharedBucket({ shared }: Subscription, name: LimitName): Bucket {
    const bucket = shared.get(name) ?? new Bucket(this.limits[name], this.#clock);
    shared.set(name, bucket);
    return bucket;
  }
}

const counterPrefix = "x-ms-ratelimit-remaining-subscription-";

/** The plain counters of an answer: what they count, such as `reads` or `global-writes`, and what is left. */
function* countersIn(headers: Record<string, unknown>): Iterable<[string, number]> {
  for (const name in headers) {
    if (!/^(global-)?(reads|writes|deletes)$|^resource-requests$/.test(countedBy(name))) continue;
    const text = headers[name];
    if (typeof text === "string" && /^\d{1,15}$/.test(text)) yield [countedBy(name), Number(text)];
  }
}

function countedBy(header: string): string {
  return header.startsWith(counterPrefix) ? header.slice(counterPrefix.length) : "";
}

/** What Azure says is left: the least of its plain counters in an answer. */
export function remainingIn(headers: Record<string, unknown>): number | undefined {
  let least: number | undefined;
  for (const [, remaining] of countersIn(headers))
    least = Math.min(least ?? Number.POSITIVE_INFINITY, remaining);
  return least;
}
