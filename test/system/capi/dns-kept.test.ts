import { expect, test } from "vitest";
import { describeHosted, type HostedWorld } from "../hosted/world.ts";
import {
  addressOf,
  connect,
  groupOf,
  makeWorkload,
  managementGroup,
  privateZone,
  startDns,
  valuesAt,
  withGroup,
} from "./dns-world.ts";

const isTold = (world: HostedWorld, name: string) =>
  world.until(`${name} has its names`, async () => {
    const now = await world.get("AzureCluster", "org", name);
    return world.condition(now, "GSDNSZoneReady") === "True GSDNSZonesCreated";
  });

describeHosted("names that still lead somewhere", (startWorld) => {
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
    await isTold(world, "wc1");
    const zone = privateZone(managementGroup, "wc1");
    const address = addressOf(world, "chosen-privateendpoint");
    expect(valuesAt(world, zone, "A", "apiserver")).toEqual([address]);

    await world.patch(azureCluster, { metadata: { annotations: links("[{") } });
    await world.advance(30 * 60_000);
    expect(valuesAt(world, zone, "A", "apiserver")).toEqual([address]);
  });
});
