import { realClock, wait } from "@postern/core/clock.ts";
import type { Overview } from "@postern/core/dashboard/fleet.ts";
import type { Local } from "./local.ts";

/** How long nothing is read after a read: part of what it took, so that hundreds of clusters leave time for the work itself. */
const leastRestMs = 250;
const restShare = 5;
/** How long nothing is read while nothing happens. What changes in Azure alone is told by nobody. */
const quietMs = 1_500;
/** A real Azure has a budget. */
const realRestMs = 5_000;
const realQuietMs = 15_000;
/** One read that fails is no news; two in a row are. */
const mostFailures = 2;

/** What the dashboard shows, read again and again. */
export interface Overviews {
  /** The last one; undefined before the first. */
  latest(): Overview | undefined;
  /** Why they cannot be read any more. */
  failure(): string | undefined;
  stop(): void;
}

/** Read what the dashboard shows, soon after a step and now and then without one, until it is stopped. */
export function watchOverviews({ overview, operator, simulator }: Local): Overviews {
  const stopping = new AbortController();
  const { signal } = stopping;
  const least = simulator ? leastRestMs : realRestMs;
  let latest: Overview | undefined;
  let failures: string[] = [];
  let happened: () => void = () => undefined;
  const unlisten = operator.journal.listen(() => happened());
  const rest = async (tookMs: number) => {
    const quiet = new AbortController();
    happened = () => quiet.abort();
    await wait(realClock, Math.max(least, restShare * tookMs), signal);
    if (!quiet.signal.aborted)
      await wait(
        realClock,
        simulator ? quietMs : realQuietMs,
        AbortSignal.any([signal, quiet.signal]),
      ).catch(() => undefined);
  };
  const run = async () => {
    while (!signal.aborted) {
      const begun = realClock.now();
      try {
        latest = await overview();
        failures = [];
      } catch (error) {
        failures.push(error instanceof Error ? error.message : String(error));
      }
      await rest(realClock.now() - begun).catch(() => undefined);
    }
  };
  void run().catch(() => undefined);
  return {
    latest: () => latest,
    failure: () => (failures.length >= mostFailures ? failures.at(-1) : undefined),
    stop: () => {
      unlisten();
      stopping.abort(new Error("stopping"));
    },
  };
}
