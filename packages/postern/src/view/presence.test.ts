import type { OperatorPresence } from "@postern/core/dashboard/picture.ts";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { expect, onTestFinished, test } from "vitest";
import { oneWorld } from "../../../../test/cli/one-world.ts";
import { json, serve } from "../../../../test/loopback.ts";
import { KubeClient } from "../kube/client.ts";
import type { LeaseObject } from "../kube/lease.ts";
import { pictureOf } from "./picture.ts";
import { operatorLeases, presenceByLeases } from "./presence.ts";

const now = new Date("2026-03-01T12:00:00Z");
const lease = (name: string, holderIdentity: string, secondsAgo: number): LeaseObject => ({
  metadata: { name, namespace: "postern" },
  spec: {
    holderIdentity,
    leaseDurationSeconds: 15,
    renewTime: new Date(now.getTime() - secondsAgo * 1_000).toISOString(),
  },
});

test.each<[string, LeaseObject[], object]>([
  ["nobody has ever held one", [], { state: "unknown" }],
  ["it is renewed", [lease("postern-operator", "a", 2)], { state: "leads", holder: "a" }],
  [
    "it is not renewed any more",
    [lease("postern-operator", "a", 16)],
    { state: "lost", holder: "a", since: "2026-03-01T11:59:44.000Z" },
  ],
  [
    "its holder has released it",
    [lease("postern-operator", "", 2)],
    { state: "lost", since: "2026-03-01T11:59:58.000Z" },
  ],
  [
    "its renewal is in the future",
    [lease("postern-operator", "a", -3_600)],
    { state: "lost", holder: "a", since: "2026-03-01T13:00:00.000Z" },
  ],
  [
    "only that for clusters of Cluster API runs",
    [lease("postern-cluster-api", "a", 2), lease("postern-operator", "b", 600)],
    {
      ...{ state: "lost", holder: "b", since: "2026-03-01T11:50:00.000Z" },
      clusterApi: { state: "leads", holder: "a" },
    },
  ],
  [
    "that for clusters of Cluster API does not run",
    [lease("postern-cluster-api", "a", 600), lease("postern-operator", "b", 2)],
    {
      ...{ state: "leads", holder: "b" },
      clusterApi: { state: "lost", holder: "a", since: "2026-03-01T11:50:00.000Z" },
    },
  ],
  [
    "there is only one for clusters of Cluster API",
    [lease("postern-cluster-api", "a", 2)],
    { state: "leads", holder: "a" },
  ],
])("by the Leases, %s", (_what, leases, presence) => {
  expect(presenceByLeases(leases, now)).toEqual(presence);
});

/** The names of the Leases that are an operator's, among these, by an API server that has this binding of its accounts. */
async function leasesAmong(leases: readonly LeaseObject[], subjects?: object[]) {
  const { url } = await serve(({ url: path }, response) => {
    if (!path.includes("/clusterrolebindings/")) return json(response, 200, { items: leases });
    if (subjects === undefined)
      return json(response, 403, { kind: "Status", reason: "Forbidden", message: "no" });
    json(response, 200, { metadata: { name: "postern-token-review" }, subjects });
  });
  const proof = async () => ({});
  const at = { server: new URL(url), namespace: "default", source: "the test", proof };
  const client = new KubeClient(at);
  onTestFinished(() => client.close());
  const found = await operatorLeases(client, AbortSignal.timeout(10_000));
  return found.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
}

const created = (object: LeaseObject, namespace: string, creationTimestamp: string) => ({
  ...object,
  metadata: { ...object.metadata, namespace, creationTimestamp },
});
const everywhere = [
  created(lease("postern-operator", "attacker", 2), "attacker", "2026-02-01T00:00:00Z"),
  created(lease("postern-x", "attacker", -1e9), "attacker", "2026-01-01T00:00:00Z"),
  created(lease("postern-install", "somebody", 2), "postern", "2026-01-01T00:00:00Z"),
  created(lease("postern-operator", "a", 600), "postern", "2026-01-01T00:00:00Z"),
];

test("attack: a Lease in a namespace of a tenant is no operator's, nor is the lock of an installation", async () => {
  const account = { kind: "ServiceAccount", namespace: "postern", name: "postern-operator" };
  expect(await leasesAmong(everywhere, [account])).toEqual(["postern/postern-operator"]);
  expect(await leasesAmong(everywhere.slice(0, 3), [account])).toEqual([]);
});

test("where bindings may not be read, the oldest Lease of a name is the operator's", async () => {
  expect(await leasesAmong(everywhere)).toEqual(["postern/postern-operator"]);
});

test("a cluster depends on the process that serves it, where Cluster API has one of its own", () => {
  const { kube, ...rest } = oneWorld({});
  const cluster = {
    metadata: { namespace: "org", name: "wc", uid: "wc" },
    spec: { networkSpec: { apiServerLB: { type: "Internal" } } },
    status: { conditions: [{ type: "GSPrivateLinksReady", status: "True" }] },
  } as unknown as AzureCluster;
  const lostAmong = (operator: OperatorPresence) =>
    pictureOf({ ...rest, kube: { ...kube, azureClusters: [cluster] }, operator })
      .clusters.filter(({ causes }) => causes.some(({ reason }) => reason === "OperatorLost"))
      .map(({ key }) => key);
  expect(lostAmong({ state: "leads", clusterApi: { state: "lost" } })).toEqual(["org/wc"]);
  expect(lostAmong({ state: "lost", clusterApi: { state: "leads" } })).toEqual(["clusters/one"]);
  expect(lostAmong({ state: "lost" }).toSorted()).toEqual(["clusters/one", "org/wc"]);
});
