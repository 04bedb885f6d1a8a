import type { Clock } from "../src/model/clock.ts";

/** A clock that stands still until it is moved. */
export class ManualClock implements Clock {
  #now: number;
  #timers: { at: number; fn: () => void }[] = [];

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

  /** Move on, calling what becomes due in its order and letting what it starts settle. */
  async move(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await settle();
      const due = this.#timers.filter((each) => each.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!due) break;
      this.#now = Math.max(this.#now, due.at);
      this.#timers = this.#timers.filter((each) => each !== due);
      due.fn();
    }
    this.#now = end;
    await settle();
  }
}

/** Let everything that is ready to go on do so. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
  await new Promise((resolve) => setImmediate(resolve));
}
