import { expect, test } from "vitest";
import { location, managementGroup, managementNetwork } from "./azure.ts";
import { hostedClusterObject } from "./objects.ts";
import { wholeChain } from "./whole-chain.ts";
import { describeHosted, type HostedWorld, type Thing } from "./world.ts";

const available = "AzurePrivateLinkServiceAvailable";
const namespace = "clusters-one";
const other = `${managementGroup}/providers/Microsoft.Network/loadBalancers/other`;
const router = (world: HostedWorld) => world.get("Service", namespace, "private-router");
const link = (world: HostedWorld) =>
  world.get("AzurePrivateLinkService", namespace, "private-router");

function addressOf(service: Thing | undefined): string | undefined {
  const { ingress } = (service?.status?.loadBalancer ?? {}) as { ingress?: { ip?: string }[] };
  return ingress?.[0]?.ip;
}

async function isAvailable(world: HostedWorld): Promise<boolean> {
  const cluster = await world.get("HostedCluster", "clusters", "one");
  return world.condition(cluster, available) === "True AzureSuccess";
}

describeHosted("a Service that is being deleted", (start) => {
  async function availableCluster(): Promise<{ world: HostedWorld; service: Thing }> {
    const world = await start({
      features: wholeChain,
      simulator: { operationMs: { "*": 30_000 } },
    });
    await world.cluster.request("POST", "/api/v1/namespaces", { metadata: { name: "clusters" } });
    // Has the first address. It is deleted with the Service, so that the next Service gets another address than the first.
    world.azure.simulator.change(other, {
      location,
      sku: { name: "Standard" },
      properties: {
        frontendIPConfigurations: [
          { name: "other", properties: { subnet: { id: `${managementNetwork}/subnets/nodes` } } },
        ],
      },
    });
    await world.make(hostedClusterObject("clusters", "one"));
    await world.until("the cluster is not available", () => isAvailable(world));
    const service = await router(world);
    return { world, service: { ...(service as Thing), kind: "Service" } };
  }

  test("frees its load balancer, and the link follows the address of the next one", async () => {
    const { world, service } = await availableCluster();
    const zones = world.azure.ids("/privatednszones/").length;
    const object = await link(world);
    expect(service.metadata.finalizers).toContain("service.kubernetes.io/load-balancer-cleanup");
    world.azure.simulator.drop(other);
    await world.remove(service);
    await world.until("the link is not removed", async () => {
      const now = await link(world);
      return world.condition(now, "AzurePLSCreated") === "False ServiceDeleting";
    });
    expect(await isAvailable(world)).toBe(false);
    await world.until("the old Service is still there", async () => {
      const now = await router(world);
      return now?.metadata.uid !== service.metadata.uid;
    });
    await world.until("the cluster is not available again", () => isAvailable(world));
    const next = await router(world);
    expect(addressOf(next)).not.toBe(addressOf(service));
    const now = await link(world);
    expect(now?.spec.loadBalancerIP).toBe(addressOf(next));
    // The outage is short: the object, its zones and their virtual network links stay.
    expect(now?.metadata.uid).toBe(object?.metadata.uid);
    expect(world.azure.ids("/privatednszones/")).toHaveLength(zones);
    expect(
      world.azure.ids("/privatelinkservices/").filter((id) => !/connections/.test(id)),
    ).toHaveLength(1);
  });

  test("gives no link, not even where its link object is deleted by hand", async () => {
    const { world, service } = await availableCluster();
    // Another controller keeps it for longer than the cloud provider.
    await world.patch(service, {
      metadata: { finalizers: [...(service.metadata.finalizers ?? []), "example.com/keep"] },
    });
    await world.remove(service);
    await world.settled();
    await world.remove({ ...((await link(world)) as Thing), kind: "AzurePrivateLinkService" });
    await world.until("the link object is still there", async () => !(await link(world)));
    await world.advance(10 * 60_000);
    expect(await link(world)).toBeUndefined();
    expect(world.azure.ids("/privatelinkservices/")).toEqual([]);
    const plane = await world.get("HostedControlPlane", namespace, "one");
    expect(world.condition(plane, available)).toBe("False ServiceDeleting");

    await world.patch((await router(world)) as Thing & { kind: "Service" }, {
      metadata: { finalizers: null },
    });
    await world.until("the cluster is not available again", () => isAvailable(world));
  });
});
