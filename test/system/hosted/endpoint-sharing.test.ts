import { randomUUID } from "node:crypto";
import { claimsIn } from "@postern/core/claims.ts";
import { resourceGroupId } from "@postern/core/resource-id.ts";
import { expect, test } from "vitest";
import { guestGroup, guestSubscription, location, ownIdentities } from "./azure.ts";
import {
  addressesAt,
  availableCluster,
  guestThings,
  heldCluster,
  makeLink,
  network,
  startGuest,
} from "./endpoint-world.ts";
import { describeHosted, type HostedWorld, type WorldOptions } from "./world.ts";

const shared = `${guestGroup}/${network}/privateDnsZones/shared.test`;
const baseDomain = "shared.test";

const claimsOn = (world: HostedWorld, id: string) => {
  const found = world.azure.at(id) as { top: { tags?: Record<string, string> } } | undefined;
  return claimsIn(found?.top.tags).map(({ clusterID }) => clusterID);
};

/** Who acts: one identity for all clusters, or one for each. */
const identities: Record<string, NonNullable<WorldOptions["credentialOf"]>> = {
  "one identity": (azure) => () => azure.guest,
  "identities of their own": ownIdentities,
};

describeHosted("what several links share", (start) => {
  test("two clusters in one resource group share the zone of their base domain, and deleting one leaves the other's DNS alone", async () => {
    const world = await startGuest(start);
    const [firstID, secondID] = [randomUUID(), randomUUID()];
    const first = await availableCluster(world, "one", { baseDomain, clusterID: firstID });
    const second = await availableCluster(world, "two", { baseDomain, clusterID: secondID });
    expect(claimsOn(world, shared).sort()).toEqual([firstID, secondID].sort());
    expect(
      world.azure.ids("/virtualnetworklinks/").filter((id) => id.includes("shared")),
    ).toHaveLength(1);
    const endpoints = world.azure.ids("/privateendpoints/").map((id) => id.split("/").at(-1));
    expect(endpoints).toEqual(["private-router-pe", `private-router-pe-${secondID}`]);
    expect(await first.isAvailable()).toBe(true);

    await world.remove(first.thing);
    await world.until("the first is gone", async () => (await first.now()) === undefined, 10);
    expect(claimsOn(world, shared)).toEqual([secondID]);
    expect(addressesAt(world, shared, "api-one")).toBeUndefined();
    const address = (await second.now())?.status?.privateEndpointIP;
    expect(addressesAt(world, shared, "api-two")).toEqual([address]);
    await world.advance(10 * 60_000);
    expect(await second.isAvailable()).toBe(true);

    await world.remove(second.thing);
    await world.until("the second is gone", async () => (await second.now()) === undefined, 10);
    expect(guestThings(world)).toEqual([]);
  });

  test("two clusters that come at once agree on one zone and one link", async () => {
    const world = await startGuest(start);
    const links = [];
    for (const name of ["one", "two"]) {
      links.push(await makeLink(world, await heldCluster(world, name, { baseDomain })));
    }
    for (const link of links) await link.publish();
    for (const link of links) await world.until("it is available", () => link.isAvailable(), 15);
    expect(claimsOn(world, shared)).toHaveLength(2);
    expect(
      world.azure.ids("/virtualnetworklinks/").filter((id) => id.includes("shared")),
    ).toHaveLength(1);
    expect(world.azure.ids("/privateendpoints/")).toHaveLength(2);
  });

  for (const [whose, credentialOf] of Object.entries(identities))
    test(`clusters that are deleted together, by ${whose}, leave the domain to the next one`, async () => {
      const world = await startGuest(start, {}, { credentialOf });
      const links = [];
      for (const name of ["one", "two", "three"])
        links.push(await availableCluster(world, name, { baseDomain }));
      for (const link of links) await world.remove(link.thing);
      for (const link of links)
        await world.until("it is gone", async () => (await link.now()) === undefined, 10);
      expect(guestThings(world)).toEqual([]);
      const next = await availableCluster(world, "next", { baseDomain });
      expect(addressesAt(world, shared, "api-next")).toBeDefined();
      await world.remove(next.thing);
      await world.until("it is gone", async () => (await next.now()) === undefined, 10);
      expect(guestThings(world)).toEqual([]);
    });

  test("two clusters in two resource groups and one network use one zone: Azure refuses to link a second", async () => {
    const world = await startGuest(start);
    world.azure.simulator.change(resourceGroupId(guestSubscription, "other"), { location });
    const first = await availableCluster(world, "one", { baseDomain });
    const second = await availableCluster(
      world,
      "two",
      { baseDomain },
      { resourceGroupName: "other" },
    );
    expect(
      world.azure.ids("/privatednszones/shared.test").filter((id) => id.endsWith("shared.test")),
    ).toEqual([shared.toLowerCase()]);
    expect((await second.now())?.status?.baseDomainDNSZoneID).toBe(shared);
    await world.remove(first.thing);
    await world.until("the first is gone", async () => (await first.now()) === undefined, 10);
    expect(addressesAt(world, shared, "api-two")).toBeDefined();
    expect(await second.isAvailable()).toBe(true);
    await world.remove(second.thing);
    await world.until("the second is gone", async () => (await second.now()) === undefined, 10);
    expect(guestThings(world)).toEqual([]);
  });

  test("the OAuth server's own link takes its record over when its endpoint works, and gives it back when it is deleted", async () => {
    const world = await startGuest(start);
    const router = await availableCluster(world, "one", { baseDomain });
    const routerAddress = (await router.now())?.status?.privateEndpointIP as string;
    const oauth = await makeLink(world, router.hosted, { name: "oauth-openshift" });
    await world.advance(60_000);
    expect(addressesAt(world, shared, "oauth-one")).toEqual([routerAddress]);
    await oauth.publish();
    await world.until("it is available", () => oauth.isAvailable(), 5);
    const own = (await oauth.now())?.status?.privateEndpointIP as string;
    expect(own).not.toBe(routerAddress);
    expect(addressesAt(world, shared, "oauth-one")).toEqual([own]);
    expect(await router.isAvailable()).toBe(true);

    await world.remove(oauth.thing);
    await world.until("it is gone", async () => (await oauth.now()) === undefined, 5);
    await world.settled();
    expect(addressesAt(world, shared, "oauth-one")).toEqual([routerAddress]);
    expect(addressesAt(world, shared, "api-one")).toEqual([routerAddress]);
    const internal = `${guestGroup}/${network}/privateDnsZones/one.hypershift.local`;
    expect(addressesAt(world, internal, "*.apps")).toEqual([routerAddress]);
    expect(await router.isAvailable()).toBe(true);
  });

  test("both links are deleted with their control plane, in whatever order they are reconciled", async () => {
    const world = await startGuest(start);
    const router = await availableCluster(world, "one", { baseDomain });
    const oauth = await makeLink(world, router.hosted, { name: "oauth-openshift" });
    await oauth.publish();
    await world.until("it is available", () => oauth.isAvailable(), 5);
    await world.remove(router.hosted.controlPlane);
    await world.until(
      "both are let go",
      async () => !(await oauth.hasFinalizer()) && !(await router.hasFinalizer()),
      10,
    );
    expect(guestThings(world)).toEqual([]);
  });

  test("an existing zone gets the names and nothing else, and keeps what it had", async () => {
    const world = await startGuest(start);
    const hub = resourceGroupId(guestSubscription, "hub");
    const internal = `${hub}/${network}/privateDnsZones/hypershift.local`;
    const base = `${hub}/${network}/privateDnsZones/shared.test`;
    const { simulator } = world.azure;
    simulator.change(hub, { location });
    for (const id of [internal, base])
      simulator.change(id, { location: "global", tags: { team: "network" } });
    simulator.change(`${base}/A/www`, {
      properties: { ttl: 60, aRecords: [{ ipv4Address: "10.1.1.1" }] },
    });
    const link = await availableCluster(world, "one", {
      baseDomain,
      annotations: {
        "postern.io/private-dns": "existing",
        "postern.io/private-dns-zone-id": internal,
        "postern.io/base-domain-dns-zone-id": base,
      },
    });
    const address = (await link.now())?.status?.privateEndpointIP as string;
    expect(addressesAt(world, internal, "api.one")).toEqual([address]);
    expect(addressesAt(world, base, "api-one")).toEqual([address]);
    await world.remove(link.thing);
    await world.until("it is gone", async () => (await link.now()) === undefined, 5);
    expect(guestThings(world)).toEqual([
      "privatednszones/hypershift.local",
      "privatednszones/shared.test",
      "privatednszones/shared.test/a/www",
    ]);
    expect(world.azure.at(base)).toMatchObject({ top: { tags: { team: "network" } } });
  });

  test("an annotation that changes moves the names, and leaves nothing behind", async () => {
    const world = await startGuest(start);
    const link = await availableCluster(world, "one", { baseDomain });
    const cluster = { ...link.hosted.cluster, kind: "HostedCluster" };
    await world.patch(cluster, { metadata: { annotations: { "postern.io/private-dns": "none" } } });
    await world.until(
      "the zones are gone",
      () => world.azure.ids("privatednszones").length === 0,
      5,
    );
    await world.until("it is available", () => link.isAvailable(), 5);
    expect((await link.now())?.status).not.toHaveProperty("privateDNSZoneID");
    await world.patch(cluster, { metadata: { annotations: { "postern.io/private-dns": null } } });
    await world.until(
      "the names are back",
      async () => addressesAt(world, shared, "api-one") !== undefined,
      5,
    );
    await world.until("it is available", () => link.isAvailable(), 5);
  });
});
