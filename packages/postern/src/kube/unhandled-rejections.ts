import { AsyncLocalStorage } from "node:async_hooks";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";

/** Work whose promises may be rejected without anybody noticing: one reconcile of one object. */
export interface Work {
  /** One of its promises was rejected, and has no handler. */
  rejected(error: unknown): void;
}

const current = new AsyncLocalStorage<Work>();

/** Do some work; what is rejected in it without a handler is reported to it. */
export function runAttributed<T>(work: Work, run: () => Promise<T>): Promise<T> {
  return current.run(work, run);
}

/**
 * Keep an unhandled rejection from ending the process, which Node does by default: it fails the reconcile in which it happened
 * and no other. What happened in none is logged and counted. The answer takes this back.
 */
export function surviveUnhandledRejections(given: {
  log: Pick<Log, "error">;
  metrics: () => Pick<Metrics, "unhandledRejection">;
}): () => void {
  const handle = (error: unknown) => {
    // Node restores the context in which the promise was rejected.
    const work = current.getStore();
    if (work !== undefined) return work.rejected(error);
    given.metrics().unhandledRejection();
    given.log.error({ err: error }, "unhandled rejection");
  };
  process.on("unhandledRejection", handle);
  return () => void process.off("unhandledRejection", handle);
}
