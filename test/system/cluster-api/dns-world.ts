import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { resourceGroupId } from "@postern/core/resource-id.ts";
import type { DnsArmClients } from "postern/cluster-api/dns/azure/arm-clients.ts";
import { type DnsOptions, dnsFeature } from "postern/cluster-api/dns/feature.ts";
import { orphanedDnsFeature } from "postern/cluster-api/dns/objects/orphaned-azure-cluster.ts";
import { guestSubscription, location, managementSubscription } from "../hosted/azure.ts";
import type { HostedWorld, Thing, WorldOptions } from "../hosted/world.ts";
import { azureClusterObject, clusterObject, management, namespaces } from "./objects.ts";

const network = "providers/Microsoft.Network";
export const managementGroup = resourceGroupId(managementSubscription, "mc");
export const groupOf = (name: string) => resourceGroupId(guestSubscription, name);
export const networkOf = (group: string, name = "vnet") =>
  `${group}/${network}/virtualNetworks/${name}`;
const baseGroup = resourceGroupId(managementSubscription, "base");
export const baseZone = `${baseGroup}/${network}/dnsZones/example.com`;
export const publicZone = (group: string, name: string) =>
  `${group}/${network}/dnsZones/${name}.example.com`;
export const privateZone = (group: string, name: string) =>
  `${group}/${network}/privateDnsZones/${name}.example.com`;

/** A world in which the dns feature is at work, on a base zone and a private management cluster. */
export async function startDns(
  start: (options: WorldOptions) => Promise<HostedWorld>,
  over: Partial<DnsOptions> & {
    viewsOf?: (clients: DnsArmClients) => DnsArmClients;
    managementSpec?: object;
  } = {},
  more: Partial<WorldOptions> = {},
): Promise<HostedWorld> {
  const { viewsOf = (clients) => clients, managementSpec, ...rest } = over;
  const world = await start({
    features: (armClients) => {
      const guest: DnsArmClients["forReference"] = (_, reconcile) =>
        armClients.hosted({} as HostedControlPlane, reconcile);
      const clients = viewsOf({
        of: (cluster, reconcile) =>
          cluster.spec.subscriptionID === managementSubscription
            ? armClients.management(reconcile)
            : guest(cluster, reconcile),
        forReference: guest,
        management: (reconcile) => armClients.management(reconcile),
        baseZone: (reconcile) => armClients.management(reconcile),
      });
      const managementLinks = ["gateway"] as const;
      const options = {
        management,
        baseDomain: "example.com",
        baseZoneGroup: baseGroup,
        managementLinks,
        clients,
        ...rest,
      };
      return [dnsFeature(options), orphanedDnsFeature(options)];
    },
    ...more,
    stopped: true,
  });
  const { simulator } = world.azure;
  simulator.change(baseGroup, { location });
  simulator.change(baseZone, { location: "global" });
  await namespaces(world, "org-mc", "org", "org-other");
  withGroup(world, managementGroup, "mc-gateway-privatelink");
  const spec = {
    subscriptionID: managementSubscription,
    networkSpec: privateNetwork(managementGroup),
    ...managementSpec,
  };
  await world.make(azureClusterObject("org-mc", "mc", spec));
  if (!more.stopped) await world.start();
  return world;
}

const privateNetwork = (group: string, privateIP?: string, name = "vnet") => ({
  vnet: { name, id: networkOf(group, name) },
  apiServerLB: {
    type: "Internal",
    frontendIPs: [{ name: "front", ...(privateIP && { privateIP }) }],
  },
});

/** What CAPZ makes of a private cluster: a group, a network, a load balancer, and a link service on it. */
export function withGroup(world: HostedWorld, group: string, link: string, vnet = "vnet"): void {
  const { simulator } = world.azure;
  const subnet = `${networkOf(group, vnet)}/subnets/nodes`;
  simulator.change(group, { location });
  const subnets = [
    {
      name: "nodes",
      properties: { addressPrefix: "10.0.0.0/20", privateLinkServiceNetworkPolicies: "Disabled" },
    },
  ];
  simulator.change(networkOf(group, vnet), {
    location,
    properties: { addressSpace: { addressPrefixes: ["10.0.0.0/16"] }, subnets },
  });
  const balancer = `${group}/${network}/loadBalancers/${link}`;
  const frontend = { name: "front", properties: { subnet: { id: subnet } } };
  simulator.change(balancer, {
    location,
    sku: { name: "Standard" },
    properties: { frontendIPConfigurations: [frontend] },
  });
  const subscriptions = [managementSubscription, guestSubscription];
  simulator.change(`${group}/${network}/privateLinkServices/${link}`, {
    location,
    properties: {
      loadBalancerFrontendIpConfigurations: [{ id: `${balancer}/frontendIPConfigurations/front` }],
      ipConfigurations: [{ name: "nat", properties: { primary: true, subnet: { id: subnet } } }],
      visibility: { subscriptions },
      autoApproval: { subscriptions },
    },
  });
}

/** An endpoint in a group, to a link service of another; the answer is its id. */
export function connect(
  world: HostedWorld,
  from: string,
  name: string,
  service: string,
  vnet = "vnet",
): string {
  const id = `${from}/${network}/privateEndpoints/${name}`;
  const connection = { name: "connection", properties: { privateLinkServiceId: service } };
  world.azure.simulator.change(id, {
    location,
    properties: {
      subnet: { id: `${networkOf(from, vnet)}/subnets/nodes` },
      privateLinkServiceConnections: [connection],
    },
  });
  return id;
}

