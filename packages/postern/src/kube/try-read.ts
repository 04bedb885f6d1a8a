import { type Failure, isExplained } from "@postern/core/failure.ts";
import type { Pass } from "./pass.ts";

/**
 * Read something whose failure must not hold up the rest: what was read, or why it could not be. A failure that passes by
 * itself is thrown on, because the next reconcile reads again.
 */
export async function tryRead<T>(
  { failedReads }: Pick<Pass, "failedReads">,
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
