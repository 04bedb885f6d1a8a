import { frontendName } from "@postern/local/cloud-provider/names.ts";
import { annotations } from "postern/cluster-api/names.ts";
import { expect, test } from "vitest";
import { location } from "../hosted/azure.ts";
import { describeHosted, type HostedWorld, type Thing } from "../hosted/world.ts";
import {
  gone,
  groupOf,
  inAzure,
  linkId,
  links,
  makeCluster,
  messageOf,
  provider,
  reported,
  resourceAt,
  startPrivateLinks,
  subnetId,
} from "./private-links-world.ts";

const finalizer = "service.kubernetes.io/load-balancer-cleanup";
const balancer = `${groupOf("mc")}/${provider}/loadBalancers/kubernetes-internal`;

/** The link of the management cluster, as the guide has it. */
const gatewayLink = (over: object = {}) => ({
  name: "mc-gateway-privatelink",
  service: "org/gateway",
  natIPConfigurations: [{ allocationMethod: "Dynamic", subnet: "node" }],
  ...over,
});

const managementCluster = (world: HostedWorld, over: object = {}, name = "mc") =>
  makeCluster(world, name, {
    group: name,
    metadata: { annotations: { [annotations.privateLinks]: JSON.stringify([gatewayLink(over)]) } },
  });

const gateway = (world: HostedWorld): Promise<Thing> =>
  world.make({
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      namespace: "org",
      name: "gateway",
      finalizers: [finalizer],
      annotations: { "service.beta.kubernetes.io/azure-load-balancer-internal": "true" },
    },
    spec: { type: "LoadBalancer", ports: [{ name: "https", port: 443, protocol: "TCP" }] },
  } as Parameters<HostedWorld["make"]>[0]);

/** What the cloud provider does for a Service. */
async function provide(world: HostedWorld, service: Thing, address: string): Promise<string> {
  const name = frontendName(service.metadata.uid ?? "");
  world.azure.simulator.change(balancer, {
    location,
    sku: { name: "Standard" },
    properties: {
      frontendIPConfigurations: [
        {
          name,
          properties: {
            subnet: { id: subnetId("other", "mc") },
            privateIPAddress: address,
            privateIPAllocationMethod: "Static",
          },
        },
      ],
    },
  });
  await world.giveAddress(service, address);
  return `${balancer}/frontendIPConfigurations/${name}`;
}

const frontendsOf = (world: HostedWorld) =>
  resourceAt(world, linkId("mc-gateway-privatelink", "mc")).properties
    .loadBalancerFrontendIpConfigurations;

describeHosted("the private link of the management cluster that names a Service", (start) => {
  test("waits for the address of the Service, and leads to its load balancer", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world, "mc");
    const mc = await managementCluster(world);
    const waiting = await reported(world, mc, links, "False LoadBalancerMissing");
    expect(messageOf(waiting, links)).toContain("Service org/gateway does not exist");
    const frontend = await provide(world, await gateway(world), "10.10.1.40");
    await reported(world, mc, links, "True Realised");
    expect(frontendsOf(world)).toMatchObject([{ id: frontend }]);
  });

  test("is deleted with the Service, and follows the next Service of that name", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world, "mc");
    const service = await gateway(world);
    await provide(world, service, "10.10.1.40");
    const mc = await managementCluster(world);
    await reported(world, mc, links, "True Realised");
    await world.remove(service);
    const id = linkId("mc-gateway-privatelink", "mc");
    await world.until("its link service exists", () => world.azure.at(id) === undefined);
    const waiting = await reported(world, mc, links, "False LoadBalancerMissing");
    expect(messageOf(waiting, links)).toContain("Service org/gateway is being deleted");
    await world.patch(service, { metadata: { finalizers: [] } });
    const frontend = await provide(world, await gateway(world), "10.10.1.41");
    await reported(world, mc, links, "True Realised");
    expect(frontendsOf(world)).toMatchObject([{ id: frontend }]);
    await world.remove(mc);
    await gone(world, mc);
    expect(world.azure.at(id)).toBeUndefined();
  });

  test("does not follow an address that the cloud provider gave to another Service", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world, "mc");
    const other = await world.make({
      apiVersion: "v1",
      kind: "Service",
      metadata: { namespace: "org", name: "other" },
      spec: { type: "LoadBalancer", ports: [{ name: "https", port: 443, protocol: "TCP" }] },
    } as Parameters<HostedWorld["make"]>[0]);
    await provide(world, other, "10.10.1.40");
    await world.giveAddress(await gateway(world), "10.10.1.40");
    const mc = await managementCluster(world);
    const waiting = await reported(world, mc, links, "False LoadBalancerMissing");
    expect(messageOf(waiting, links)).toContain("has a frontend of Service org/gateway");
  });
});

describeHosted("the private link of a workload cluster", (start) => {
  test("cannot name a Service of the management cluster", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world, "wc1");
    const wc = await managementCluster(world, {}, "wc1");
    const rejected = await reported(world, wc, links, "False InvalidRequest");
    expect(messageOf(rejected, links)).toContain("Only the AzureCluster of the management cluster");
    expect(world.azure.at(linkId("mc-gateway-privatelink"))).toBeUndefined();
  });
});
