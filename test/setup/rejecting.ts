/** What a program needs in its environment so that SIGUSR2 rejects a promise in it on which nobody has a handler. */
export const rejectsOnSignal = {
  NODE_OPTIONS: `--import=${new URL("reject-on-signal.ts", import.meta.url).href}`,
};
