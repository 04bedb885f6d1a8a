import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { DriftInterval } from "postern/azure/drift-interval.ts";
import { expect, test } from "vitest";
import { describeHosted, type HostedWorld, type Thing } from "../hosted/world.ts";
import {
  addressOf,
  baseZone,
  connect,
  connectBothWays,
  deleteCluster,
  groupOf,
  makeCluster,
  makeReady,
  makeWorkload,
  managementGroup,
  namesIn,
  networkOf,
  privateZone,
  publicZone,
  startDns,
  untilNamed,
  valuesAt,
  withGroup,
} from "./dns-world.ts";

const finalizer = "dns-operator-azure.giantswarm.io/azurecluster";
const ready = "True GSDNSZonesCreated";

const get = (world: HostedWorld, name: string, namespace = "org") =>
  world.get("AzureCluster", namespace, name);
const reported = async (world: HostedWorld, name: string, namespace = "org") =>
  world.condition(await get(world, name, namespace), "GSDNSZoneReady");
const isTold = (world: HostedWorld, name: string, desired = ready) =>
  world.until(`${name} says ${desired}`, async () => (await reported(world, name)) === desired);

describeHosted("the names of AzureClusters", (startWorld) => {
  test("a private cluster is born, is found by its names on both sides, and goes without a trace", async () => {
    const world = await startDns(startWorld);
    const before = world.azure.ids();
    const made = await makeWorkload(world, "wc1");
    await isTold(world, "wc1");
    const group = groupOf("wc1");
    const own = publicZone(group, "wc1");
    expect(valuesAt(world, own, "A", "api")).toEqual(["10.0.0.100"]);
    expect(valuesAt(world, own, "A", "apiserver")).toEqual(["10.0.0.100"]);
    const delegated = valuesAt(world, baseZone, "NS", "wc1");
    expect(world.azure.at(own)).toMatchObject({ properties: { nameServers: delegated } });
    expect(world.azure.at(`${baseZone}/NS/wc1`)).toMatchObject({ properties: { TTL: 3600 } });

    const there = privateZone(managementGroup, "wc1");
    const api = addressOf(world, "wc1-api-privatelink-privateendpoint");
    expect(valuesAt(world, there, "A", "apiserver")).toEqual([api]);
    expect(world.azure.at(`${there}/A/apiserver`)).toMatchObject({ properties: { ttl: 300 } });
    expect(world.azure.at(`${there}/virtualNetworkLinks/mc-vnet-link`)).toMatchObject({
      properties: {
        virtualNetwork: { id: networkOf(managementGroup) },
        registrationEnabled: false,
      },
    });
    const here = privateZone(group, "mc");
    const gateway = addressOf(world, "wc1-to-mc-gateway-privateendpoint");
    expect(valuesAt(world, here, "A", "ingress")).toEqual([gateway]);
    expect(valuesAt(world, here, "CNAME", "*")).toEqual(["ingress.mc.example.com"]);

    await deleteCluster(world, made);
    await world.until("it is let go", async () => (await get(world, "wc1")) === undefined);
    const left = world.azure.ids().filter((id) => !before.includes(id) && id.includes("zones"));
    expect(left).toEqual([]);
  });

  test("the finalizer is stored, and nobody's conditions are lost", async () => {
    const world = await startDns(startWorld);
    await makeWorkload(world, "wc1");
    await isTold(world, "wc1");
    const now = await get(world, "wc1");
    expect(now?.metadata.finalizers).toEqual([finalizer]);
    expect(now?.status?.conditions?.map(({ type }) => type)).toEqual([
      "LoadBalancersReady",
      "GSDNSZoneReady",
    ]);
  });

  test("a record that was changed or deleted behind its back is repaired within minutes, not half an hour", async () => {
    const world = await startDns(startWorld, {}, { drift: new DriftInterval() });
    await makeWorkload(world, "wc1");
    await isTold(world, "wc1");
    // Its first drift checks.
    await world.advance(60_000);
    const { simulator } = world.azure;
    const [own, there] = [publicZone(groupOf("wc1"), "wc1"), privateZone(managementGroup, "wc1")];
    const wrong = [{ ipv4Address: "10.9.9.9" }];
    for (const [zone, records] of [
      [own, "ARecords"],
      [there, "aRecords"],
    ] as const) {
      const before = valuesAt(world, zone, "A", "apiserver");
      const { properties } = world.azure.at(`${zone}/A/apiserver`) as { properties: JsonObject };
      simulator.change(`${zone}/A/apiserver`, { properties: { ...properties, [records]: wrong } });
      expect(valuesAt(world, zone, "A", "apiserver")).toEqual(["10.9.9.9"]);
      await world.advance(3 * 60_000);
      expect(valuesAt(world, zone, "A", "apiserver"), zone).toEqual(before);
      simulator.drop(`${zone}/A/apiserver`);
      await world.advance(3 * 60_000);
      expect(valuesAt(world, zone, "A", "apiserver"), zone).toEqual(before);
    }
  });

  test("drift checks use at most a tenth of the DNS reads of two subscriptions, and write nothing", async () => {
    const world = await startDns(startWorld, {}, { drift: new DriftInterval() });
    const names = ["wc1", "wc2", "wc3", "wc4", "wc5"];
    for (const name of names) await makeWorkload(world, name);
    for (const name of names) await isTold(world, name);
    await world.advance(60_000);
    await world.mark();
    await world.advance(300_000);
    const requests = world.armRequests();
    expect(requests.filter(({ method }) => method !== "GET")).toEqual([]);
    const dns = requests.filter(({ path }) => /\/(privateDns|dns)Zones/i.test(path));
    // 500 each for the subscriptions of the management cluster and of the workload clusters.
    expect(dns.length).toBeLessThanOrEqual(2 * 50);
  });

  test("at rest nothing is written, and the time of the condition stays", async () => {
    const world = await startDns(startWorld);
    for (const name of ["wc1", "wc10", "wc2"]) await makeWorkload(world, name);
    for (const name of ["wc1", "wc10", "wc2"]) await isTold(world, name);
    const time = async () =>
      (await get(world, "wc1"))?.status?.conditions?.find(({ type }) => type === "GSDNSZoneReady")
        ?.lastTransitionTime;
    const before = await time();
    await world.advance(60_000);
    await world.mark();
    await world.advance(30 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);
    expect(world.armRequests().filter(({ method }) => method !== "GET")).toEqual([]);
    expect(await time()).toBe(before);
  });

  test("nothing is made before the cluster is provisioned and its load balancers were looked at", async () => {
    const world = await startDns(startWorld);
    const made = await makeWorkload(world, "wc1", { ready: false });
    expect((await get(world, "wc1"))?.metadata.finalizers).toEqual([finalizer]);
    await makeReady(world, { cluster: made.cluster });
    await world.advance(3 * 60_000);
    expect(world.azure.ids("wc1.example.com")).toEqual([]);
    await makeReady(world, { azureCluster: made.azureCluster });
    await isTold(world, "wc1");
  });

  test("a paused cluster is left alone, and goes on when it no longer is", async () => {
    const world = await startDns(startWorld);
    const annotations = { "cluster.x-k8s.io/paused": "" };
    const { azureCluster } = await makeWorkload(world, "wc1", { annotations });
    await world.advance(10 * 60_000);
    expect((await get(world, "wc1"))?.metadata.finalizers).toBeUndefined();
    expect(world.azure.ids("wc1.example.com")).toEqual([]);
    await world.patch(azureCluster, {
      metadata: { annotations: { "cluster.x-k8s.io/paused": null } },
    });
    await isTold(world, "wc1");
  });

  test("a public cluster is reached at the address of its frontend, and has no private zones", async () => {
    const managementSpec = { networkSpec: { apiServerLB: { type: "Public" } } };
    const world = await startDns(startWorld, { managementSpec });
    const id = `${groupOf("wc1")}/providers/Microsoft.Network/publicIPAddresses/wc1-api`;
    const frontendIPs = [{ name: "front", publicIP: { name: "wc1-api" } }];
    await makeWorkload(world, "wc1", {
      connected: false,
      spec: { networkSpec: { apiServerLB: { type: "Public", frontendIPs } } },
    });
    await world.advance(60_000);
    expect(await reported(world, "wc1")).toBeUndefined();
    world.azure.simulator.change(id, {
      location: "westeurope",
      sku: { name: "Standard" },
      properties: { publicIPAllocationMethod: "Static" },
    });
    await isTold(world, "wc1");
    const [ipAddress] = valuesAt(world, publicZone(groupOf("wc1"), "wc1"), "A", "api") ?? [];
    expect(world.azure.at(id)).toMatchObject({ properties: { ipAddress } });
    expect(world.azure.ids("privatednszones")).toEqual([]);
  });

  test("a bastion has its names while it has an address", async () => {
    const world = await startDns(startWorld);
    const id = `${groupOf("wc1")}/providers/Microsoft.Network/publicIPAddresses/wc1-azure-bastion-pip`;
    world.azure.simulator.change(groupOf("wc1"), { location: "westeurope" });
    world.azure.simulator.change(id, {
      location: "westeurope",
      sku: { name: "Standard" },
      properties: { publicIPAllocationMethod: "Static" },
    });
    const { azureCluster } = await makeWorkload(world, "wc1", {
      spec: { bastionSpec: { azureBastion: { name: "wc1-azure-bastion" } } },
    });
    await isTold(world, "wc1");
    const own = publicZone(groupOf("wc1"), "wc1");
    const names = ["a api", "a apiserver", "a bastion", "a bastion1"];
    expect(namesIn(world, own)).toEqual(names);
    await world.patch(azureCluster, { spec: { bastionSpec: null } });
    await world.until("its names are gone", () => namesIn(world, own).length === 2);
  });

  test("a cluster in a resource group of another name has its zone there", async () => {
    const world = await startDns(startWorld);
    const made = await makeWorkload(world, "wc1", { group: "shared" });
    await isTold(world, "wc1");
    expect(namesIn(world, publicZone(groupOf("shared"), "wc1"))).toEqual(["a api", "a apiserver"]);
    expect(
      world.azure.at(
        `${privateZone(groupOf("shared"), "mc")}/virtualNetworkLinks/shared-vnet-link`,
      ),
    ).toBeDefined();
    await deleteCluster(world, made);
    await world.until("it is let go", async () => (await get(world, "wc1")) === undefined);
    expect(world.azure.ids("zones/wc1.example.com")).toEqual([]);
  });

  test("two clusters of one resource group share the zone of the management cluster until the last goes", async () => {
    const world = await startDns(startWorld);
    const one = await makeWorkload(world, "wc1", { group: "shared" });
    await isTold(world, "wc1");
    const two = await makeWorkload(world, "wc10", { group: "shared" });
    await isTold(world, "wc10");
    const zone = privateZone(groupOf("shared"), "mc");
    await deleteCluster(world, one);
    await world.until("the first is let go", async () => (await get(world, "wc1")) === undefined);
    await world.advance(6 * 60_000);
    const gateway = addressOf(world, "wc10-to-mc-gateway-privateendpoint");
    expect(valuesAt(world, zone, "A", "ingress")).toEqual([gateway]);
    await deleteCluster(world, two);
    await world.until("the second is let go", async () => (await get(world, "wc10")) === undefined);
    expect(world.azure.ids("zones/mc.example.com")).toEqual([]);
  });

  test("of two clusters of one resource group with a network each, the second is not led into that of the first", async () => {
    const world = await startDns(startWorld);
    const one = await makeWorkload(world, "wc1", { group: "shared", network: "wc1-vnet" });
    await isTold(world, "wc1");
    // Another endpoint there: by chance the two networks would have the same address for ours.
    const service = `${managementGroup}/providers/Microsoft.Network/privateLinkServices/mc-gateway-privatelink`;
    withGroup(world, groupOf("shared"), "wc10-api-privatelink", "wc10-vnet");
    connect(world, groupOf("shared"), "mine", service, "wc10-vnet");
    await makeWorkload(world, "wc10", { group: "shared", network: "wc10-vnet" });
    await isTold(world, "wc10", "False ZoneOfAnotherNetwork");
    const zone = privateZone(groupOf("shared"), "mc");
    const linked = () =>
      world.azure
        .ids(`${zone}/virtualNetworkLinks/`.toLowerCase())
        .map((id) => JSON.stringify(world.azure.at(id)))
        .map((text) => /virtualNetworks\/([-\w]+)/.exec(text)?.[1]);
    expect(linked()).toEqual(["wc1-vnet"]);
    expect(await reported(world, "wc1")).toBe(ready);
    await deleteCluster(world, one);
    await isTold(world, "wc10");
    expect(linked()).toEqual(["wc10-vnet"]);
    const gateway = addressOf(world, "wc10-to-mc-gateway-privateendpoint");
    expect(valuesAt(world, zone, "A", "ingress")).toEqual([gateway]);
  });

  test("what was deleted or changed by hand is put right", async () => {
    const world = await startDns(startWorld);
    await makeWorkload(world, "wc1");
    await isTold(world, "wc1");
    const own = publicZone(groupOf("wc1"), "wc1");
    world.azure.simulator.drop(`${own}/A/api`);
    world.azure.simulator.drop(`${baseZone}/NS/wc1`);
    await world.until("both are back", () =>
      [valuesAt(world, own, "A", "api"), valuesAt(world, baseZone, "NS", "wc1")].every(Boolean),
    );
  });

  test("an endpoint that is no longer approved has no names any more", async () => {
    const world = await startDns(startWorld);
    await makeWorkload(world, "wc1");
    await isTold(world, "wc1");
    const services = world.azure.ids("/privateendpointconnections/");
    const [connection = ""] = services.filter((id) => id.includes("/wc1-api-privatelink/"));
    const found = world.azure.at(connection) as { properties: Record<string, object> };
    world.azure.simulator.change(connection, {
      properties: {
        ...found.properties,
        privateLinkServiceConnectionState: { status: "Rejected", description: "no" },
      },
    } as never);
    const zone = privateZone(managementGroup, "wc1");
    await world.until("its zone is gone", () => world.azure.at(zone) === undefined);
    expect(await reported(world, "wc1")).toBe(ready);
  });

  test("an endpoint that comes later gets its names", async () => {
    const world = await startDns(startWorld);
    await makeWorkload(world, "wc1", { connected: false });
    await untilNamed(world, "wc1");
    expect(await reported(world, "wc1")).toBeUndefined();
    connectBothWays(world, "wc1", groupOf("wc1"));
    await isTold(world, "wc1");
    const zone = privateZone(managementGroup, "wc1");
    expect(valuesAt(world, zone, "A", "apiserver")).toBeDefined();
    expect(valuesAt(world, privateZone(groupOf("wc1"), "mc"), "A", "ingress")).toBeDefined();
  });

  test("a process that is killed anywhere comes to the same end", async () => {
    const world = await startDns(startWorld, {}, { stopped: true });
    await makeWorkload(world, "wc1");
    for (let reconciles = 0; reconciles < 6; reconciles++) {
      await world.start();
      await world.stop();
    }
    await world.start();
    await isTold(world, "wc1");
    expect(namesIn(world, privateZone(groupOf("wc1"), "mc"))).toEqual([
      "a gateway",
      "a ingress",
      "cname *",
    ]);
  });

  test("the management cluster has a zone of its own, and nothing private", async () => {
    const world = await startDns(startWorld);
    const cluster = await makeCluster(world, "mc", { namespace: "org-mc" });
    const azureCluster = await get(world, "mc", "org-mc");
    expect(azureCluster).toBeDefined();
    await makeReady(world, { cluster, ...(azureCluster && { azureCluster }) });
    await world.until("it is delegated", () => valuesAt(world, baseZone, "NS", "mc") !== undefined);
    await world.advance(60_000);
    expect(world.azure.ids("privatednszones")).toEqual([]);
    expect(world.azure.at(publicZone(managementGroup, "mc"))).toBeDefined();
  });

  test("a hundred clusters come together, and at rest cost no write and few reads", async () => {
    const world = await startDns(startWorld, {}, { stopped: true });
    const names = Array.from({ length: 100 }, (_, n) => `wc${n}`);
    for (const name of names) await makeWorkload(world, name);
    await world.start();
    const isReady = (thing: Thing) => world.condition(thing, "GSDNSZoneReady") === ready;
    const all = async () => (await world.list("AzureCluster", "org")).every(isReady);
    await world.until("all are ready", all, 60);
    const isNamed = (name: string) =>
      valuesAt(world, privateZone(managementGroup, name), "A", "api") !== undefined;
    expect(names.every(isNamed)).toBe(true);
    await world.advance(10 * 60_000);
    await world.mark();
    await world.advance(10 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);
    const requests = world.armRequests();
    expect(requests.filter(({ method }) => method !== "GET")).toEqual([]);
    // The zone, the zone of the management cluster and the endpoint of each, which lie in groups of its own.
    // They are looked at every 4.5 to 5.5 minutes, so some come three times in ten.
    const isLinks = ({ path }: { path: string }) => path.endsWith("/virtualNetworkLinks");
    const others = requests.filter((each) => !isLinks(each));
    expect(others.length).toBeLessThanOrEqual((10 / 4.5) * 3 * names.length + 20);
    // A link can fail without a change of its zone: as many are read as a tenth of the DNS reads of each of the two
    // subscriptions allows, 50 in five minutes, however many there are.
    expect(requests.length - others.length).toBeLessThanOrEqual(2 * 2 * 50);
  }, 240_000);
});
