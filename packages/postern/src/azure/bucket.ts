import type { Clock } from "@postern/core/clock.ts";

/** How many requests a bucket allows at once when it is full, and how fast it fills. */
export interface Limit {
  burst: number;
  perSecond: number;
}

/** A token bucket. It never allows more than Azure's own would: the burst at once, and then as many a second as it fills. */
export class Bucket {
  readonly limit: Limit;
  readonly #clock: Clock;
  #level: number;
  #filledAt: number;
  #parkedUntil = 0;

  constructor(limit: Limit, clock: Clock) {
    this.limit = limit;
    this.#clock = clock;
    this.#level = limit.burst;
    this.#filledAt = clock.now();
  }

  /** How many requests may be sent now. */
  get remaining(): number {
    this.#fill();
    return Math.max(0, Math.floor(this.#level));
  }

  /** How long Azure still wants to hear nothing. */
  get parkedForMs(): number {
    return Math.max(0, this.#parkedUntil - this.#clock.now());
  }

  /** How long until a request may be sent; 0 for now. */
  get waitMs(): number {
    this.#fill();
    const { parkedForMs } = this;
    if (this.#level >= 1) return parkedForMs;
    return parkedForMs + Math.max(1, Math.ceil(((1 - this.#level) / this.limit.perSecond) * 1000));
  }

  /** Count a request that is sent now. */
  take(): void {
    this.#fill();
    this.#level -= 1;
  }

  /** Azure said to wait. Asking earlier would make it longer, so nobody asks. */
  park(ms: number): void {
    this.#level = 0;
    this.#parkedUntil = Math.max(this.#parkedUntil, this.#clock.now() + ms);
  }

  /** Azure said how many are left. Other processes may use the same limit, so less than we think is believed. */
  lower(remaining: number): void {
    this.#fill();
    this.#level = Math.min(this.#level, remaining);
  }

  #fill(): void {
    const now = this.#clock.now();
    // Nothing fills while Azure wants to hear nothing, so that no burst follows. A clock that was set
    // back fills nothing, and does not stop the filling either.
    const since = Math.max(this.#filledAt, this.#parkedUntil);
    const seconds = Math.max(0, now - since) / 1000;
    this.#level = Math.min(this.limit.burst, this.#level + seconds * this.limit.perSecond);
    this.#filledAt = now;
  }
}
