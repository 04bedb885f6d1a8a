import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { defaultPolicy } from "@postern/core/tenant-policy.ts";
import { expect, test } from "vitest";
import { GroupClaims } from "./group-claims.ts";
import { Refusals } from "./refusals.ts";

const cluster = (namespace: string, name: string, at: string): AzureCluster =>
  ({
    metadata: { namespace, name, creationTimestamp: at },
    spec: { location: "x", subscriptionID: "s", resourceGroup: "shared" },
  }) as AzureCluster;

function started() {
  const claims = new GroupClaims();
  const refusals = new Refusals();
  let computed = 0;
  return {
    add: (after: AzureCluster) => claims.follow({ before: undefined, after }),
    remove: (before: AzureCluster) => claims.follow({ before, after: undefined }),
    computed: () => computed,
    refusalOf: (each: AzureCluster, identity: readonly string[] = ["org/one"]) =>
      refusals.of({
        cluster: each,
        policy: defaultPolicy,
        identity,
        claimsOn: (group) => {
          computed++;
          return claims.of(group);
        },
        stampOf: (group) => claims.stampOf(group),
        management: undefined,
      })?.code,
  };
}

test("the refusals of the clusters in one group are computed once for each, and not for each who asks", () => {
  const { add, refusalOf, computed } = started();
  const all = Array.from({ length: 300 }, (_, n) => cluster("org", `c${n}`, "2026-01-02"));
  for (const each of all) add(each);
  for (const _ of all) for (const each of all) expect(refusalOf(each)).toBeUndefined();
  expect(computed()).toBe(all.length);
});

test("a refusal follows the clusters of other namespaces in the group", () => {
  const { add, remove, refusalOf } = started();
  const own = cluster("org", "one", "2026-01-02");
  const [older, oldest] = [cluster("a", "x", "2026-01-01"), cluster("a", "y", "2025-01-01")];
  add(own);
  expect(refusalOf(own)).toBeUndefined();
  add(older);
  expect(refusalOf(own)).toBe("ResourceGroupTaken");
  add(oldest);
  remove(oldest);
  expect(refusalOf(own)).toBe("ResourceGroupTaken");
  remove(older);
  expect(refusalOf(own)).toBeUndefined();
});

test("a refusal follows who was the oldest, whatever was removed before", () => {
  const { add, remove, refusalOf } = started();
  const own = cluster("org", "one", "2026-01-02");
  const others = ["2025-01-01", "2025-01-02", "2026-01-03"].map((at, n) =>
    cluster("a", `x${n}`, at),
  );
  for (const each of [own, ...others]) add(each);
  expect(refusalOf(own)).toBe("ResourceGroupTaken");
  const [first, second] = others as [AzureCluster, AzureCluster];
  remove(first);
  remove(second);
  expect(refusalOf(own)).toBeUndefined();
});

test("a refusal follows the identity of the cluster", () => {
  const { add, refusalOf, computed } = started();
  const own = cluster("org", "one", "2026-01-02");
  add(own);
  refusalOf(own);
  refusalOf(own, ["org/two"]);
  expect(computed()).toBe(2);
});
