import type { Clock } from "@postern/core/clock.ts";
import { Refusal } from "./refusal.ts";

/** What a request is counted as. */
export type Cost = "read" | "write" | "delete";

/** A bucket: how much it holds, and how fast it fills. */
export interface Limit {
  burst: number;
  perSecond: number;
}

/** A bucket for each kind of request. */
export type ThrottleLimits = Record<Cost, Limit>;

/** What Azure gives each identity in a subscription:
 * https://learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling */
export const azureLimits: ThrottleLimits = {
  read: { burst: 250, perSecond: 25 },
  write: { burst: 200, perSecond: 10 },
  delete: { burst: 200, perSecond: 10 },
};

/** What is left after a request: of the asker's own bucket, and of the subscription's. */
export interface Left {
  own: number;
  global: number;
}

interface Bucket {
  left: number;
  at: number;
  /** Until then nobody need ask: what is asked before renews the wait. */
  closedUntil: number;
}

/** The subscription as a whole has fifteen times what each identity has, as the same page says. */
const whole = 15;

/** Token buckets that really run out: one for each identity, subscription and kind of request, and one for all identities. */
export class Throttle {
  readonly #clock: Clock;
  limits: ThrottleLimits;
  readonly #buckets = new Map<string, Bucket>();

  constructor(options: { clock: Clock; limits?: Partial<ThrottleLimits> }) {
    this.#clock = options.clock;
    this.limits = { ...azureLimits, ...options.limits };
  }

  /** Change the limits; buckets begin full again. */
  setLimits(limits: Partial<ThrottleLimits>): void {
    this.limits = { ...this.limits, ...limits };
    this.#buckets.clear();
  }

  /** Take one request out of its buckets, or refuse it. */
  take(identity: string, subscription: string, cost: Cost): Left {
    const now = this.#clock.now();
    const { burst, perSecond } = this.limits[cost];
    const own = this.#bucket(`${identity} ${subscription} ${cost}`, burst, perSecond, now);
    const all = this.#bucket(`${subscription} ${cost}`, burst * whole, perSecond * whole, now);
    if (empty(own, now)) throw refuse(own, burst, perSecond, now, cost, subscription, identity);
    if (empty(all, now))
      throw refuse(all, burst * whole, perSecond * whole, now, cost, subscription, identity);
    own.left -= 1;
    all.left -= 1;
    return { own: Math.floor(own.left), global: Math.floor(all.left) };
  }

  #bucket(key: string, burst: number, perSecond: number, now: number): Bucket {
    const bucket = this.#buckets.get(key);
    if (!bucket) {
      const made = { left: burst, at: now, closedUntil: 0 };
      this.#buckets.set(key, made);
      return made;
    }
    bucket.left = Math.min(burst, bucket.left + ((now - bucket.at) / 1000) * perSecond);
    bucket.at = now;
    return bucket;
  }
}

function empty(bucket: Bucket, now: number): boolean {
  return bucket.left < 1 || now < bucket.closedUntil;
}

function refuse(
  bucket: Bucket,
  burst: number,
  perSecond: number,
  now: number,
  cost: Cost,
  subscription: string,
  identity: string,
): Refusal {
  // Asking while it is empty renews the wait. Once it has something again the wait only runs out: with many who
  // ask, each at its own time, it would never end otherwise.
  if (bucket.left < 1)
    bucket.closedUntil = now + Math.max(1, Math.ceil((1 - bucket.left) / perSecond)) * 1000;
  const seconds = Math.max(1, Math.ceil((bucket.closedUntil - now) / 1000));
  return tooManyRequests(cost, subscription, identity, burst, seconds);
}

/** The refusal of a request that came too soon. */
export function tooManyRequests(
  cost: string,
  subscription: string,
  identity: string,
  burst: number,
  seconds: number,
): Refusal {
  return new Refusal(
    429,
    "TooManyRequests",
    `Number of ${cost} requests for subscription '${subscription}' actor '${identity}' exceeded the limit of '${burst}' for time interval '00:00:01'. Please try again after '${seconds}' seconds.`,
    { by: "gateway", headers: { "Retry-After": String(seconds) } },
  );
}
