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

  test("a new cluster costs 9 writes, and 10 reads with the looks at operations, 4 of them of private DNS", async () => {
    const world = await startGuest(start);
    await world.mark();
    await availableCluster(world, "one");
    const requests = world.armRequests();
    const writes = requests.filter(({ method }) => method !== "GET");
    const reads = requests.filter(({ method }) => method === "GET");
    expect(writes).toHaveLength(9);
    // Azure allows 500 reads of private DNS in five minutes: lists, which all clusters of a group share, instead of polls.
    expect(reads.filter(({ path }) => /privateDns/i.test(path))).toHaveLength(4);
    expect(reads).toHaveLength(10);
    expect(writes.every(({ status }) => status < 300)).toBe(true);
  });

  test("a base domain above the cluster's own gets zones for single hosts, which are deleted with the link", async () => {
    const world = await startGuest(start);
    const domain = "example.com";
    const link = await availableCluster(world, "one", { domain, baseDomain: domain });
    const zones = guestThings(world).filter((id) => /^privatednszones\/[^/]+(\/a\/.*)?$/.test(id));
    expect(zones.sort()).toEqual([
      "privatednszones/api-one.example.com",
      "privatednszones/api-one.example.com/a/@",
      "privatednszones/oauth-one.example.com",
      "privatednszones/oauth-one.example.com/a/@",
      "privatednszones/one.hypershift.local",
      "privatednszones/one.hypershift.local/a/*.apps",
      "privatednszones/one.hypershift.local/a/api",
    ]);
    await world.mark();
    await world.advance(10 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);
    expect(world.armRequests().filter(({ method }) => method !== "GET")).toEqual([]);
    await world.remove(link.thing);
    await world.until("nothing is left", async () => guestThings(world).length === 0, 10);
  });

  test("at rest nothing is written, no reconcile causes the next, and reads do not grow with the clusters", async () => {
    const world = await startGuest(start);
    for (const name of ["one", "two", "three"]) await availableCluster(world, name);
    await world.advance(10 * 60_000);
    await world.mark();
    await world.advance(10 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);
    const requests = world.armRequests();
    expect(requests.filter(({ method }) => method !== "GET")).toEqual([]);
    // Two lists for all of them every five minutes or so, and the zones whose turn it is.
    const lists = requests.filter(({ path }) => !/Links|ALL/.test(path));
    expect(lists.length).toBeLessThanOrEqual(16);
    expect(requests.length - lists.length).toBeLessThanOrEqual(40);
  });

  test.each([
    ["the endpoint", "/privateendpoints/private-router-pe"],
    ["a record", "/privatednszones/one.hypershift.local/a/api"],
    [
      "a link",
      "/privatednszones/one.example.com/virtualnetworklinks/private-router-basedomain-vnet-link",
    ],
  ])("%s that somebody deletes comes back", async (_what, part) => {
    const world = await startGuest(start);
    const link = await availableCluster(world, "one");
    const before = guestThings(world);
    const [id = ""] = world.azure.ids(part);
    world.azure.simulator.drop(id);
    expect(guestThings(world)).not.toEqual(before);
    const back = () => JSON.stringify(guestThings(world)) === JSON.stringify(before);
    await world.until("it is back", async () => back() && (await link.isAvailable()), 12);
  });

  test("an endpoint whose link service was recreated is replaced, and does not wait for approval for ever", async () => {
    const world = await startGuest(start);
    const link = await availableCluster(world, "one");
    const { simulator } = world.azure;
    for (const id of world.azure.ids("privateendpointconnections/")) simulator.drop(id);
    simulator.drop(link.serviceId);
    await link.say("False", "AzureError", null);
    await world.settled();
    expect((await link.told())[0]).toBe("False AzureError");
    await link.publish();
    await world.until("it is available again", () => link.isAvailable(), 5);
    const endpoint = world.azure.at(link.endpointId) as {
      properties: { manualPrivateLinkServiceConnections: { properties: object }[] };
    };
    const alias = (await link.now())?.status?.privateLinkServiceAlias;
    expect(endpoint.properties.manualPrivateLinkServiceConnections[0]?.properties).toMatchObject({
      privateLinkServiceId: alias,
    });
  });

  test("deleting the object leaves nothing, and lets it go", async () => {
    const world = await startGuest(start);
    const link = await availableCluster(world, "one");
    await world.mark();
    await world.remove(link.thing);
    await world.until("it is gone", async () => (await link.now()) === undefined, 5);
    expect(guestThings(world)).toEqual([]);
    const writes = world.armRequests().filter(({ method }) => method !== "GET");
    expect(writes.map(({ method }) => method)).toEqual(Array(5).fill("DELETE"));
  });

  test("deleting the control plane undoes the guest side although the object stays", async () => {
    const world = await startGuest(start);
    const link = await availableCluster(world, "one");
    await world.remove(link.hosted.controlPlane);
    await world.until("it is let go", async () => !(await link.hasFinalizer()), 5);
    expect(guestThings(world)).toEqual([]);
    expect((await link.told())[0]).toBe("False Deleting");
    await world.mark();
    await world.advance(10 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);
    expect(world.armRequests()).toEqual([]);
  });

  test("a control plane that is deleted before there is an alias does not hang", async () => {
    const world = await startGuest(start);
    const link = await makeLink(world, await heldCluster(world, "one"));
    await world.advance(10_000);
    expect(await link.hasFinalizer()).toBe(true);
    await world.remove(link.hosted.controlPlane);
    await world.until("it is let go", async () => !(await link.hasFinalizer()), 5);
    expect(guestThings(world)).toEqual([]);
  });

  test("killed and started again at any moment, it comes to the same end", async () => {
    const world = await startGuest(start);
    const link = await makeLink(world, await heldCluster(world, "one"));
    await link.publish();
    for (let kills = 0; kills < 12; kills++) {
      await world.advance(7_000);
      await world.stop();
      await world.start();
    }
    await world.until("it is available", () => link.isAvailable(), 10);
    expect(guestThings(world)).toHaveLength(9);
    await world.remove(link.thing);
    for (let kills = 0; kills < 8; kills++) {
      await world.advance(7_000);
      await world.stop();
      await world.start();
    }
    await world.until("it is gone", async () => (await link.now()) === undefined, 10);
    expect(guestThings(world)).toEqual([]);
  });

  test("a private cluster has Services for external-dns, and one that is public too has none", async () => {
    const world = await startGuest(start);
    const link = await availableCluster(world, "one");
    const { namespace } = link.hosted;
    const address = (await link.now())?.status?.privateEndpointIP;
    const service = await world.get("Service", namespace, "oauth-private-external");
    expect(service).toMatchObject({
      metadata: {
        annotations: { "external-dns.alpha.kubernetes.io/hostname": "oauth-one.one.example.com" },
      },
      spec: { type: "ExternalName", externalName: address },
    });
    const topology = { spec: { platform: { azure: { topology: "PublicAndPrivate" } } } };
    await world.patch(link.hosted.controlPlane, topology);
    await world.settled();
    expect(await world.get("Service", namespace, "oauth-private-external")).toBeUndefined();
    expect(await world.get("Service", namespace, "private-router")).toBeDefined();
  });

  test("a cluster whose API server is not behind the link is not available, although all of the link works", async () => {
    const world = await startGuest(start);
    const link = await availableCluster(world, "one");
    const byLoadBalancer = {
      service: "APIServer",
      servicePublishingStrategy: { type: "LoadBalancer" },
    };
    await world.patch(link.hosted.controlPlane, { spec: { services: [byLoadBalancer] } });
    await world.settled();
    expect(await link.told()).toEqual([
      "False APIServerNotBehindLink",
      "True AzureSuccess",
      "True AzureSuccess",
    ]);
  });

  test("a paused cluster is not changed, and is reconciled at once when the pause ends", async () => {
    const world = await startGuest(start);
    const hosted = await heldCluster(world, "one", { pausedUntil: "true" });
    const link = await makeLink(world, hosted);
    await link.publish();
    await world.advance(10 * 60_000);
    expect(guestThings(world)).toEqual([]);
    expect(await link.hasFinalizer()).toBe(false);
    expect((await link.told())[0]).toBe("False Paused");
    await world.patch(
      { ...hosted.cluster, kind: "HostedCluster" },
      { spec: { pausedUntil: null } },
    );
    await world.settled();
    expect(await link.hasFinalizer()).toBe(true);
    await world.until("it is available", () => link.isAvailable(), 5);
  });
});
