import { expect, test } from "vitest";
import { describeHosted } from "../hosted/world.ts";
import {
  addressOf,
  connect,
  groupOf,
  makeWorkload,
  managementGroup,
  networkOf,
  privateZone,
  startDns,
  valuesAt,
  withGroup,
} from "./dns-world.ts";

describeHosted("names that still lead somewhere", (startWorld) => {
  test("lead by the older way to the management cluster until the new one is connected", async () => {
    const world = await startDns(startWorld);
    withGroup(world, managementGroup, "mc-ingress-privatelink");
    withGroup(world, groupOf("wc1"), "wc1-api-privatelink");
    const service = (link: string) =>
      `${managementGroup}/providers/Microsoft.Network/privateLinkServices/mc-${link}-privatelink`;
    const older = "wc1-to-mc-privatelink-privateendpoint";
    const newer = "wc1-to-mc-gateway-privateendpoint";
    connect(world, groupOf("wc1"), older, service("ingress"));
    const group = groupOf("wc1");
    const kept = {
      name: older,
      privateLinkServiceConnections: [{ privateLinkServiceID: service("ingress") }],
    };
    await makeWorkload(world, "wc1", {
      connected: false,
      spec: {
        networkSpec: {
          vnet: { name: "vnet", id: networkOf(group) },
          apiServerLB: { type: "Public" },
          subnets: [{ name: "nodes", role: "node", privateEndpoints: [kept] }],
        },
      },
    });
    const zone = privateZone(group, "mc");
    const leadsTo = (endpoint: string) =>
      world.until(`ingress leads to ${endpoint}`, async () => {
        const [address] = valuesAt(world, zone, "A", "ingress") ?? [];
        return address === addressOf(world, endpoint);
      });
    await leadsTo(older);
    await world.advance(30 * 60_000);
    await leadsTo(older);
    connect(world, group, newer, service("gateway"));
    await leadsTo(newer);
  });

  test("stay when the links of the cluster can no longer be read", async () => {
    const world = await startDns(startWorld);
    withGroup(world, groupOf("wc1"), "chosen");
    const service = `${groupOf("wc1")}/providers/Microsoft.Network/privateLinkServices/chosen`;
    connect(world, managementGroup, "chosen-privateendpoint", service);
    const links = (text: string) => ({ "postern.io/private-links": text });
    const { azureCluster } = await makeWorkload(world, "wc1", {
      connected: false,
      annotations: links('[{"name":"chosen"}]'),
    });
    const zone = privateZone(managementGroup, "wc1");
    const address = addressOf(world, "chosen-privateendpoint");
    const named = async () => valuesAt(world, zone, "A", "apiserver")?.[0] === address;
    await world.until("apiserver has a name", named);

    await world.patch(azureCluster, { metadata: { annotations: links("[{") } });
    await world.advance(30 * 60_000);
    expect(valuesAt(world, zone, "A", "apiserver")).toEqual([address]);
  });
});
