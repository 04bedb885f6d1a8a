import { expect, test } from "vitest";
import { guestGroup } from "./azure.ts";
import {
  addressesAt,
  availableCluster,
  guestThings,
  heldCluster,
  makeLink,
  network,
  startGuest,
} from "./endpoint-world.ts";
import { describeHosted } from "./world.ts";

const internalZone = `${guestGroup}/${network}/privateDnsZones/one.hypershift.local`;
const baseZone = `${guestGroup}/${network}/privateDnsZones/one.example.com`;

describeHosted("the guest side of a private link", (start) => {
  test("a cluster becomes reachable by its names, within one operation after the alias is known", async () => {
    const world = await startGuest(start);
    const link = await makeLink(world, await heldCluster(world, "one"));
    await world.advance(70_000);
    await world.mark();
    await link.publish();
    const since = world.clock.now();
    await world.until("it is available", () => link.isAvailable());
    expect(world.clock.now() - since).toBeLessThanOrEqual(50_000);
    expect(guestThings(world)).toEqual([
      "privatednszones/one.example.com",
      "privatednszones/one.example.com/a/api-one",
      "privatednszones/one.example.com/a/oauth-one",
      "privatednszones/one.example.com/virtualnetworklinks/private-router-basedomain-vnet-link",
      "privatednszones/one.hypershift.local",
      "privatednszones/one.hypershift.local/a/*.apps",
      "privatednszones/one.hypershift.local/a/api",
      "privatednszones/one.hypershift.local/virtualnetworklinks/private-router-vnet-link",
      "privateendpoints/private-router-pe",
    ]);
    const thing = await link.now();
    const address = thing?.status?.privateEndpointIP as string;
    expect(addressesAt(world, internalZone, "api")).toEqual([address]);
    expect(addressesAt(world, baseZone, "oauth-one")).toEqual([address]);
    expect(thing?.status).toMatchObject({
      privateDNSZoneID: internalZone,
      dnsZoneName: "one.hypershift.local",
      baseDomainDNSZoneID: baseZone,
    });
  });

  test("a new cluster costs 9 writes, and 8 reads beside the looks at operations", async () => {
    const world = await startGuest(start);
    await world.mark();
    await availableCluster(world, "one");
    const requests = world.armRequests();
    const writes = requests.filter(({ method }) => method !== "GET");
    const reads = requests.filter(
      ({ method, path }) => method === "GET" && !/operation/i.test(path),
    );
    expect(writes).toHaveLength(9);
    expect(reads).toHaveLength(8);
    expect(writes.every(({ status }) => status < 300)).toBe(true);
  });
});
