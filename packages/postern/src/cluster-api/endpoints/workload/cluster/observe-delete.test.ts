import type { Failure } from "@postern/core/failure.ts";
import { describe, expect, test } from "vitest";
import { management, workload } from "../../../../../../../test/cluster-api/paper-clusters.ts";
import { AzureError } from "../../../../azure/errors.ts";
import type { KubeClient } from "../../../../kube/client.ts";
import type { Reconcile } from "../../../../kube/reconcile.ts";
import { factsOf } from "../../spec/facts.ts";
import { observeRemaining, RemainingSince } from "./observe-delete.ts";

const deletedAt = Date.parse("2026-02-01T00:00:00Z");

interface Given {
  /** What the ARM client answers with. */
  error?: Error;
  /** When somebody wrote the spec of the management cluster, and its status. */
  writtenAt?: string;
  now?: string;
}

function observe({ error = missing, writtenAt = "", now = "2026-02-01T00:00:00Z" }: Given) {
  const failedReads: Failure[] = [];
  const date = () => new Date(now);
  const reconcile = { failedReads, now: date, date } as unknown as Reconcile;
  const managementObject = management();
  const managedFields = [
    { manager: "postern-endpoints", operation: "Update", time: writtenAt },
    { manager: "capz", operation: "Update", subresource: "status", time: now },
  ];
  const found = { ...managementObject, metadata: { ...managementObject.metadata, managedFields } };
  const kube = { get: async () => found } as unknown as KubeClient;
  const cluster = factsOf(workload({ deleting: true }), undefined);
  const deletion = {
    cluster,
    deletedAt,
    management: factsOf(managementObject, undefined),
    managementObject,
    neighbours: [cluster],
    applied: new Set<string>(),
  };
  const remaining = observeRemaining(
    deletion,
    () => {
      throw error;
    },
    { maxAgeMs: 0, since: new RemainingSince(), kube, reconcile },
  );
  return { remaining, failedReads };
}

const missing = new AzureError({ code: "ClusterIdentityMissing", what: "act", detail: "missing" });

test("a deletion whose endpoints cannot be listed reports why, and a dry run does not say that nothing would change", async () => {
  const { remaining, failedReads } = observe({ error: missing });
  expect((await remaining).failed).toEqual(missing.explain());
  expect(failedReads).toEqual([missing.explain()]);
});

test("a list that fails for a moment does not change the condition of a cluster that is being deleted", async () => {
  const transient = new AzureError({ code: "RetryableError", status: 429, what: "list" });
  expect(transient.explain().passing).toBe(true);
  await expect(observe({ error: transient }).remaining).rejects.toBe(transient);
});

describe("how long the management cluster has requested no endpoint to a cluster that is being deleted", () => {
  const cleanMs = async (given: Given) => (await observe(given).remaining).cleanMs;

  test("is known to a process that was just started, by the last write: the endpoint is not kept two minutes more", async () => {
    const given = { writtenAt: "2026-02-01T00:00:30Z", now: "2026-02-01T00:02:00Z" };
    expect(await cleanMs(given)).toBe(90_000);
  });

  test("begins with the deletion: a write from before may be under way", async () => {
    const given = { writtenAt: "2026-01-01T00:00:00Z", now: "2026-02-01T00:00:10Z" };
    expect(await cleanMs(given)).toBe(10_000);
  });

  test("is never less than nothing, whatever the clock of the API server says", async () => {
    const given = { writtenAt: "2026-03-01T00:00:00Z", now: "2026-02-01T00:00:10Z" };
    expect(await cleanMs(given)).toBe(0);
  });
});
