import type { Clock } from "@postern/core/clock.ts";
import type { ArmClient } from "../azure/arm.ts";
import { AzureError } from "../azure/errors.ts";
import { apiVersions } from "../azure/gateways/api-versions.ts";
import type { BackendPool } from "../azure/gateways/backend-pools.ts";
import { firstOutcome, pollOnce } from "../azure/operation-outcome.ts";
import { describePath } from "../azure/request-path.ts";

/** A write to a pool that Azure has taken. */
export interface PoolWrite {
  /** Azure is still at it. */
  running: boolean;
  /** What the pool is after this write, until the next one. */
  etag: string | undefined;
  /** Why it came to nothing, asked of its operation; undefined where it did not, or nobody knows. */
  failure(): Promise<AzureError | undefined>;
}

/**
 * Write a pool as it should be, on the condition that nobody has written since it was read. A write replaces every entry:
 * without the condition it would take away those that came in between.
 */
export async function writePool(
  arm: ArmClient,
  clock: Clock,
  read: BackendPool,
  body: BackendPool,
): Promise<PoolWrite> {
  const { id = "", etag } = read;
  const what = `write ${describePath(id).thing}`;
  if (etag === undefined) throw new AzureError({ code: "UnreadableAnswer", what });
  const query = { "api-version": apiVersions.network };
  const answer = await arm.request("PUT", id, { query, body, ifMatch: etag });
  const first = firstOutcome("PUT", answer, what);
  const { etag: after } = (answer.body ?? {}) as BackendPool;
  return {
    running: first.state === "running",
    etag: after,
    async failure() {
      if (first.state === "done") return undefined;
      if (first.state === "failed") return first.error;
      const poll = { id, method: "PUT" as const, query, what, ...first.poll };
      const outcome = await pollOnce(arm, poll, clock.now());
      return outcome.state === "failed" ? outcome.error : undefined;
    },
  };
}

/** Whether a later write took the place of this one. Whoever wrote it had read this one: nothing is lost by it. */
export function isSuperseded({ code }: AzureError): boolean {
  return code === "Canceled" || code === "CanceledAndSupersededDueToAnotherOperation";
}
