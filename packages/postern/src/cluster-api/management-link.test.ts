import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { resourceIn } from "@postern/core/resource-id.ts";
import { expect, test } from "vitest";
import { managementLinkGroup } from "./dns/objects/resource-groups.ts";
import { managementEndpoint, serviceOf } from "./endpoints/claims/desired.ts";
import { factsOf } from "./endpoints/spec/facts.ts";
import { annotations, managementLinkName } from "./names.ts";
import { desiredOf } from "./private-links/spec/desired.ts";

const subscriptionID = "11111111-1111-4111-8111-111111111111";
const cluster = (name: string, over: Partial<AzureCluster["metadata"]> = {}): AzureCluster => ({
  metadata: { namespace: "org", name, ...over },
  spec: {
    location: "westeurope",
    subscriptionID,
    resourceGroup: `${name}-group`,
    networkSpec: {
      subnets: [{ name: "nodes", role: "node" }],
      apiServerLB: { type: "Internal", frontendIPs: [{ name: "front" }] },
    },
  } as AzureCluster["spec"],
});

/** Where a workload cluster looks for the link service, and where DNS does. */
function namesOf(management: AzureCluster): string[] {
  const facts = factsOf(management, undefined);
  const endpoint = managementEndpoint(factsOf(cluster("wc"), undefined), facts, "gateway");
  const group = managementLinkGroup(management, "gateway");
  if (group === undefined) throw new Error("it has no group");
  const name = managementLinkName("mc", "gateway");
  return [serviceOf(endpoint), resourceIn(group, "Microsoft.Network/privateLinkServices", name)];
}

test("a link that the management cluster requests is looked for where it is created", () => {
  const link = {
    name: "MC-gateway-privatelink",
    natIPConfigurations: [{ allocationMethod: "Dynamic", subnet: "nodes" }],
    lbFrontendIPConfigNames: ["front"],
  };
  const requested = { annotations: { [annotations.privateLinks]: JSON.stringify([link]) } };
  const management = cluster("mc", requested);
  const created = desiredOf(management).links.map(({ id }) => id.toLowerCase());
  expect(created[0]).toContain("/resourcegroups/mc-group/");
  for (const id of namesOf(management)) expect([id.toLowerCase()]).toEqual(created);
});

test("a link that somebody else creates is looked for in the group with the name of the cluster", () => {
  for (const id of namesOf(cluster("mc"))) expect(id).toContain("/resourceGroups/mc/");
});
