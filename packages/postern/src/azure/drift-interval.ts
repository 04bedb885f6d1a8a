import { azureLimits, type Limits } from "./limits.ts";

/** The share of an idle read budget that drift checks use, where nothing else is configured. */
export const defaultDriftShare = 0.1;

/** How often everything is checked at most, and at least. */
export const shortestDriftMs = 20_000;
export const longestDriftMs = 5 * 60_000;
/** How many checks a second a process makes at most, whatever Azure allows: each takes a millisecond or two of CPU. */
const mostChecksPerSecond = 10;
/** How many checks the average number of reads is taken over. */
const averagedOver = 200;

/**
 * How often everything is checked for drift: as often as a share of the read budget allows, from every 20 s where there is little to
 * check to every 5 minutes. Lists are shared, so the reads of a check are measured and not assumed.
 */
export class DriftInterval {
  readonly #readsPerSecond: number;
  #reads = averagedOver;
  #checks = averagedOver;

  constructor(options: { limits?: Partial<Limits> | undefined; share?: number | undefined } = {}) {
    const { share = defaultDriftShare } = options;
    const limits = { ...azureLimits, ...options.limits };
    const tightest = Math.min(limits.reads.perSecond, limits["network-reads"].perSecond);
    this.#readsPerSecond = share * tightest;
  }

  /** A drift check has sent a read. */
  read(): void {
    this.#reads += 1;
  }

  /** An object has been checked. */
  checked(): void {
    this.#checks += 1;
    if (this.#checks < 2 * averagedOver) return;
    // Older reads and checks count for half.
    this.#checks /= 2;
    this.#reads /= 2;
  }

  /** After how long each of so many objects is checked again. */
  ms(objects: number): number {
    const reads = objects * (this.#reads / this.#checks);
    const seconds = Math.max(reads / this.#readsPerSecond, objects / mostChecksPerSecond);
    return Math.min(longestDriftMs, Math.max(shortestDriftMs, seconds * 1000));
  }
}
