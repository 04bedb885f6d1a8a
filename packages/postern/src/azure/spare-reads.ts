import type { Clock } from "@postern/core/clock.ts";
import { Bucket, type Limit } from "./bucket.ts";
import { longestDriftMs, shortestDriftMs } from "./drift-interval.ts";

/** A read that a drift check would send. */
export interface SpareRead {
  /** What is read: others wait for their turn too. */
  key: string;
  /** A list of zones shows what is missing in any of them; what is in a zone is read one by one. */
  of: "zones" | "contents";
  /** Not more often than this. */
  everyMs?: number;
}

/** Who did not ask so many times is forgotten: a zone that does not exist any more must hold up no other. */
const expiresAfter = 3;
/** How many are remembered. */
const most = 20_000;

interface Asker {
  readAt: number;
  askedAt: number;
  /** How often it asks. */
  everyMs: number;
}

/**
 * The share of a limit that drift checks may use while nobody else needs it. Of each kind who was read longest ago goes first, so that the
 * reads go round all who want one; where reads are scarce and both kinds wait, they take turns.
 */
export class SpareReads {
  readonly #bucket: Bucket;
  readonly #clock: Clock;
  readonly #isIdle: () => boolean;
  readonly #startedAt: number;
  readonly #askers = { zones: new Map<string, Asker>(), contents: new Map<string, Asker>() };
  #last: SpareRead["of"] = "contents";

  constructor(options: { limit: Limit; share: number; clock: Clock; isIdle: () => boolean }) {
    const { limit, share, clock, isIdle } = options;
    const perSecond = limit.perSecond * share;
    // In no 5 minutes are more sent than the share, a burst after a quiet time included.
    const burst = Math.max(2, perSecond * 300 * 0.12);
    this.#bucket = new Bucket({ burst, perSecond: perSecond * 0.85 }, clock);
    this.#clock = clock;
    this.#isIdle = isIdle;
    this.#startedAt = clock.now();
  }

  /** Whether a read may be sent now; it is counted then. */
  take({ key, of, everyMs = 0 }: SpareRead): boolean {
    const now = this.#clock.now();
    const known = this.#askers[of].get(key);
    // What was never read for drift was read or written after this process began.
    if (now - (known?.readAt || this.#startedAt) < everyMs) return false;
    const asker = this.#ask(this.#askers[of], key, now);
    if (this.#bucket.waitMs > 0 || !this.#isIdle()) return false;
    const other = of === "zones" ? "contents" : "zones";
    const isScarce = this.#bucket.remaining <= this.#bucket.limit.burst / 2;
    if (isScarce && of === this.#last && this.#waits(this.#askers[other], now)) return false;
    if (this.#waits(this.#askers[of], now, asker.readAt)) return false;
    this.#bucket.take();
    this.#last = of;
    asker.readAt = now;
    return true;
  }

  #ask(askers: Map<string, Asker>, key: string, now: number): Asker {
    // Zones come and go; what is forgotten is read once too often.
    if (askers.size >= most) askers.clear();
    const asker = askers.get(key) ?? { readAt: 0, askedAt: now, everyMs: longestDriftMs };
    // Several clusters ask for the same zone at once.
    if (now - asker.askedAt >= shortestDriftMs) asker.everyMs = now - asker.askedAt;
    asker.askedAt = now;
    askers.set(key, asker);
    return asker;
  }

  /** Whether somebody waits who was read before then. */
  #waits(askers: Map<string, Asker>, now: number, before = Number.POSITIVE_INFINITY): boolean {
    for (const [key, { readAt, askedAt, everyMs }] of askers) {
      if (now - askedAt > expiresAfter * everyMs) askers.delete(key);
      else if (askedAt > readAt && readAt < before) return true;
    }
    return false;
  }
}
