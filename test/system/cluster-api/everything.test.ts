import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { nameOf, type ResourceId, resourceGroupId } from "@postern/core/resource-id.ts";
import { defaultPolicy } from "@postern/core/tenant-policy.ts";
import { Registry } from "@prometheus-io/client";
import type { ClusterArmClients } from "postern/cluster-api/identities.ts";
import { clusterApiControllers } from "postern/operator/controllers.ts";
import { expect, test } from "vitest";
import { guestSubscription, location, managementSubscription } from "../hosted/azure.ts";
import { describeHosted, type HostedWorld, type Thing } from "../hosted/world.ts";
import { backup, idsOf, lose, restore } from "../restored.ts";
import {
  azureClusterObject,
  clusterObject,
  controlPlaneObject,
  identityObject,
  management,
  namespaces,
} from "./objects.ts";

const provider = "providers/Microsoft.Network";
const baseGroup = resourceGroupId(managementSubscription, "base");
const gates = ["GSPrivateLinksReady", "GSDNSZoneReady"];
const count = 75;
/** What CAPZ reports. */
const balancersReady = {
  type: "LoadBalancersReady",
  status: "True",
  lastTransitionTime: "2026-01-01T00:00:00Z",
};

describeHosted("every controller of Cluster API", (start) => {
  /** What CAPZ has made of a cluster: a group, a network and the load balancer of its API server. */
  function inAzure({ azure }: HostedWorld, group: ResourceId): void {
    const { simulator } = azure;
    const vnet = `${group}/${provider}/virtualNetworks/vnet`;
    const subnet = { id: `${vnet}/subnets/nodes` };
    simulator.change(group, { location });
    simulator.change(vnet, {
      location,
      properties: {
        addressSpace: { addressPrefixes: ["10.0.0.0/16"] },
        subnets: [{ name: "nodes", properties: { addressPrefix: "10.0.0.0/20" } }],
      },
    });
    simulator.change(`${group}/${provider}/loadBalancers/${nameOf(group)}-internal-lb`, {
      location,
      sku: { name: "Standard" },
      properties: { frontendIPConfigurations: [{ name: "front", properties: { subnet } }] },
    });
  }

  /** A private AzureCluster with a link, which nobody but us makes. */
  const cluster = (namespace: string, name: string, own: string, other: string, link: string) =>
    azureClusterObject(namespace, name, {
      subscriptionID: own,
      networkSpec: {
        vnet: {
          name: "vnet",
          id: `${resourceGroupId(own, name)}/${provider}/virtualNetworks/vnet`,
        },
        apiServerLB: {
          type: "Internal",
          frontendIPs: [{ name: "front", privateIP: "10.0.0.100" }],
          privateLinks: [
            {
              name: link,
              natIPConfigurations: [{ allocationMethod: "Dynamic", subnet: "nodes" }],
              lbFrontendIPConfigNames: ["front"],
              allowedSubscriptions: [other],
              autoApprovedSubscriptions: [other],
            },
          ],
        },
        subnets: [{ name: "nodes", role: "node" }],
      },
    });

  async function startAll(): Promise<HostedWorld> {
    const world = await start({
      features: (armClients) => {
        const guest: ClusterArmClients["forReference"] = (_, reconcile) =>
          armClients.hosted({} as HostedControlPlane, reconcile);
        const clients: ClusterArmClients = {
          of: (each, reconcile) =>
            each.spec.subscriptionID === managementSubscription
              ? armClients.management(reconcile)
              : guest(each, reconcile),
          policy: defaultPolicy,
          refusalOf: () => undefined,
          referenceRefusalOf: () => undefined,
          forReference: guest,
          management: (reconcile) => armClients.management(reconcile),
          baseZone: (reconcile) => armClients.management(reconcile),
          watch: () => [],
        };
        const settings = {
          managementCluster: management,
          gates,
          managementLinks: ["gateway"] as const,
          dns: { baseDomain: "example.com", baseZoneGroup: baseGroup },
          others: {},
        };
        return clusterApiControllers(clients, settings, new Registry());
      },
      stopped: true,
    });
    const { simulator } = world.azure;
    await namespaces(world, "org-mc", "org");
    simulator.change(baseGroup, { location });
    simulator.change(`${baseGroup}/${provider}/dnsZones/example.com`, { location: "global" });
    for (const namespace of ["org", "org-mc"]) await world.make(identityObject(namespace, "one"));
    inAzure(world, resourceGroupId(managementSubscription, "mc"));
    const link = "mc-gateway-privatelink";
    await world.make(cluster("org-mc", "mc", managementSubscription, guestSubscription, link));
    return world;
  }

  async function makeWorkload(world: HostedWorld, name: string): Promise<void> {
    inAzure(world, resourceGroupId(guestSubscription, name));
    const link = `${name}-api-privatelink`;
    const azure = cluster("org", name, guestSubscription, managementSubscription, link);
    const made = await world.make(azure);
    const owner = await world.make(clusterObject("org", name));
    await world.make(controlPlaneObject(owner));
    await world.patch(owner, { status: { phase: "Provisioned" } }, "status");
    await world.patch(made, { status: { conditions: [balancersReady] } }, "status");
  }

  test(`writes nothing at rest, with ${count} clusters that have everything`, async () => {
    const world = await startAll();
    const names = Array.from({ length: count }, (_, n) => `wc${n}`);
    for (const name of names) await makeWorkload(world, name);
    await world.start();
    const isReady = (each: Thing) =>
      [...gates, "PrivateLinksReady", "PrivateEndpointsReady"].every((type) =>
        world.condition(each, type)?.startsWith("True "),
      );
    const all = async () => {
      const found = await world.list("AzureCluster", "org");
      return found.length === count && found.every(isReady);
    };
    await world.until("all are ready", all, 60);
    const waiting = (await world.list("KubeadmControlPlane", "org")).filter(
      ({ metadata }) => metadata.annotations?.["cluster.x-k8s.io/paused"] !== undefined,
    );
    expect(waiting).toEqual([]);
    expect(await world.list("ProviderConfig")).toHaveLength(count);
    await world.advance(10 * 60_000);
    await world.mark();
    await world.advance(10 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);
    const asked = world.armRequests();
    expect(asked.length).toBeGreaterThan(count);
    expect(asked.filter(({ method }) => method !== "GET")).toEqual([]);
  }, 300_000);

  test("has nothing twice in Azure after its objects are restored from a backup", async () => {
    const world = await startAll();
    for (const name of ["wc1", "wc2"]) await makeWorkload(world, name);
    await world.start();
    const ready = [...gates, "PrivateLinksReady", "PrivateEndpointsReady"];
    const isReady = (each: Thing) =>
      ready.every((type) => world.condition(each, type)?.startsWith("True "));
    const all = async () => {
      const found = await world.list("AzureCluster", "org");
      return found.length === 2 && found.every(isReady);
    };
    await world.until("all are ready", all, 60);
    await world.advance(5 * 60_000);
    const before = idsOf(world);
    const identities = ["AzureClusterIdentity", "ProviderConfig"];
    const saved = await backup(world, [
      ...["AzureCluster", ...identities, "Cluster", "KubeadmControlPlane"],
    ]);
    await world.stop();
    await lose(world, saved);
    const restored: Thing[] = [];
    for (const thing of saved) restored.push(await restore(world, thing, ["finalizers"]));
    await world.start();
    // What CAPZ and Cluster API report again.
    for (const thing of restored) {
      if (thing.kind === "AzureCluster" && thing.metadata.namespace === "org")
        await world.patch(thing, { status: { conditions: [balancersReady] } }, "status");
      if (thing.kind === "Cluster")
        await world.patch(thing, { status: { phase: "Provisioned" } }, "status");
    }
    await world.until("all are ready again", all, 60);
    await world.advance(10 * 60_000);
    expect(idsOf(world)).toEqual(before);
    await world.mark();
    await world.advance(10 * 60_000);
    expect(world.armRequests().filter(({ method }) => method !== "GET")).toEqual([]);
  });

  test.each([15, 40, 70, 130])(
    "leaves nothing of a cluster that is deleted %i s after its creation while reads are stale by up to a minute",
    async (seconds) => {
      const world = await startAll();
      const { simulator } = world.azure;
      await world.start();
      await world.advance(10 * 60_000);
      inAzure(world, resourceGroupId(guestSubscription, "wc"));
      const before = world.azure.ids();
      for (const ms of [20_000, 59_000])
        simulator.addFault({
          match: { method: "GET" },
          effect: { kind: "stale", ms },
          probability: 0.3,
          seed: `${seconds} ${ms}`,
        });
      await makeWorkload(world, "wc");
      await world.advance(seconds * 1000);
      for (const kind of ["KubeadmControlPlane", "Cluster", "AzureCluster"])
        for (const each of await world.list(kind, "org")) await world.remove({ ...each, kind });
      const gone = async () =>
        [await world.list("AzureCluster", "org"), await world.list("Cluster", "org")].flat()
          .length === 0;
      await world.until("the cluster is gone", gone, 60);
      simulator.faults.clear();
      await world.advance(10 * 60_000);
      expect(world.azure.ids()).toEqual(before);
    },
  );
});
