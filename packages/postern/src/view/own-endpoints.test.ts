import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { expect, test } from "vitest";
import { guestGroup, ids, link, oneWorld } from "../../../../test/cli/one-world.ts";
import { ownConnections } from "./own-endpoints.ts";

const [, , subscriptionID = "", , resourceGroup = ""] = guestGroup.split("/");

/** An AzureCluster whose spec requests the endpoint of another cluster to its link service. */
function claiming(namespace: string): AzureCluster {
  const privateEndpoints = [
    {
      name: ids.endpoint.slice(ids.endpoint.lastIndexOf("/") + 1),
      privateLinkServiceConnections: [{ privateLinkServiceID: ids.service }],
    },
  ];
  const networkSpec = {
    apiServerLB: { type: "Internal" },
    subnets: [{ name: "node", privateEndpoints }],
  };
  const spec = { subscriptionID, resourceGroup, networkSpec };
  return { metadata: { namespace, name: "x", uid: namespace }, spec } as unknown as AzureCluster;
}

const status = { privateEndpointID: ids.endpoint, privateLinkServiceID: ids.service };

test("attack: an AzureCluster that names the endpoint and the link service of a hosted cluster does not get its connection", () => {
  const { kube } = oneWorld({
    kube: { links: [link({ status })], azureClusters: [claiming("evil")] },
  });
  expect(ownConnections(kube)(ids.endpoint, ids.service)).toBe("clusters/one");
});

test("attack: of two AzureClusters that name the same connection neither gets it, in whichever order they are read", () => {
  const [one, other] = [claiming("evil"), claiming("org")];
  const ownerAmong = (azureClusters: AzureCluster[]) =>
    ownConnections({ ...oneWorld({}).kube, links: [], azureClusters })(ids.endpoint, ids.service);
  expect(ownerAmong([other])).toBe("org/x");
  expect(ownerAmong([one, other])).toBeUndefined();
  expect(ownerAmong([other, one])).toBeUndefined();
  expect(ownerAmong([other, one, other])).toBeUndefined();
});
