import { DriftInterval } from "postern/azure/drift-interval.ts";
import { describe, expect, test } from "vitest";
import { describeHosted, type HostedWorld, type Thing } from "../hosted/world.ts";
import {
  baseZone,
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
  type Workload,
} from "./dns-world.ts";

const ready = "True GSDNSZonesCreated";
const get = (world: HostedWorld, name: string, namespace = "org") =>
  world.get("AzureCluster", namespace, name);
const reported = async (world: HostedWorld, name: string, namespace = "org") =>
  world.condition(await get(world, name, namespace), "GSDNSZoneReady");
const isTold = (world: HostedWorld, name: string, desired = ready, namespace = "org") =>
  world.until(
    `${name} says ${desired}`,
    async () => (await reported(world, name, namespace)) === desired,
  );
const isGone = (world: HostedWorld, name: string) =>
  world.until(`${name} is gone`, async () => (await get(world, name)) === undefined);
const inZones = (world: HostedWorld, name: string) =>
  world.azure
    .ids(`zones/${name}.example.com`)
    .concat(world.azure.ids(`/ns/${name}`).filter((id) => id.endsWith(`/ns/${name}`)));

const forbidden = {
  kind: "answer",
  status: 403,
  body: { error: { code: "AuthorizationFailed", message: "The client may not do that." } },
} as const;

/** A cluster whose delegation Azure refuses, and the fault that makes it so. */
async function makeUndelegated(world: HostedWorld) {
  const fault = world.azure.simulator.addFault({
    match: { method: "PUT", path: "*/dnsZones/example.com/NS/*" },
    effect: forbidden,
  });
  await makeWorkload(world, "wc1");
  await isTold(world, "wc1", "False AuthorizationFailed");
  return fault;
}

interface ZoneProperties {
  nameServers: string[];
}

