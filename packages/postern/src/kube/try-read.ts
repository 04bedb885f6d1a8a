import { type Failure, isExplained } from "@postern/core/failure.ts";
import type { Reconcile } from "./reconcile.ts";

/** Where failed reads are recorded, so that a dry run does not say that nothing would change. */
type Records = Pick<Reconcile, "failedReads">;

/**
 * Read something whose failure must not block the rest: the result, or why the read failed. A transient failure is thrown,
 * because the next reconcile reads again; except where it may last, as with a server of a tenant.
 */
export async function tryRead<T>(
  reconcile: Records,
  read: () => Promise<T>,
  given: { reportsTransient?: true } = {},
): Promise<T | { failed: Failure }> {
  try {
    return await read();
  } catch (error) {
    return recorded(reconcile, error, given.reportsTransient);
  }
}

/** The same for what nothing is awaited for, such as a credential. */
export function tryReadNow<T>(reconcile: Records, read: () => T): T | { failed: Failure } {
  try {
    return read();
  } catch (error) {
    return recorded(reconcile, error);
  }
}

function recorded(
  { failedReads }: Records,
  error: unknown,
  reportsTransient = false,
): { failed: Failure } {
  const failed = isExplained(error) ? error.explain() : undefined;
  if (failed === undefined || (failed.passing && !reportsTransient)) throw error;
  failedReads.push(failed);
  return { failed };
}
