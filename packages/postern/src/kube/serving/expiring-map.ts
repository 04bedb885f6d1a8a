import type { Clock } from "@postern/core/clock.ts";

/** A map of at most so many entries, each of which expires. The oldest makes room for a new one. */
export class ExpiringMap<V> {
  readonly #entries = new Map<string, { value: V; until: number }>();
  readonly #clock: Clock;
  readonly #most: number;

  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#most = most;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.until > this.#clock.now()) return entry?.value;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, value: V, ms: number): void {
    this.#entries.delete(key);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size < this.#most) break;
      this.#entries.delete(oldest);
    }
    this.#entries.set(key, { value, until: this.#clock.now() + ms });
  }
}