describeHosted("names in trouble", (startWorld) => {
  describe("a link whose last write failed", () => {
    const zone = privateZone(managementGroup, "wc1");
    const linkId = `${zone}/virtualNetworkLinks/mc-vnet-link`;
    const stateOf = (world: HostedWorld) => world.azure.simulator.store.get(linkId)?.state;
    /** The state of a link changes, and nothing that its zone counts. */
    const setState = (world: HostedWorld, id: string, state: "Failed" | "Succeeded") => {
      const { store } = world.azure.simulator;
      const link = store.get(id);
      if (link === undefined) throw new Error(`${id} does not exist`);
      link.state = state;
      store.put(link);
    };
    const error = { code: "InternalServerError", message: "The write failed." };

    test("is noticed by a drift check within minutes, written again, and ready after that", async () => {
      const world = await startDns(startWorld, {}, { drift: new DriftInterval() });
      await makeWorkload(world, "wc1");
      await isTold(world, "wc1");
      await world.advance(12 * 60_000);
      const fault = world.azure.simulator.addFault({
        match: { method: "PUT", path: "*/virtualNetworkLinks/*" },
        effect: { kind: "operation", ms: 1_000, error },
      });
      setState(world, linkId, "Failed");
      const isFalse = async () => (await reported(world, "wc1"))?.startsWith("False") === true;
      await world.until("it is not ready", isFalse, 6);
      await world.advance(10 * 60_000);
      expect(await reported(world, "wc1")).toMatch(/^False/);
      // It may be written again at this very moment.
      expect(stateOf(world)).toMatch(/Failed|Updating/);
      world.azure.simulator.faults.remove(fault);
      await isTold(world, "wc1");
      expect(stateOf(world)).toBe("Succeeded");
    });

    test("and is somebody else's is reported, and ready when its owner has repaired it", async () => {
      const world = await startDns(startWorld);
      const location = "global";
      const byHand = `${zone}/virtualNetworkLinks/by-hand`;
      const { simulator } = world.azure;
      simulator.change(zone, { location, tags: { "postern_user_mc.org.wc1": "uid" } });
      const properties = { virtualNetwork: { id: networkOf(managementGroup) } };
      simulator.change(byHand, { location, properties });
      setState(world, byHand, "Failed");
      await makeWorkload(world, "wc1");
      await isTold(world, "wc1", "False ResourceFailed");
      await world.advance(10 * 60_000);
      expect(await reported(world, "wc1")).toBe("False ResourceFailed");
      expect(world.azure.at(byHand)).toMatchObject({ state: "Failed", properties });
      setState(world, byHand, "Succeeded");
      await isTold(world, "wc1");
    });
  });

  test("two clusters of one name in two namespaces: one has the names, the other is told whose they are", async () => {
    const world = await startDns(startWorld);
    await makeWorkload(world, "wc1");
    await isTold(world, "wc1");
    await makeWorkload(world, "wc1", { namespace: "org-other" });
    await isTold(world, "wc1", "False NameTaken", "org-other");
    const other = await get(world, "wc1", "org-other");
    expect(other?.status?.conditions?.at(-1)?.message).toContain(
      "An older Cluster in another namespace has the same name",
    );
    const events = await world.list("Event", "org-other");
    expect(events.map((each) => (each as unknown as { reason: string }).reason)).toContain(
      "NameTaken",
    );
    expect(await reported(world, "wc1")).toBe(ready);
  });

  test("of two clusters of one name only the one with the zone delegates to it, and keeps that when the other goes", async () => {
    const world = await startDns(startWorld);
    const fault = await makeUndelegated(world);
    world.azure.simulator.faults.remove(fault);
    const other = await makeWorkload(world, "wc1", { namespace: "org-other" });
    await isTold(world, "wc1", "False NameTaken", "org-other");
    await isTold(world, "wc1");
    await deleteCluster(world, other);
    const gone = async () => (await get(world, "wc1", "org-other")) === undefined;
    await world.until("the other is let go", gone);
    expect(valuesAt(world, baseZone, "NS", "wc1")).toBeDefined();
  });

  test("a base zone that may not be written is reported, the rest is there, and it is put right in time", async () => {
    const world = await startDns(startWorld);
    const fault = await makeUndelegated(world);
    expect(namesIn(world, publicZone(groupOf("wc1"), "wc1"))).toEqual(["a api", "a apiserver"]);
    const there = privateZone(managementGroup, "wc1");
    await world.until(
      "the rest is there",
      () => valuesAt(world, there, "A", "apiserver") !== undefined,
    );
    expect(await reported(world, "wc1")).toBe("False AuthorizationFailed");
    world.azure.simulator.faults.remove(fault);
    await isTold(world, "wc1");
    expect(valuesAt(world, baseZone, "NS", "wc1")).toBeDefined();
  });

  test("a base zone that is not there is reported", async () => {
    const world = await startDns(startWorld, { baseDomain: "example.org" });
    await makeWorkload(world, "wc1");
    await isTold(world, "wc1", "False BaseZoneMissing");
  });

  test("a cluster without a credential is reported, and the others go on", async () => {
    const world = await startDns(startWorld, {
      viewsOf: (clients) => ({
        ...clients,
        of: (cluster, reconcile) => {
          if (cluster.metadata.name !== "wc1") return clients.of(cluster, reconcile);
          throw Object.assign(new Error("none"), {
            explain: () => ({
              reason: "ClusterIdentityMissing",
              message: "no · identity · make it",
              requeueAfterMs: 60_000,
            }),
          });
        },
      }),
    });
    await makeWorkload(world, "wc1");
    await makeWorkload(world, "wc10");
    await isTold(world, "wc10");
    await isTold(world, "wc1", "False ClusterIdentityMissing");
  });

  test("when CAPZ has deleted the resource group first, the delegation goes all the same", async () => {
    const world = await startDns(startWorld);
    const made = await makeWorkload(world, "wc1");
    await isTold(world, "wc1");
    world.azure.simulator.drop(groupOf("wc1"));
    await deleteCluster(world, made);
    await isGone(world, "wc1");
    expect(inZones(world, "wc1")).toEqual([]);
  });

  test("when the infrastructure object has gone first, the delegation goes all the same", async () => {
    const world = await startDns(startWorld);
    const { cluster, azureCluster } = await makeWorkload(world, "wc1");
    await isTold(world, "wc1");
    await world.stop();
    await world.patch(azureCluster, { metadata: { finalizers: null } });
    await world.remove(azureCluster);
    await world.remove(cluster);
    await world.start();
    await world.until(
      "the delegation is gone",
      () => valuesAt(world, baseZone, "NS", "wc1") === undefined,
    );
    await world.until(
      "the zone is gone",
      () => world.azure.at(privateZone(managementGroup, "wc1")) === undefined,
    );
  });

  test("when the management AzureCluster is gone, what is with the cluster goes, and the rest is reported with the way out", async () => {
    const world = await startDns(startWorld);
    const made = await makeWorkload(world, "wc1", { group: "shared" });
    await isTold(world, "wc1");
    await world.stop();
    const management = await world.get("AzureCluster", "org-mc", "mc");
    await world.patch({ ...management, kind: "AzureCluster" } as Thing, {
      metadata: { finalizers: null },
    });
    await world.remove({ ...management, kind: "AzureCluster" } as Thing);
    await world.start();
    await deleteCluster(world, made);
    await isTold(world, "wc1", "False CleanupFailed");
    const current = await world.get("AzureCluster", "org", "wc1");
    const message = current?.status?.conditions?.find(
      ({ type }) => type === "GSDNSZoneReady",
    )?.message;
    expect(message).toContain("ManagementClusterNotFound");
    expect(message).toContain('postern.io/abandon-endpoints="true"');
    await world.until(
      "the zone in its own network is gone",
      () => world.azure.at(privateZone(groupOf("shared"), "mc")) === undefined,
    );
    expect(valuesAt(world, baseZone, "NS", "wc1")).toBeUndefined();
    const annotations = { "postern.io/abandon-endpoints": "true" };
    await world.patch(made.azureCluster, { metadata: { annotations } });
    await isGone(world, "wc1");
  });

  test("when the Cluster has gone first, the names go and the infrastructure object is let go", async () => {
    const world = await startDns(startWorld);
    const { cluster, azureCluster } = await makeWorkload(world, "wc1");
    await makeWorkload(world, "wc10");
    await isTold(world, "wc1");
    await isTold(world, "wc10");
    await world.patch(cluster, { metadata: { finalizers: null } });
    await world.remove(cluster);
    await world.settled();
    await world.remove(azureCluster);
    await isGone(world, "wc1");
    expect(inZones(world, "wc1")).toEqual([]);
    expect(await reported(world, "wc10")).toBe(ready);
    expect(valuesAt(world, baseZone, "NS", "wc10")).toHaveLength(4);
  });

  test("when another Cluster of the name has come meanwhile, the names are left to it", async () => {
    const world = await startDns(startWorld);
    const { cluster, azureCluster } = await makeWorkload(world, "wc1");
    await isTold(world, "wc1");
    await world.stop();
    await world.patch(cluster, { metadata: { finalizers: null } });
    await world.remove(cluster);
    await world.remove(azureCluster);
    const apiGroup = "infrastructure.cluster.x-k8s.io";
    const infrastructureRef = { apiGroup, kind: "AzureCluster", name: "wc1-new" };
    await makeCluster(world, "wc1", { spec: { infrastructureRef } });
    await world.start();
    await isGone(world, "wc1");
    expect(valuesAt(world, baseZone, "NS", "wc1")).toHaveLength(4);
    expect(world.azure.at(publicZone(groupOf("wc1"), "wc1"))).toBeDefined();
  });

  test("a private zone into which somebody has just put a name is left to them", async () => {
    const world = await startDns(startWorld);
    const made = await makeWorkload(world, "wc1");
    await isTold(world, "wc1");
    const zone = privateZone(managementGroup, "wc1");
    const properties = { ttl: 60, aRecords: [{ ipv4Address: "10.9.9.9" }] };
    world.azure.simulator.change(`${zone}/A/www`, { properties });
    await deleteCluster(world, made);
    await isGone(world, "wc1");
    expect(valuesAt(world, zone, "A", "www")).toEqual(["10.9.9.9"]);
    expect(namesIn(world, zone)).toEqual([]);
  });

  test("the link of a management cluster lies in the group of its name, whatever its own is", async () => {
    const world = await startDns(startWorld, { managementSpec: { resourceGroup: "elsewhere" } });
    await makeWorkload(world, "wc1");
    await isTold(world, "wc1");
    expect(namesIn(world, privateZone(groupOf("wc1"), "mc"))).toContain("a gateway");
  });

  test("a cluster whose infrastructure object comes late is looked at again", async () => {
    const world = await startDns(startWorld);
    const cluster = await makeCluster(world, "wc1");
    await makeReady(world, { cluster });
    await world.advance(5 * 60_000);
    await world.remove(cluster);
    await world.patch(cluster, { metadata: { finalizers: null } });
    await makeWorkload(world, "wc1");
    await isTold(world, "wc1");
  });

  test("what cannot be deleted keeps the object, which says so, until it can", async () => {
    const world = await startDns(startWorld);
    const made = await makeWorkload(world, "wc1");
    await isTold(world, "wc1");
    const fault = world.azure.simulator.addFault({
      match: { method: "DELETE" },
      effect: forbidden,
    });
    await deleteCluster(world, made);
    await isTold(world, "wc1", "False CleanupFailed");
    world.azure.simulator.faults.remove(fault);
    await isGone(world, "wc1");
    expect(inZones(world, "wc1")).toEqual([]);
  });

  test("the zones of the operator before us are taken over, and put right", async () => {
    const world = await startDns(startWorld);
    const { simulator } = world.azure;
    const group = groupOf("wc1");
    const own = publicZone(group, "wc1");
    const there = privateZone(managementGroup, "wc1");
    simulator.change(group, { location: "westeurope" });
    simulator.change(own, { location: "global" });
    simulator.change(`${own}/A/api`, {
      properties: { TTL: 300, ARecords: [{ ipv4Address: "10.9.9.9" }] },
    });
    const { nameServers } = (world.azure.at(own) as unknown as { properties: ZoneProperties })
      .properties;
    simulator.change(`${baseZone}/NS/wc1`, {
      properties: { TTL: 3600, NSRecords: nameServers.map((nsdname) => ({ nsdname })) },
    });
    simulator.change(there, { location: "global" });
    simulator.change(`${there}/A/apiserver`, {
      properties: { ttl: 300, aRecords: [{ ipv4Address: "10.9.9.9" }] },
    });
    simulator.change(`${there}/CNAME/*`, {
      properties: { ttl: 300, cnameRecord: { cname: "ingress.wc1.example.com" } },
    });
    simulator.change(`${there}/virtualNetworkLinks/mc-vnet-link`, {
      location: "global",
      properties: {
        virtualNetwork: { id: networkOf(managementGroup) },
        registrationEnabled: false,
      },
    });
    const made = await makeWorkload(world, "wc1");
    await isTold(world, "wc1");
    expect(valuesAt(world, own, "A", "api")).toEqual(["10.0.0.100"]);
    expect(valuesAt(world, there, "CNAME", "*")).toBeUndefined();
    expect(namesIn(world, there)).toEqual(["a api", "a apiserver"]);
    await deleteCluster(world, made);
    await isGone(world, "wc1");
    expect(inZones(world, "wc1")).toEqual([]);
  });

  test("where CAPZ's own zone of the same name answers in the network, it is left to it", async () => {
    const world = await startDns(startWorld);
    const zone = privateZone(groupOf("wc1"), "wc1");
    const capz = { "sigs.k8s.io_cluster-api-provider-azure_cluster_wc1": "owned" };
    world.azure.simulator.change(groupOf("wc1"), { location: "westeurope" });
    world.azure.simulator.change(zone, { location: "global", tags: capz });
    world.azure.simulator.change(`${zone}/virtualNetworkLinks/mc-vnet-link`, {
      location: "global",
      tags: capz,
      properties: {
        virtualNetwork: { id: networkOf(managementGroup) },
        registrationEnabled: false,
      },
    });
    const networkSpec = {
      vnet: { name: "vnet", id: networkOf(groupOf("wc1")) },
      apiServerLB: { type: "Internal", frontendIPs: [{ name: "front", privateIP: "10.0.0.100" }] },
      privateDNSZoneName: "wc1.example.com",
    };
    await makeWorkload(world, "wc1", { spec: { networkSpec } });
    await isTold(world, "wc1");
    expect(world.azure.at(privateZone(managementGroup, "wc1"))).toBeUndefined();
    expect(namesIn(world, zone)).toEqual([]);
  });

  test("addresses that stand in annotations are not believed without an endpoint", async () => {
    const prefix = "azure-private-endpoint-operator.giantswarm.io/";
    const annotations = {
      [`${prefix}private-link-apiserver-ip`]: "10.0.5.5",
      [`${prefix}private-link-mc-ingress-ip`]: "10.0.5.6",
    };
    const world = await startDns(startWorld);
    await makeWorkload(world, "wc1", { connected: false, annotations });
    await untilNamed(world, "wc1");
    await world.advance(10 * 60_000);
    expect(world.azure.ids("privatednszones")).toEqual([]);
  });
});

