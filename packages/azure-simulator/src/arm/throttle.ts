import type { Clock } from "@postern/core/clock.ts";
import { isDnsOperation } from "./dns-operations.ts";
import { Refusal } from "./refusal.ts";
import type { Routed } from "./routes.ts";

/** What a request is counted as. */
export type Cost = "read" | "write" | "delete";

/** A token bucket: its size, and how fast it fills. */
export interface Limit {
  burst: number;
  perSecond: number;
}

/**
 * The limits, by name. `read`, `write` and `delete` are Resource Manager's for each identity and subscription; the subscription has
 * fifteen times as much. The others are of the resource provider Microsoft.Network, for each subscription: a write or delete counts as
 * `networkWrite`, a read as `networkRead`, and a read of DNS or private DNS, or a poll of its operations, as `dnsRead` as well.
 */
export const limitNames = [
  "read",
  "write",
  "delete",
  "networkRead",
  "networkWrite",
  "dnsRead",
] as const;
export type LimitName = (typeof limitNames)[number];

/** A limit for each name. */
export type ThrottleLimits = Record<LimitName, Limit>;

const fiveMinutes = 300;

/** What Azure allows: https://learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling.
 * How the provider counts its five minutes is not documented; Resource Manager uses token buckets. */
export const azureLimits: ThrottleLimits = {
  read: { burst: 250, perSecond: 25 },
  write: { burst: 200, perSecond: 10 },
  delete: { burst: 200, perSecond: 10 },
  networkRead: { burst: 10_000, perSecond: 10_000 / fiveMinutes },
  networkWrite: { burst: 1_000, perSecond: 1_000 / fiveMinutes },
  dnsRead: { burst: 500, perSecond: 500 / fiveMinutes },
};

const unlimited: Limit = { burst: 1e9, perSecond: 1e9 };

/** Limits that nobody reaches. */
export const noLimits: ThrottleLimits = {
  read: unlimited,
  write: unlimited,
  delete: unlimited,
  networkRead: unlimited,
  networkWrite: unlimited,
  dnsRead: unlimited,
};

/** Which resource provider answers a request, as far as it has limits of its own. */
export type Provider = "network" | "dns" | "none";

/** What is left after a request: of the identity's own bucket, of the subscription's, and for DNS reads of the provider's. */
export interface Left {
  own: number;
  global: number;
  dnsReads?: number;
}

interface Bucket {
  limit: Limit;
  left: number;
  at: number;
  /** Until then requests are refused: one that comes earlier renews the wait. */
  closedUntil: number;
}

/** The subscription as a whole has fifteen times what each identity has, as the same page says. */
const whole = 15;
/** What DNS answers (kubernetes-sigs/external-dns#4839). */
const dnsRetryAfterSeconds = 10;

/** Token buckets at the three levels at which Azure throttles: each identity, the subscription, and the resource provider. */
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
  take(identity: string, subscription: string, cost: Cost, provider: Provider = "none"): Left {
    const now = this.#clock.now();
    const { burst, perSecond } = this.limits[cost];
    const all = { burst: burst * whole, perSecond: perSecond * whole };
    const own = this.#bucket(`${identity} ${subscription} ${cost}`, { burst, perSecond }, now);
    const global = this.#bucket(`${subscription} ${cost}`, all, now);
    for (const bucket of [own, global])
      if (empty(bucket, now))
        throw tooManyRequests(cost, subscription, identity, bucket.limit.burst, close(bucket, now));
    own.left -= 1;
    global.left -= 1;
    const left: Left = { own: Math.floor(own.left), global: Math.floor(global.left) };
    const dns = this.#takeOfProvider(subscription, cost, provider, now);
    return dns === undefined ? left : { ...left, dnsReads: dns };
  }

  /** Take one request out of the provider's buckets; what is left of those for DNS reads. */
  #takeOfProvider(
    subscription: string,
    cost: Cost,
    provider: Provider,
    now: number,
  ): number | undefined {
    if (provider === "none") return undefined;
    const name = cost === "read" ? "networkRead" : "networkWrite";
    const network = this.#bucket(`${subscription} ${name}`, this.limits[name], now);
    const isDnsRead = provider === "dns" && cost === "read";
    const dns = isDnsRead
      ? this.#bucket(`${subscription} dnsRead`, this.limits.dnsRead, now)
      : undefined;
    if (dns && empty(dns, now)) throw dnsThrottled(close(dns, now, dnsRetryAfterSeconds));
    if (empty(network, now)) throw networkThrottled(close(network, now));
    network.left -= 1;
    if (dns === undefined) return undefined;
    dns.left -= 1;
    return Math.floor(dns.left);
  }

  #bucket(key: string, limit: Limit, now: number): Bucket {
    const bucket = this.#buckets.get(key);
    if (!bucket) {
      const created = { limit, left: limit.burst, at: now, closedUntil: 0 };
      this.#buckets.set(key, created);
      return created;
    }
    const filled = bucket.left + ((now - bucket.at) / 1000) * limit.perSecond;
    bucket.left = Math.min(limit.burst, filled);
    bucket.at = now;
    return bucket;
  }
}

/** Which resource provider answers a request. */
export function providerOf({ type, address }: Routed): Provider {
  if (type?.dialect === "privateDns" || type?.dialect === "publicDns") return "dns";
  if (isDnsOperation(address.key)) return "dns";
  return address.key.includes("/providers/microsoft.network/") ? "network" : "none";
}

function empty(bucket: Bucket, now: number): boolean {
  return bucket.left < 1 || now < bucket.closedUntil;
}

/** Close an empty bucket for a while, and say for how many seconds. */
function close(bucket: Bucket, now: number, leastSeconds = 1): number {
  // Asking while it is empty renews the wait. Once it has something again the wait only runs out: with many who
  // ask, each at its own time, it would never end otherwise.
  if (bucket.left < 1) {
    const seconds = Math.ceil((1 - bucket.left) / bucket.limit.perSecond);
    bucket.closedUntil = now + Math.max(leastSeconds, seconds) * 1000;
  }
  return Math.max(1, Math.ceil((bucket.closedUntil - now) / 1000));
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

/** The words are those of Azure/migAz#57; that the network provider uses them is not proven. */
function networkThrottled(seconds: number): Refusal {
  return new Refusal(429, "TooManyRequests", "The request is being throttled.", {
    headers: { "Retry-After": String(seconds) },
  });
}

/** As in kubernetes-sigs/external-dns#4811: the body is a JSON string that contains JSON. */
function dnsThrottled(seconds: number): Refusal {
  const [code, message] = [
    "Throttled",
    "Too many operations are requested. Current operation is throttled.",
  ];
  return new Refusal(429, code, message, {
    by: "dns",
    headers: { "Retry-After": String(seconds) },
    body: JSON.stringify({ code, message }),
  });
}
