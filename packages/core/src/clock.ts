/** Time as a parameter, so that tests can move it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Call `fn` once, `ms` from now; the answer takes the call back. */
  after(ms: number, fn: () => void, options?: TimerOptions): () => void;
  /** The time of day, in milliseconds since the epoch, where `now` has run away from it. */
  timeOfDay?(): number;
}

export interface TimerOptions {
  /** Only with this the process waits for the call. */
  keepAlive?: boolean;
  /** It bounds work that is done elsewhere, which no clock that runs fast makes faster. */
  limit?: boolean;
}

/** What time it is for people: to write down, and to hold against what others wrote down. */
export function dateBy(clock: Clock): Date {
  return new Date(clock.timeOfDay?.() ?? clock.now());
}

const startedAt = Date.now() - process.uptime() * 1_000;

/** The machine's own clock. It never goes back, whatever is done to the time of day. */
export const realClock: Clock = {
  // Like `performance.now()`, which loads a module for it.
  now: () => startedAt + process.uptime() * 1_000,
  after(ms, fn, options) {
    const timer = setTimeout(fn, Math.min(ms, 0x7fffffff));
    if (!options?.keepAlive) timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Wait on a clock; an aborted signal ends the wait at once with its reason. */
export function wait(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      cancel();
      reject(signal?.reason);
    };
    const go = () => {
      signal?.removeEventListener("abort", stop);
      resolve();
    };
    const cancel = clock.after(ms, go, { keepAlive: true });
    signal?.addEventListener("abort", stop, { once: true });
  });
}
