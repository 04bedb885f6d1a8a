/** How long a turn counts, and how many of them an identity has in that time. */
const windowMs = 5 * 60_000;
const most = 10;

/** Lets a few zones at a time be read whole by drift checks, so that reads at rest do not grow with the clusters. */
export class ZoneTurns {
  readonly #taken = new WeakMap<object, number[]>();

  /** Whether it is somebody's turn now. `whose` stands for the identity that reads. */
  take(whose: object, now: number): boolean {
    const taken = (this.#taken.get(whose) ?? []).filter((at) => at > now - windowMs);
    const free = taken.length < most;
    if (free) taken.push(now);
    this.#taken.set(whose, taken);
    return free;
  }
}
