/** Time as a parameter, so that tests can move it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Call `fn` once, `ms` from now; the answer takes the call back. */
  after(ms: number, fn: () => void): () => void;
}

/** The machine's own clock. Its timers never keep the process alive. */
export const realClock: Clock = {
  now: () => Date.now(),
  after(ms, fn) {
    const timer = setTimeout(fn, Math.min(ms, 0x7fffffff));
    timer.unref();
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
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener("abort", stop);
      resolve();
    });
    signal?.addEventListener("abort", stop, { once: true });
  });
}