describeHosted("the operator for names, started again", (startWorld) => {
  const simulator = { operationMs: { "*": 5_000 } };

  async function untilAnswered(world: HostedWorld, count: number): Promise<boolean> {
    for (let second = 0; second < 90; second++) {
      if (world.armRequests().length >= count) return true;
      await world.advance(1_000);
    }
    return false;
  }

  test("after every number of requests makes the same names, and leaves nothing when they go", async () => {
    const world = await startDns(startWorld, {}, { simulator, stopped: true });
    for (let count = 1; ; count++) {
      const name = `c${count}`;
      const made: Workload = await makeWorkload(world, name);
      await world.start();
      await world.mark();
      const stopped = await untilAnswered(world, count);
      await world.stop();
      await world.start();
      await isTold(world, name);
      expect(namesIn(world, privateZone(managementGroup, name)), `after ${count}`).toEqual([
        "a api",
        "a apiserver",
      ]);
      await world.mark();
      await deleteCluster(world, made);
      await untilAnswered(world, count);
      await world.stop();
      await world.start();
      await isGone(world, name);
      expect(inZones(world, name), `after ${count}`).toEqual([]);
      await world.patch(made.cluster, { metadata: { finalizers: null } });
      await world.stop();
      if (!stopped) break;
      expect(count).toBeLessThan(60);
    }
  }, 240_000);

  test.each(["PUT", "DELETE"])(
    "loses every answer to a %s once, and the end is the same",
    async (method) => {
      const world = await startDns(startWorld, {}, { simulator });
      for (let nth = 1; nth <= 14; nth += 2)
        world.azure.simulator.addFault({
          match: { method },
          effect: { kind: "lost", when: "after" },
          nth,
        });
      const made = await makeWorkload(world, "wc1");
      await isTold(world, "wc1");
      await deleteCluster(world, made);
      await isGone(world, "wc1");
      expect(inZones(world, "wc1")).toEqual([]);
    },
  );
});
