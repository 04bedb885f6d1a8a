import type { Clock } from "@postern/core/clock.ts";

/**
 * A clock on which pauses are over at once and time has gone by all the same. Waits of `never` or
 * longer do not end: they are time-outs, which must not end requests that are under way.
 */
export class HurriedClock implements Clock {
  readonly #never: number;
  #now = Date.UTC(2026, 0, 1);
  /** Every pause that was made. */
  readonly pausesMs: number[] = [];

  constructor(never = 20_000) {
    this.#never = never;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, fn: () => void): () => void {
    if (ms >= this.#never) return () => undefined;
    const turn = setImmediate(() => {
      this.#now += ms;
      this.pausesMs.push(ms);
      fn();
    });
    return () => clearImmediate(turn);
  }

  /** Let time go by. */
  reconcile(ms: number): void {
    this.#now += ms;
  }
}
