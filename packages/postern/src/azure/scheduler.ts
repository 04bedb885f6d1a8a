import type { Clock } from "@postern/core/clock.ts";
import { type Priority, priorities } from "@postern/core/priority.ts";
import type { Bucket } from "./bucket.ts";
import { AzureError } from "./errors.ts";

/** A request that needs a token of each of its line's buckets. */
export interface ScheduledRequest {
  priority: Priority;
  /** On whose behalf it is sent. One tenant's requests do not delay another's of the same priority. */
  tenant: string;
  signal?: AbortSignal | undefined;
  /** What it is, for the error when it may not be sent. */
  what: string;
}

interface Waiter extends ScheduledRequest {
  /** Its place among all who ever waited, to know who waits longest. */
  place: number;
  cancelled: boolean;
  grant(): void;
  refuse(parkedForMs: number): void;
}

type Waiting = Record<Priority, number>;

/** One in this many requests is the one that waits longest behind the others, so that drift is found on busy days too. */
const turn = 10;
/** A request that would wait longer than this is refused with the time to try again: waiting occupies a worker. */
const patienceMs = 10_000;
/** How many tenants are remembered as recently served. */
const mostTenants = 1_000;

/** Requests that need the same buckets, by priority and tenant. */
export class Line {
  readonly buckets: readonly Bucket[];
  readonly waiting: Waiting = { change: 0, retry: 0, drift: 0 };
  readonly #queues: Record<Priority, Map<string, Queue>> = {
    change: new Map(),
    retry: new Map(),
    drift: new Map(),
  };

  constructor(buckets: readonly Bucket[]) {
    this.buckets = buckets;
  }

  get isEmpty(): boolean {
    return priorities.every((priority) => this.waiting[priority] === 0);
  }

  /** How long until a request of this line may be sent. */
  get waitMs(): number {
    return Math.max(...this.buckets.map((bucket) => bucket.waitMs));
  }

  get parkedForMs(): number {
    return Math.max(...this.buckets.map((bucket) => bucket.parkedForMs));
  }

  add(waiter: Waiter): void {
    const queues = this.#queues[waiter.priority];
    const queue = queues.get(waiter.tenant) ?? new Queue();
    queues.set(waiter.tenant, queue);
    queue.push(waiter);
    this.waiting[waiter.priority] += 1;
  }

  /** The first request of each tenant, of one priority. */
  *heads(priority: Priority): Iterable<Waiter> {
    for (const [tenant, queue] of this.#queues[priority]) {
      const head = queue.first();
      if (head === undefined) this.#queues[priority].delete(tenant);
      else yield head;
    }
  }

  /** Remove a request that `heads` gave. */
  remove(waiter: Waiter): void {
    this.#queues[waiter.priority].get(waiter.tenant)?.shift();
    this.waiting[waiter.priority] -= 1;
  }

  /** Stop waiting. */
  cancel(waiter: Waiter): void {
    waiter.cancelled = true;
    this.waiting[waiter.priority] -= 1;
    // Also removes the queues in which nobody waits any more.
    for (const _ of this.heads(waiter.priority));
  }

  /** Everybody who waits, who do not any more. */
  clear(): Waiter[] {
    const all: Waiter[] = [];
    for (const priority of priorities) {
      for (const queue of this.#queues[priority].values()) all.push(...queue.remaining());
      this.#queues[priority].clear();
      this.waiting[priority] = 0;
    }
    return all;
  }
}

/**
 * Decides which request is sent next, of all lines that share a bucket. People's changes go first, then retries, then drift checks;
 * within a priority the tenant goes first that was served least recently. A line whose buckets are empty does not hold up the
 * others. A timer runs only while a request waits.
 */
export class Scheduler {
  readonly #clock: Clock;
  /** The lines in which a request waits. */
  readonly #lines = new Set<Line>();
  readonly #servedAt = new Map<string, number>();
  #places = 0;
  #served = 0;
  #passedOver = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Wait for the permission to send one request. */
  take(line: Line, request: ScheduledRequest): Promise<void> {
    const { signal, what } = request;
    if (signal?.aborted) return Promise.reject(cancelled(what, signal));
    const { parkedForMs } = line;
    if (parkedForMs > patienceMs) return Promise.reject(throttled(what, parkedForMs));
    if (this.#lines.size === 0 && line.waitMs === 0) {
      this.#count(line, request.tenant);
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const stop = () => {
        line.cancel(waiter);
        if (line.isEmpty) this.#lines.delete(line);
        if (this.#lines.size === 0) this.#disarm();
        reject(cancelled(what, signal));
      };
      const waiter: Waiter = {
        ...request,
        place: this.#places++,
        cancelled: false,
        grant: () => {
          signal?.removeEventListener("abort", stop);
          resolve();
        },
        refuse: (forMs) => {
          signal?.removeEventListener("abort", stop);
          reject(throttled(what, forMs));
        },
      };
      signal?.addEventListener("abort", stop, { once: true });
      line.add(waiter);
      this.#lines.add(line);
      this.#serve();
    });
  }

