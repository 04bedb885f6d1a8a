import type { Clock } from "../model/clock.ts";

/** A clock that stands until it is moved. */
export class ManualClock implements Clock {
  #now: number;
  #timers: { at: number; fn: () => void }[] = [];
  /** Called after every step, with what time it is. */
  moved: ((now: number) => void) | undefined;

  constructor(start: number) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, fn: () => void): () => void {
    const timer = { at: this.#now + ms, fn };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    };
  }

  /** When the next timer is due. */
  get nextDue(): number {
    return this.#timers.reduce((least, each) => Math.min(least, each.at), Number.POSITIVE_INFINITY);
  }

  /** Move on to a time, calling what becomes due on the way. It never goes back. */
  moveTo(time: number): void {
    for (let due = this.nextDue; due <= time; due = this.nextDue) {
      this.#now = Math.max(this.#now, due);
      const ready = this.#timers.filter((each) => each.at <= this.#now);
      this.#timers = this.#timers.filter((each) => each.at > this.#now);
      for (const each of ready) each.fn();
    }
    this.#now = Math.max(this.#now, time);
    this.moved?.(this.#now);
  }
}
