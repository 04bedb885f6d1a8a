import type { Clock } from "@postern/core/clock.ts";
import { type Priority, priorities } from "@postern/core/priority.ts";
import { AzureError } from "./errors.ts";

/** What a bucket holds when full, and how fast it fills. */
export interface Limit {
  burst: number;
  perSecond: number;
}

/** A bucket as metrics and the dashboard show it. */
export interface BucketState {
  /** Requests that may go out now. */
  remaining: number;
  waiting: Record<Priority, number>;
  /** How long Azure still wants to hear nothing. */
  parkedForMs: number;
}

interface Waiter {
  priority: Priority;
  /** Its place among all who ever waited, to know who waits longest. */
  place: number;
  gone: boolean;
  grant(): void;
  refuse(): void;
}

/** Of this many requests one goes to whoever waits longest behind, so that drift is found on busy days too. */
const turn = 10;
/** One who would wait longer than this is sent away with the time to come back: waiting holds a worker. */
const patienceMs = 10_000;

/**
 * A token bucket with three lines of waiting requests. It never lets through more than Azure's own
 * bucket would: the burst at once, and then as many a second as it fills. A timer runs only while somebody waits.
 */
export class Bucket {
  readonly #limit: Limit;
  readonly #clock: Clock;
  readonly #lines: Record<Priority, Line> = {
    change: { waiters: [], head: 0, count: 0 },
    retry: { waiters: [], head: 0, count: 0 },
    drift: { waiters: [], head: 0, count: 0 },
  };
  #level: number;
  #filledAt: number;
  #parkedUntil = 0;
  #places = 0;
  #passedOver = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(limit: Limit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
    this.#level = limit.burst;
    this.#filledAt = clock.now();
  }

  /** Wait for the right to send one request. `what` is told to people when it may not be sent. */
  take(priority: Priority, signal: AbortSignal | undefined, what: string): Promise<void> {
    if (signal?.aborted) return Promise.reject(cancelled(what, signal));
    const parkedForMs = this.#parkedForMs();
    if (parkedForMs > patienceMs) return Promise.reject(throttled(what, parkedForMs));
    this.#fill();
    if (this.#waiting() === 0 && parkedForMs === 0 && this.#level >= 1) {
      this.#level -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const line = this.#lines[priority];
      const stop = () => {
        leave(line, waiter);
        if (this.#waiting() === 0) this.#disarm();
        reject(cancelled(what, signal));
      };
      const waiter: Waiter = {
        priority,
        place: this.#places++,
        gone: false,
        grant: () => {
          signal?.removeEventListener("abort", stop);
          resolve();
        },
        refuse: () => {
          signal?.removeEventListener("abort", stop);
          reject(throttled(what, this.#parkedForMs()));
        },
      };
      signal?.addEventListener("abort", stop, { once: true });
      line.waiters.push(waiter);
      line.count += 1;
      this.#arm();
    });
  }

  /** Azure said to wait. Asking earlier would make it longer, so nobody asks. */
  park(ms: number): void {
    this.#level = 0;
    this.#parkedUntil = Math.max(this.#parkedUntil, this.#clock.now() + ms);
    this.#disarm();
    if (this.#parkedForMs() > patienceMs)
      for (let waiter = this.#next(); waiter !== undefined; waiter = this.#next()) waiter.refuse();
    if (this.#waiting() > 0) this.#arm();
  }

  /** Azure said how many are left. Others may use the same identity, so less than we think is believed. */
  lower(remaining: number): void {
    this.#fill();
    this.#level = Math.min(this.#level, remaining);
  }

  state(): BucketState {
    this.#fill();
    const { change, retry, drift } = this.#lines;
    return {
      remaining: Math.max(0, Math.floor(this.#level)),
      waiting: { change: change.count, retry: retry.count, drift: drift.count },
      parkedForMs: this.#parkedForMs(),
    };
  }

  #serve(): void {
    this.#cancelTimer = undefined;
    this.#fill();
    while (this.#level >= 1 && this.#parkedForMs() === 0) {
      const waiter = this.#next();
      if (waiter === undefined) return;
      this.#level -= 1;
      waiter.grant();
    }
    if (this.#waiting() > 0) this.#arm();
  }

  /** Take the one whose turn it is out of its line. */
  #next(): Waiter | undefined {
    const heads = priorities.map((priority) => first(this.#lines[priority]));
    const [foremost, ...behind] = heads.filter((waiter) => waiter !== undefined);
    const longest = behind.reduce<Waiter | undefined>(
      (oldest, each) => (oldest === undefined || each.place < oldest.place ? each : oldest),
      undefined,
    );
    this.#passedOver = longest === undefined ? 0 : this.#passedOver + 1;
    const chosen = this.#passedOver >= turn ? longest : foremost;
    if (chosen === undefined) return undefined;
    if (chosen !== foremost) this.#passedOver = 0;
    shift(this.#lines[chosen.priority]);
    return chosen;
  }

  #arm(): void {
    if (this.#cancelTimer !== undefined) return;
    const untilFullEnoughMs = ((1 - this.#level) / this.#limit.perSecond) * 1000;
    const ms = Math.max(this.#parkedForMs() + Math.ceil(untilFullEnoughMs), 1);
    // Somebody awaits it: without it a program that has nothing else to do would end.
    this.#cancelTimer = this.#clock.after(ms, () => this.#serve(), { keepAlive: true });
  }

  #disarm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #fill(): void {
    const now = this.#clock.now();
    // Nothing fills while Azure wants to hear nothing, so that no burst follows. A clock that was set
    // back fills nothing, and does not stop the filling either.
    const since = Math.max(this.#filledAt, this.#parkedUntil);
    const seconds = Math.max(0, now - since) / 1000;
    this.#level = Math.min(this.#limit.burst, this.#level + seconds * this.#limit.perSecond);
    this.#filledAt = now;
  }

  #waiting(): number {
    return priorities.reduce((sum, priority) => sum + this.#lines[priority].count, 0);
  }

  #parkedForMs(): number {
    return Math.max(0, this.#parkedUntil - this.#clock.now());
  }
}

/** First in, first out, in constant time: the head moves on, and what is behind it is dropped now and then. */
interface Line {
  waiters: Waiter[];
  head: number;
  /** Those who still wait; the others in the line gave up. */
  count: number;
}

function first(line: Line): Waiter | undefined {
  while (line.waiters[line.head]?.gone) line.head += 1;
  return line.waiters[line.head];
}

function shift(line: Line): void {
  line.head += 1;
  line.count -= 1;
  if (line.head * 2 < line.waiters.length) return;
  line.waiters = line.waiters.slice(line.head);
  line.head = 0;
}

function leave(line: Line, waiter: Waiter): void {
  waiter.gone = true;
  line.count -= 1;
  if (line.count > 0) return;
  line.waiters = [];
  line.head = 0;
}

function cancelled(what: string, signal: AbortSignal | undefined): AzureError {
  return new AzureError({ code: "Cancelled", what, cause: signal?.reason });
}

function throttled(what: string, ms: number): AzureError {
  return new AzureError({ code: "Throttled", what, retryAfterMs: ms });
}
