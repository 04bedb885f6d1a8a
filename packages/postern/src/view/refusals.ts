import type { Clock } from "@postern/core/clock.ts";

/** A role that was just given counts in Azure after some minutes as well. */
const refusedMs = 5 * 60_000;

/** What Azure refused lately. Whoever looks again and again is not to ask for it each time. */
export class Refusals {
  readonly #clock: Clock;
  readonly #refusals = new Map<string, { why: string; until: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Why something is refused still; undefined where it must be asked for. */
  of(what: string): string | undefined {
    const refusal = this.#refusals.get(what);
    if (refusal === undefined) return undefined;
    if (refusal.until > this.#clock.now()) return refusal.why;
    this.#refusals.delete(what);
    return undefined;
  }

  keep(what: string, why: string): void {
    this.#refusals.set(what, { why, until: this.#clock.now() + refusedMs });
  }
}
