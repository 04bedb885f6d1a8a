import type { Failure } from "@postern/core/failure.ts";
import { expect, test } from "vitest";
import { management, workload } from "../../../../../../../test/cluster-api/paper-clusters.ts";
import { AzureError } from "../../../../azure/errors.ts";
import type { Reconcile } from "../../../../kube/reconcile.ts";
import { factsOf } from "../../spec/facts.ts";
import { observeRemaining, RemainingSince } from "./observe-delete.ts";

function observe(error: Error) {
  const failedReads: Failure[] = [];
  const reconcile = { failedReads, now: () => new Date(0) } as unknown as Reconcile;
  const [cluster, other] = [workload({ deleting: true }), management()].map((each) =>
    factsOf(each, undefined),
  );
  if (cluster === undefined || other === undefined) throw new Error("two clusters");
  const deletion = {
    cluster,
    management: other,
    managementObject: management(),
    neighbours: [cluster],
    applied: new Set<string>(),
  };
  const remaining = observeRemaining(
    deletion,
    () => {
      throw error;
    },
    { maxAgeMs: 0, since: new RemainingSince(), reconcile },
  );
  return { remaining, failedReads };
}

test("a deletion whose endpoints cannot be listed reports why, and a dry run does not say that nothing would change", async () => {
  const refused = new AzureError({
    code: "ClusterIdentityMissing",
    what: "act",
    detail: "missing",
  });
  const { remaining, failedReads } = observe(refused);
  expect((await remaining).failed).toEqual(refused.explain());
  expect(failedReads).toEqual([refused.explain()]);
});

test("a list that fails for a moment does not change the condition of a cluster that is being deleted", async () => {
  const transient = new AzureError({ code: "RetryableError", status: 429, what: "list" });
  expect(transient.explain().passing).toBe(true);
  await expect(observe(transient).remaining).rejects.toBe(transient);
});
