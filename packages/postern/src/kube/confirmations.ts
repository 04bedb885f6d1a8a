import type { Clock } from "@postern/core/clock.ts";

/**
 * From when on reads show everything that was written before a deletion was first observed. A process that begins to lead starts
 * anew: another may have written until then.
 */
export class Confirmations {
  readonly #staleReadsMs: number;
  readonly #clock: Clock;
  readonly #waits = new Map<string, { uid: string; at: number }>();

  constructor(options: { staleReadsMs: number; clock: Clock }) {
    this.#staleReadsMs = options.staleReadsMs;
    this.#clock = options.clock;
  }

  /** Wait for an object from now on, unless it waits already; how long it still has to. */
  wait(key: string, uid = ""): number {
    const now = this.#clock.now();
    const known = this.#waits.get(key);
    const at = known?.uid === uid ? known.at : now + this.#staleReadsMs;
    this.#waits.set(key, { uid, at });
    return Math.max(0, at - now);
  }

  /** The time from which on reads confirm what a plan says; undefined where that is still to come. */
  freshSince(key: string): number | undefined {
    const { at = Number.NaN } = this.#waits.get(key) ?? {};
    return at <= this.#clock.now() ? at : undefined;
  }

  delete(key: string): void {
    this.#waits.delete(key);
  }

  clear(): void {
    this.#waits.clear();
  }
}