  /** Azure said to wait with what needs this bucket. */
  park(bucket: Bucket, ms: number): void {
    bucket.park(ms);
    for (const line of this.#lines) {
      const { parkedForMs } = line;
      if (!line.buckets.includes(bucket) || parkedForMs <= patienceMs) continue;
      for (const waiter of line.clear()) waiter.refuse(parkedForMs);
      this.#lines.delete(line);
    }
    this.#arm();
  }

  #count(line: Line, tenant: string): void {
    for (const bucket of line.buckets) bucket.take();
    if (this.#servedAt.size >= mostTenants) this.#servedAt.clear();
    this.#servedAt.set(tenant, ++this.#served);
  }

  #serve(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const { line, waiter } = next;
      line.remove(waiter);
      if (line.isEmpty) this.#lines.delete(line);
      this.#count(line, waiter.tenant);
      waiter.grant();
    }
    this.#arm();
  }

  /** Whose turn it is, of those whose buckets have a token. */
  #next(): { line: Line; waiter: Waiter } | undefined {
    const ready = [...this.#lines].filter((line) => line.waitMs === 0);
    const foremost = this.#foremost(ready);
    if (foremost === undefined) return undefined;
    const longest = longestWaiting(ready, foremost.waiter.priority);
    this.#passedOver = longest === undefined ? 0 : this.#passedOver + 1;
    if (longest === undefined || this.#passedOver < turn) return foremost;
    this.#passedOver = 0;
    return longest;
  }

  #foremost(ready: readonly Line[]): { line: Line; waiter: Waiter } | undefined {
    for (const priority of priorities) {
      let best: { line: Line; waiter: Waiter; servedAt: number } | undefined;
      for (const line of ready)
        for (const waiter of line.heads(priority)) {
          const servedAt = this.#servedAt.get(waiter.tenant) ?? 0;
          const isBetter =
            best === undefined ||
            servedAt < best.servedAt ||
            (servedAt === best.servedAt && waiter.place < best.waiter.place);
          if (isBetter) best = { line, waiter, servedAt };
        }
      if (best !== undefined) return best;
    }
    return undefined;
  }

  #arm(): void {
    this.#disarm();
    if (this.#lines.size === 0) return;
    const ms = Math.max(1, Math.min(...[...this.#lines].map((line) => line.waitMs)));
    // A request waits for it: without it a program that has nothing else to do would end.
    this.#cancelTimer = this.#clock.after(ms, () => this.#serve(), { keepAlive: true });
  }

  #disarm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}

/** Who waits longest of those with a lower priority. */
function longestWaiting(
  ready: readonly Line[],
  than: Priority,
): { line: Line; waiter: Waiter } | undefined {
  let longest: { line: Line; waiter: Waiter } | undefined;
  for (const priority of priorities.slice(priorities.indexOf(than) + 1))
    for (const line of ready)
      for (const waiter of line.heads(priority))
        if (longest === undefined || waiter.place < longest.waiter.place)
          longest = { line, waiter };
  return longest;
}

/** First in, first out, in constant time: the head moves on, and what is behind it is dropped now and then. */
class Queue {
  #waiters: Waiter[] = [];
  #head = 0;

  push(waiter: Waiter): void {
    this.#waiters.push(waiter);
  }

  first(): Waiter | undefined {
    while (this.#waiters[this.#head]?.cancelled) this.shift();
    return this.#waiters[this.#head];
  }

  shift(): void {
    this.#head += 1;
    if (this.#head * 2 < this.#waiters.length) return;
    this.#waiters = this.#waiters.slice(this.#head);
    this.#head = 0;
  }

  remaining(): Waiter[] {
    return this.#waiters.slice(this.#head).filter((waiter) => !waiter.cancelled);
  }
}

function cancelled(what: string, signal: AbortSignal | undefined): AzureError {
  return new AzureError({ code: "Cancelled", what, cause: signal?.reason });
}

function throttled(what: string, ms: number): AzureError {
  return new AzureError({ code: "Throttled", what, retryAfterMs: ms });
}
