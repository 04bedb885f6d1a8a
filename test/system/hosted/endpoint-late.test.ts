import { expect, test } from "vitest";
import { guestGroup, guestSubnet, location, managementNetwork } from "./azure.ts";
import { availableCluster, guestThings, makeLink, network, startGuest } from "./endpoint-world.ts";
import { describeHosted } from "./world.ts";

const baseZone = `${guestGroup}/${network}/privateDnsZones/one.example.com`;

describeHosted("what somebody did since it was last seen", (start) => {
  test("a record that somebody has just put into our zone outlives the cluster, and so does the zone", async () => {
    const world = await startGuest(start);
    const link = await availableCluster(world, "one");
    const theirs = `${baseZone}/A/theirs`;
    const aRecords = [{ ipv4Address: "10.9.9.9" }];
    world.azure.simulator.change(theirs, { properties: { ttl: 60, aRecords } });
    await world.remove(link.thing);
    await world.until("it is gone", async () => (await link.now()) === undefined, 5);
    expect(world.azure.at(theirs)).toBeDefined();
    expect(guestThings(world)).toEqual([
      "privatednszones/one.example.com",
      "privatednszones/one.example.com/a/theirs",
    ]);
  });

  test("a link that somebody has just made to our zone keeps the zone, and holds nobody up", async () => {
    const world = await startGuest(start);
    const link = await availableCluster(world, "one");
    world.azure.simulator.change(`${baseZone}/virtualNetworkLinks/theirs`, {
      location: "global",
      properties: { virtualNetwork: { id: managementNetwork }, registrationEnabled: false },
    });
    await world.remove(link.thing);
    await world.until("it is gone", async () => (await link.now()) === undefined, 3);
    expect(guestThings(world)).toEqual([
      "privatednszones/one.example.com",
      "privatednszones/one.example.com/virtualnetworklinks/theirs",
    ]);
  });

  test("an endpoint that somebody has just made in the place of ours is not deleted", async () => {
    const world = await startGuest(start);
    const link = await availableCluster(world, "one");
    const { simulator } = world.azure;
    simulator.drop(link.endpointId);
    const alias = (await link.now())?.status?.privateLinkServiceAlias;
    simulator.change(link.endpointId, {
      location,
      tags: { team: "theirs" },
      properties: {
        subnet: { id: guestSubnet },
        manualPrivateLinkServiceConnections: [
          { name: "theirs", properties: { privateLinkServiceId: alias as string } },
        ],
      },
    });
    await world.remove(link.thing);
    await world.until("it is gone", async () => (await link.now()) === undefined, 5);
    expect(guestThings(world)).toEqual(["privateendpoints/private-router-pe"]);
  });

  test("a cluster whose link lost its owner references leaves nothing when it goes", async () => {
    const world = await startGuest(start);
    const link = await availableCluster(world, "one");
    await world.patch(link.thing, { metadata: { ownerReferences: null } });
    await world.advance(60_000);
    expect(await link.isAvailable()).toBe(true);
    await world.remove(link.hosted.controlPlane);
    await world.until("it is let go", async () => !(await link.hasFinalizer()), 5);
    expect(guestThings(world)).toEqual([]);
  });

  test("a link that somebody deleted by force is followed by one that takes over what it left", async () => {
    const world = await startGuest(start);
    const link = await availableCluster(world, "one");
    const before = guestThings(world);
    await world.stop();
    await world.patch(link.thing, { metadata: { finalizers: null } });
    await world.remove(link.thing);
    const next = await makeLink(world, link.hosted);
    await world.start();
    await next.publish();
    await world.until("it is available", () => next.isAvailable(), 5);
    expect(guestThings(world)).toEqual(before);
    const tag = { postern_owner: expect.stringContaining(`/${next.thing.metadata.uid}`) };
    expect(world.azure.at(link.endpointId)).toMatchObject({ top: { tags: tag } });
    await world.remove(next.thing);
    await world.until("it is gone", async () => (await next.now()) === undefined, 5);
    expect(guestThings(world)).toEqual([]);
  });
});
