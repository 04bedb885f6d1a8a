/** How long a turn counts: about as long as a drift check takes to come again. */
const windowMs = 5 * 60_000;

/** How many private zones one identity may read per window, of the 500 private DNS reads that Azure allows a subscription. */
export const zoneTurns = {
  /** With all links and records: two requests. */
  whole: 10,
  /** Only the links: a zone counts its links, but nothing in it changes when one of them fails. One request. */
  links: 20,
} as const;

/** Lets a few zones at a time be read by drift checks, so that reads at rest do not grow with the clusters. */
export class ZoneTurns {
  readonly #taken = {
    whole: new WeakMap<object, number[]>(),
    links: new WeakMap<object, number[]>(),
  };

  /** Whether it is somebody's turn now. `whose` stands for the identity that reads. */
  take(what: keyof typeof zoneTurns, whose: object, now: number): boolean {
    const all = this.#taken[what];
    const taken = (all.get(whose) ?? []).filter((at) => at > now - windowMs);
    const free = taken.length < zoneTurns[what];
    if (free) taken.push(now);
    all.set(whose, taken);
    return free;
  }
}
