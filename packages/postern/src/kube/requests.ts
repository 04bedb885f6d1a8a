import type { Clock } from "@postern/core/clock.ts";

/** On an object: reconcile it now, with fresh reads. Any new value counts; a time is usual, as with Flux. */
export const requestAnnotation = "postern.io/requested-at";

/** Whoever may annotate an object must not make the operator read Azure all the time. */
const intervalMs = 60_000;

interface Known {
  annotation: string | undefined;
  /** When the last request counted. */
  at: number;
  /** Another came too soon after it, and counts when the minute is over. */
  isDeferred: boolean;
}

/** Requests to reconcile an object with fresh reads: at most one a minute for each object. */
export class Requests {
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Take note of an object's annotation. A new value is a request; the first one that is observed is not. */
  observe(key: string, annotation: string | undefined): void {
    const known = this.#known.get(key);
    if (known !== undefined && known.annotation === annotation) return;
    const { at = Number.NEGATIVE_INFINITY, isDeferred = false } = known ?? {};
    const next = { annotation, at, isDeferred };
    this.#known.set(key, next);
    if (known !== undefined && annotation !== undefined && !this.add(key)) next.isDeferred = true;
  }

  /** Request one now. Whether it counts: not so soon after the last one. */
  add(key: string): boolean {
    const now = this.#clock.now();
    const { annotation, at = Number.NEGATIVE_INFINITY } = this.#known.get(key) ?? {};
    if (now - at < intervalMs) return false;
    this.#known.set(key, { annotation, at: now, isDeferred: false });
    return true;
  }

  /** Since when reads must have been made; undefined where nobody has asked. */
  since(key: string): number | undefined {
    if (this.#known.get(key)?.isDeferred) this.add(key);
    const at = this.#known.get(key)?.at;
    return at === undefined || at === Number.NEGATIVE_INFINITY ? undefined : at;
  }

  /** In how many ms a request counts that came too soon. */
  dueMs(key: string): number | undefined {
    const known = this.#known.get(key);
    return known?.isDeferred ? Math.max(0, known.at + intervalMs - this.#clock.now()) : undefined;
  }

  delete(key: string): void {
    this.#known.delete(key);
  }
}
