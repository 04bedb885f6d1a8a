import type { Clock } from "../model/clock.ts";
import { Refusal } from "./refusal.ts";

export type Cost = "read" | "write" | "delete";

export interface Limit {
  burst: number;
  perSecond: number;
}

export type ThrottleLimits = Record<Cost, Limit>;

/** What Azure gives each identity in a subscription:
 * https://learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling */
export const azureLimits: ThrottleLimits = {
  read: { burst: 250, perSecond: 25 },
  write: { burst: 200, perSecond: 10 },
  delete: { burst: 200, perSecond: 10 },
};

interface Bucket {
  left: number;
  at: number;
}

/** Token buckets that really run out: one for each identity, subscription and kind of request, and one for all identities. */
export class Throttle {
  readonly #clock: Clock;
  readonly limits: ThrottleLimits;
  readonly #buckets = new Map<string, Bucket>();

  constructor(options: { clock: Clock; limits?: Partial<ThrottleLimits> }) {
    this.#clock = options.clock;
    this.limits = { ...azureLimits, ...options.limits };
  }

  /** Take one request out of its buckets, or refuse it. Gives what is left: of its own bucket and of the subscription's. */
  take(identity: string, subscription: string, cost: Cost): { own: number; global: number } {
    const limit = this.limits[cost];
    // The subscription as a whole has fifteen times what each identity has.
    const whole = { burst: limit.burst * 15, perSecond: limit.perSecond * 15 };
    const own = this.#bucket(`${identity} ${subscription} ${cost}`, limit);
    const global = this.#bucket(`${subscription} ${cost}`, whole);
    if (own.left < 1 || global.left < 1) {
      const [short, by] = own.left < 1 ? [own, limit] : [global, whole];
      const seconds = Math.max(1, Math.ceil((1 - short.left) / by.perSecond));
      throw new Refusal(
        429,
        "TooManyRequests",
        `Number of ${cost} requests for subscription '${subscription}' actor '${identity}' exceeded the limit of '${by.burst}' for time interval '00:00:01'. Please try again after '${seconds}' seconds.`,
        {
          by: "gateway",
          headers: { "Retry-After": String(seconds) },
        },
      );
    }
    own.left -= 1;
    global.left -= 1;
    return { own: Math.floor(own.left), global: Math.floor(global.left) };
  }

  #bucket(key: string, limit: Limit): Bucket {
    const now = this.#clock.now();
    let bucket = this.#buckets.get(key);
    if (!bucket) {
      bucket = { left: limit.burst, at: now };
      this.#buckets.set(key, bucket);
      return bucket;
    }
    bucket.left = Math.min(limit.burst, bucket.left + ((now - bucket.at) / 1000) * limit.perSecond);
    bucket.at = now;
    return bucket;
  }
}
