/** Time as a parameter, so that tests can move it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Call `fn` once, `ms` from now; the answer takes the call back. Only with `keepAlive` the process waits for it. */
  after(ms: number, fn: () => void, options?: { keepAlive: boolean }): () => void;
}

/** The machine's own clock. It never goes back, whatever is done to the time of day. */
export const realClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
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
