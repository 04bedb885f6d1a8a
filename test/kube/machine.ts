import type { Clock } from "@postern/core/clock.ts";
import type { ManualClock } from "../manual-clock.ts";

/**
 * A machine with a clock of its own, which runs a little fast or slow. A process on it can be frozen (SIGSTOP: its
 * clocks go on, nothing runs), and the machine can sleep (the monotonic clock stands still too).
 */
export class Machine implements Clock {
  readonly #world: ManualClock;
  readonly #rate: number;
  readonly #startedAt: number;
  #state: "runs" | "frozen" | "asleep" = "runs";
  #asleepSince = 0;
  #sleptMs = 0;
  /** What happened meanwhile, and is noticed only when the process runs again. */
  #unnoticed: (() => void)[] = [];

  constructor(world: ManualClock, rate: number) {
    this.#world = world;
    this.#rate = rate;
    this.#startedAt = world.now();
  }

  get runs(): boolean {
    return this.#state === "runs";
  }

  now(): number {
    const world = this.#state === "asleep" ? this.#asleepSince : this.#world.now();
    return this.#startedAt + (world - this.#startedAt - this.#sleptMs) * this.#rate;
  }

  timeOfDay(): number {
    return this.#world.now();
  }

  after(ms: number, fn: () => void): () => void {
    let cancelled = false;
    const dueAt = this.now() + ms;
    const arm = () => {
      const restMs = Math.max(0, (dueAt - this.now()) / this.#rate);
      this.#world.after(restMs, () =>
        this.notice(() => {
          if (cancelled) return;
          // It slept meanwhile.
          if (this.now() < dueAt - 0.001) arm();
          else fn();
        }),
      );
    };
    arm();
    return () => {
      cancelled = true;
    };
  }

  /** Something happens to the process: now, or as soon as it runs again. */
  notice(fn: () => void): void {
    if (this.runs) fn();
    else this.#unnoticed.push(fn);
  }

  stop(how: "frozen" | "asleep"): void {
    if (!this.runs) return;
    this.#asleepSince = this.#world.now();
    this.#state = how;
  }

  /** Run again, and give what was missed, for the caller to hand over. */
  goOn(): (() => void)[] {
    if (this.runs) return [];
    if (this.#state === "asleep") this.#sleptMs += this.#world.now() - this.#asleepSince;
    this.#state = "runs";
    return this.#unnoticed.splice(0);
  }
}
