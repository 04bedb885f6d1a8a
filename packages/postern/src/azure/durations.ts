/** How long the first look at an operation of a kind never met before is put off. */
const unknownMs = 5_000;
const leastMs = 1_000;
const mostMs = 600_000;
/** A look that comes later than this tells nothing of the time before it. */
const onTime = 1.1;

/** What was seen of an operation that has ended; all times since its start. */
export interface Ended {
  /** When it was last seen running; 0 where it never was. */
  runningMs: number;
  /** When it was to be looked at, and when it was. A process that is busy comes late, and an operation is over no later for it. */
  dueMs: number;
  endedMs: number;
}

/**
 * When to look at an operation for the first time, learned for each kind of operation.
 *
 * Asking costs a read of a small budget, and waiting too long costs time. So the first look is put where
 * most operations have ended: one that was seen running after it moves it later, one that was seen ended at it
 * moves it a little earlier. What operations say that began when less was known is not counted again: a
 * hundred that began together teach as much as one. No times are kept, so that a slow day is forgotten.
 */
export class Durations {
  readonly #firstPollMs = new Map<string, number>();
  /** When operations of a kind were last seen running: a look before that would come too early. It is forgotten slowly. */
  readonly #tooEarlyMs = new Map<string, number>();

  /** How long after its start an operation should be looked at first. */
  firstPollMs(kind: string): number {
    return this.#firstPollMs.get(kind) ?? unknownMs;
  }

  /** How long an operation of this kind takes, as far as that is known: by then most of them have ended. */
  expectedMs(kind: string): number | undefined {
    return this.#firstPollMs.get(kind);
  }

  /** Whether an operation of this kind has ever been seen to end. */
  knows(kind: string): boolean {
    return this.#firstPollMs.has(kind);
  }

  #tooEarly(kind: string): number {
    return this.#tooEarlyMs.get(kind) ?? 0;
  }

  /** An operation has ended. */
  learn(kind: string, { runningMs, dueMs, endedMs }: Ended): void {
    const old = this.#firstPollMs.get(kind);
    // The first one ever: by then it had ended, or nearly so.
    let next = old ?? dueMs;
    // Far off, it goes at once to where the operation was last seen running, but at most to the double.
    if (old !== undefined && old <= runningMs)
      next = Math.min(2 * old, Math.max(1.15 * old, runningMs));
    else if (old !== undefined && old >= dueMs && endedMs <= dueMs * onTime) {
      next = Math.max(old / 1.03, Math.min(old, this.#tooEarly(kind) * 1.02));
      this.#tooEarlyMs.set(kind, this.#tooEarly(kind) * 0.98);
    }
    this.#tooEarlyMs.set(kind, Math.max(this.#tooEarly(kind), runningMs));
    this.#firstPollMs.set(kind, Math.min(mostMs, Math.max(leastMs, next)));
  }
}
