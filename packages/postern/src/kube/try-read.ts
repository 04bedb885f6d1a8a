import { type Failure, isExplained } from "@postern/core/failure.ts";
import type { Reconcile } from "./reconcile.ts";

/**
 * Read something whose failure must not block the rest: the result, or why the read failed. A transient failure is thrown,
 * because the next reconcile reads again.
 */
export async function tryRead<T>(
  { failedReads }: Pick<Reconcile, "failedReads">,
  read: () => Promise<T>,
): Promise<T | { failed: Failure }> {
  try {
    return await read();
  } catch (error) {
    const failed = isExplained(error) ? error.explain() : undefined;
    if (failed === undefined || failed.passing) throw error;
    failedReads.push(failed);
    return { failed };
  }
}
