/** How long the first look at an operation of a kind never met before is put off. */
const unknownMs = 5_000;
const leastMs = 1_000;
const mostMs = 600_000;

/**
 * When to look at an operation for the first time, learned for each kind of operation.
 *
 * Asking costs a read of a small budget, and waiting too long costs time. So the first look is put
 * where four of five operations have ended: each that had ended moves it 5 % earlier, each that had
 * not moves it 25 % later, and the two balance at 0.25 : 0.05. No times are kept, so that a slow day
 * is forgotten.
 */
export class Durations {
  readonly #firstLookMs = new Map<string, number>();

  /** How long after its start an operation should be looked at first. */
  firstLookMs(kind: string): number {
    return this.#firstLookMs.get(kind) ?? unknownMs;
  }

  /** An operation has ended: how many looks it took, and when the last look that saw it running was. */
  learn(kind: string, looks: number, lastSeenRunningMs: number): void {
    const old = this.firstLookMs(kind);
    // Far off, it goes at once to where the operation was last seen running, but at most to the double.
    const next =
      looks <= 1 ? old / 1.05 : Math.min(2 * old, Math.max(1.25 * old, lastSeenRunningMs));
    this.#firstLookMs.set(kind, Math.min(mostMs, Math.max(leastMs, next)));
  }
}
