import type { Clock } from "@postern/core/clock.ts";

/** A clock that stands until it is moved. */
export class ManualClock implements Clock {
  #now: number;
  #timers: { at: number; fn: () => void }[] = [];
  /** Called after every step, with what time it is. */
  moved: ((now: number) => void) | undefined;

  constructor(start = Date.UTC(2026, 0, 1)) {
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

  /** How many calls are waiting for their time. */
  get timers(): number {
    return this.#timers.length;
  }

  /** When the next timer is due. */
  get nextDue(): number {
    return this.#timers.reduce((least, each) => Math.min(least, each.at), Number.POSITIVE_INFINITY);
  }

  /** Move on to a time, calling what becomes due on the way. It never goes back. */
  moveTo(time: number): void {
    while (this.step(time));
  }

  /** Move on to the next timer that is due by a time, and call it; where there is none, to that time, and give false. */
  step(time: number): boolean {
    const at = this.nextDue;
    const due = at <= time ? this.#timers.find((each) => each.at === at) : undefined;
    this.#now = Math.max(this.#now, due ? at : time);
    if (due) this.#timers = this.#timers.filter((each) => each !== due);
    due?.fn();
    this.moved?.(this.#now);
    return due !== undefined;
  }
}
