import type { Clock } from "@postern/core/clock.ts";
import { Bucket, type Limit } from "./bucket.ts";

/** Who has not asked for so long is deleted: drift is checked more often. */
const expiresMs = 11 * 60_000;
/** How many are remembered. */
const most = 20_000;

interface Asker {
  readAt: number;
  askedAt: number;
}

/**
 * The share of a limit that drift checks may use while nobody else needs it. Who was read longest ago goes first, so that the reads go
 * round all who want one.
 */
export class SpareReads {
  readonly #bucket: Bucket;
  readonly #clock: Clock;
  readonly #isIdle: () => boolean;
  readonly #startedAt: number;
  readonly #askers = new Map<string, Asker>();

  constructor(options: { limit: Limit; share: number; clock: Clock; isIdle: () => boolean }) {
    const { limit, share, clock, isIdle } = options;
    // No burst after a quiet time: in no 5 minutes are more sent than the share.
    const perSecond = limit.perSecond * share * 0.95;
    this.#bucket = new Bucket({ burst: 2, perSecond }, clock);
    this.#clock = clock;
    this.#isIdle = isIdle;
    this.#startedAt = clock.now();
  }

  /**
   * Whether a read may be sent now; it is counted then. `of`: what would be read, where others wait for their turn too; `everyMs`: not
   * more often than this.
   */
  take(of?: string, everyMs = 0): boolean {
    const now = this.#clock.now();
    const asker = of === undefined ? undefined : this.#askers.get(of);
    // What was never read for drift was read or written after this process began.
    if (of !== undefined && now - (asker?.readAt || this.#startedAt) < everyMs) return false;
    const waiting = of === undefined ? undefined : this.#ask(of, now);
    if (this.#bucket.waitMs > 0 || !this.#isIdle()) return false;
    if (waiting && !this.#isOldest(waiting, now)) return false;
    this.#bucket.take();
    if (waiting) waiting.readAt = now;
    return true;
  }

  #ask(of: string, now: number): Asker {
    // Zones come and go; what is forgotten is read once too often.
    if (this.#askers.size >= most) this.#askers.clear();
    const asker = this.#askers.get(of) ?? { readAt: 0, askedAt: now };
    asker.askedAt = now;
    this.#askers.set(of, asker);
    return asker;
  }

  /** Whether nobody else waits who was read earlier. */
  #isOldest({ readAt }: Asker, now: number): boolean {
    for (const [of, other] of this.#askers) {
      if (other.askedAt < now - expiresMs) this.#askers.delete(of);
      else if (other.askedAt > other.readAt && other.readAt < readAt) return false;
    }
    return true;
  }
}