/** A workload cluster, where it differs from a private one that is ready and connected both ways. */
export interface WorkloadShape {
  namespace?: string;
  group?: string;
  /** The name of its network. */
  network?: string;
  ready?: boolean;
  connected?: boolean;
  spec?: object;
  annotations?: Record<string, string>;
  clusterAnnotations?: Record<string, string>;
}

export interface Workload {
  cluster: Thing;
  azureCluster: Thing;
}

/** Make a workload cluster, in Kubernetes and in Azure. */
export async function makeWorkload(
  world: HostedWorld,
  name: string,
  shape: WorkloadShape = {},
): Promise<Workload> {
  const { namespace = "org", ready = true, connected = true } = shape;
  const group = groupOf(shape.group ?? name);
  withGroup(world, group, `${name}-api-privatelink`, shape.network);
  if (connected) connectBothWays(world, name, group, shape.network);
  const object = azureClusterObject(namespace, name, {
    subscriptionID: guestSubscription,
    resourceGroup: shape.group ?? name,
    networkSpec: privateNetwork(group, "10.0.0.100", shape.network),
    ...shape.spec,
  });
  const metadata = { namespace, name, annotations: shape.annotations ?? {} };
  const azureCluster = { ...(await world.make({ ...object, metadata })), kind: "AzureCluster" };
  const cluster = await makeCluster(world, name, {
    namespace,
    ...(shape.clusterAnnotations && { annotations: shape.clusterAnnotations }),
  });
  if (ready) await makeReady(world, { cluster, azureCluster });
  await world.settled();
  return { cluster, azureCluster };
}

/** The Cluster alone, held by Cluster API as it is in life. */
export async function makeCluster(
  world: HostedWorld,
  name: string,
  over: { namespace?: string; annotations?: Record<string, string>; spec?: object } = {},
): Promise<Thing> {
  const { namespace = "org", annotations = {}, spec = {} } = over;
  const finalizers = ["cluster.cluster.x-k8s.io"];
  const metadata = { namespace, name, annotations, finalizers };
  const made = await world.make({ ...clusterObject(namespace, name, spec), metadata });
  return { ...made, kind: "Cluster" };
}

/** As far as Cluster API and CAPZ have come when names can be made. */
export async function makeReady(world: HostedWorld, made: Partial<Workload>): Promise<void> {
  if (made.cluster) await world.patch(made.cluster, { status: { phase: "Provisioned" } }, "status");
  const condition = {
    type: "LoadBalancersReady",
    status: "False",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
  if (made.azureCluster)
    await world.patch(made.azureCluster, { status: { conditions: [condition] } }, "status");
}

/** The endpoints that the operator for them and CAPZ make: both approved. */
export function connectBothWays(
  world: HostedWorld,
  name: string,
  group: string,
  vnet?: string,
): void {
  const services = `${network}/privateLinkServices`;
  const link = `${name}-api-privatelink`;
  connect(world, managementGroup, `${link}-privateendpoint`, `${group}/${services}/${link}`);
  const gateway = `${managementGroup}/${services}/mc-gateway-privatelink`;
  connect(world, group, `${name}-to-mc-gateway-privateendpoint`, gateway, vnet);
}

/** The address of an endpoint, by its interface. */
export function addressOf(world: HostedWorld, endpoint: string): string {
  const [id = ""] = world.azure.ids(`/privateendpoints/${endpoint}`);
  const text = JSON.stringify(world.azure.at(id) ?? {});
  const nic = /"networkInterfaces":\[\{"id":"([^"]+)"/.exec(text)?.[1] ?? "";
  const shown = JSON.stringify(world.azure.at(nic) ?? {});
  const address = /"privateIPAddress":"([^"]+)"/.exec(shown)?.[1];
  if (address === undefined) throw new Error(`${endpoint} has no address: ${text} ${shown}`);
  return address;
}

/** The values of a record set as it is in Azure; undefined where there is none. */
export function valuesAt(world: HostedWorld, zone: string, type: string, name: string) {
  const found = world.azure.at(`${zone}/${type}/${name}`) as
    | { properties?: JsonObject }
    | undefined;
  const field = Object.entries(found?.properties ?? {}).find(([key]) =>
    /^(a|aaaa|cname|ns)records?$/i.test(key),
  )?.[1];
  if (field === undefined) return undefined;
  const all = Array.isArray(field) ? field : [field];
  return all.map((each) => Object.values(each as Record<string, string>)[0]);
}

/** The name and time to live of every record set that we have marked. */
export function namesIn(world: HostedWorld, zone: string): string[] {
  return world.azure
    .ids(`${zone.toLowerCase()}/`)
    .filter((id) => /\/(a|aaaa|cname|ns)\/[^/]+$/.test(id))
    .filter((id) => JSON.stringify(world.azure.at(id)).includes("postern_owner"))
    .map((id) => id.slice(zone.length + 1).replace("/", " "));
}

/** Delete a cluster as Cluster API does: first its infrastructure, which has to go before the Cluster may. */
export async function deleteCluster(world: HostedWorld, { cluster, azureCluster }: Workload) {
  await world.remove(cluster);
  await world.remove(azureCluster);
  await world.settled();
}

/** Waits for the public names of a workload cluster, which are there before any private one. */
export function untilNamed(world: HostedWorld, name: string): Promise<void> {
  const zone = publicZone(groupOf(name), name);
  return world.until(`${name} has public names`, () => namesIn(world, zone).length === 2);
}
