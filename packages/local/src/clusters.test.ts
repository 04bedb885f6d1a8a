import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { expect, test } from "vitest";
import { type Known, rowsOf } from "./clusters.ts";

const hosted = (conditions: object[], over: object = {}, topology = "Private") =>
  ({
    metadata: { namespace: "clusters", name: "blue", ...over },
    spec: { platform: { azure: { topology } } },
    status: { conditions },
  }) as unknown as HostedCluster;
const azure = (namespace: string, name: string, conditions: object[]) =>
  ({ metadata: { namespace, name }, status: { conditions } }) as unknown as AzureCluster;
const holds = (...types: string[]) => types.map((type) => ({ type, status: "True" }));
const five = [
  "AzureInternalLoadBalancerAvailable",
  "AzurePLSCreated",
  "AzurePrivateEndpointAvailable",
  "AzurePrivateDNSAvailable",
  "AzurePrivateLinkServiceAvailable",
];
const nothing: Known = {
  hostedClusters: [],
  azureClusters: [],
  managementCluster: "org-mc/mc",
  appliances: [],
};

test.each([
  ["all of whose conditions hold is available", hosted(holds(...five)), "available", ""],
  ["of which nothing is known is at its first step", hosted([]), "working", "load balancer"],
  [
    "is at the first condition that does not hold, in its words",
    hosted([
      ...holds(...five.slice(0, 2)),
      { type: five[2], status: "False", reason: "Creating", message: "it is made · wait · no" },
    ]),
    "working",
    "private endpoint: it is made",
  ],
  [
    "that is being deleted is going",
    hosted(holds(...five), { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    "going",
    "being deleted",
  ],
  ["that is public needs no connection", hosted([], {}, "Public"), "available", "not private"],
])("a hosted cluster %s", (_what, cluster, state, step) => {
  expect(rowsOf({ ...nothing, hostedClusters: [cluster] })).toMatchObject([{ state, step }]);
});

test("a workload cluster needs its links, endpoints, addresses and names, the management cluster its links", () => {
  const links = holds("PrivateLinksReady");
  const azureClusters = [azure("org-mc", "mc", links), azure("org", "wc", links)];
  expect(rowsOf({ ...nothing, azureClusters })).toMatchObject([
    { name: "org-mc/mc", what: "management", state: "available" },
    { name: "org/wc", state: "working", step: "private endpoints" },
  ]);
});

test("an appliance is available when it is in its pool", () => {
  const of = (state: "joining" | "member" | "failed") => ({ name: state, pool: "p", state });
  const appliances = [of("member"), of("joining"), { ...of("failed"), message: "no right" }];
  expect(rowsOf({ ...nothing, appliances })).toMatchObject([
    { state: "available", step: "in pool p" },
    { state: "working", step: "joining pool p" },
    { state: "failed", step: "no right" },
  ]);
});
