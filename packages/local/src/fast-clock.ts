import { type Clock, realClock } from "@postern/core/clock.ts";

/**
 * A clock that runs so many times faster than the machine's: whoever waits by it waits a fraction of the time. What
 * bounds the work of others keeps its length, and the time of day is told beside.
 */
export function fastClock(speed: number, clock: Clock = realClock): Clock {
  const start = clock.now();
  return {
    now: () => start + (clock.now() - start) * speed,
    after: (ms, fn, options) => clock.after(options?.limit ? ms : ms / speed, fn, options),
    timeOfDay: () => clock.now(),
  };
}
