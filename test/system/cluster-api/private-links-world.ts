import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import {
  type PrivateLinkOptions,
  privateLinksFeature,
} from "postern/cluster-api/private-links/feature.ts";
import { guestGroup, guestSubnet, location, managementSubscription } from "../hosted/azure.ts";
import type { HostedWorld, Thing, WorldOptions } from "../hosted/world.ts";
import { azureClusterObject, namespaces } from "./objects.ts";

export const provider = "providers/Microsoft.Network";
export const subscription = managementSubscription;
export const links = "PrivateLinksReady";
export const endpoints = "PrivateEndpointsReady";

export const groupOf = (name: string) => `/subscriptions/${subscription}/resourceGroups/${name}`;
export const linkId = (name: string, group = "wc1") =>
  `${groupOf(group)}/${provider}/privateLinkServices/${name}`;
export const endpointId = (name: string, group = "wc1") =>
  `${groupOf(group)}/${provider}/privateEndpoints/${name}`;
export const networkId = (name = "wc1", group = name) =>
  `${groupOf(group)}/${provider}/virtualNetworks/${name}-vnet`;
export const subnetId = (subnet: string, name = "wc1", group = name) =>
  `${networkId(name, group)}/subnets/${subnet}`;
export const balancerId = (name: string, group: string) =>
  `${groupOf(group)}/${provider}/loadBalancers/${name}-internal-lb`;

/** A world with this feature alone, and a namespace for clusters. */
export async function startPrivateLinks(
  start: (options: WorldOptions) => Promise<HostedWorld>,
  more: Partial<WorldOptions> & { clients?: PrivateLinkOptions["clients"] } = {},
): Promise<HostedWorld> {
  const { clients, ...rest } = more;
  const world = await start({
    features: (armClients) => [
      privateLinksFeature({
        clients: clients ?? { of: (_cluster, reconcile) => armClients.management(reconcile) },
        management: { namespace: "org", name: "mc" },
      }),
    ],
    simulator: { operationMs: { "*": 30_000 } },
    ...rest,
  });
  await namespaces(world, "org", "org-other");
  return world;
}

/** What CAPZ makes before any link: a group, a network with two subnets, and the load balancer of the API server. */
export function inAzure(world: HostedWorld, name = "wc1", group = name, block = 10): void {
  const { simulator } = world.azure;
  const subnet = (each: string, n: number) => ({
    name: each,
    properties: {
      addressPrefix: `10.${block}.${n}.0/24`,
      routeTable: { id: `${groupOf(group)}/${provider}/routeTables/${each}` },
    },
  });
  if (world.azure.at(groupOf(group)) === undefined) simulator.change(groupOf(group), { location });
  simulator.change(networkId(name, group), {
    location,
    properties: {
      addressSpace: { addressPrefixes: [`10.${block}.0.0/16`] },
      subnets: [subnet("node", 0), subnet("other", 1)],
    },
  });
  addBalancer(world, name, group);
}

export function addBalancer(
  world: HostedWorld,
  name = "wc1",
  group = name,
  tags: Record<string, string> = {},
): void {
  const frontend = { name: "front", properties: { subnet: { id: subnetId("node", name, group) } } };
  world.azure.simulator.change(balancerId(name, group), {
    location,
    tags,
    sku: { name: "Standard" },
    properties: { frontendIPConfigurations: [frontend] },
  });
}

/** A link as a cluster asks for it. */
export const link = (over: object = {}) => ({
  name: "api",
  natIpConfigurations: [{ allocationMethod: "Dynamic", subnet: "node" }],
  lbFrontendIPConfigNames: ["front"],
  ...over,
});

/** An endpoint as a cluster asks for it. */
export const endpoint = (service: string, over: object = {}) => ({
  name: "to-mc",
  privateLinkServiceConnections: [{ name: "c", privateLinkServiceID: service }],
  ...over,
});

export interface Shape {
  namespace?: string;
  group?: string;
  links?: object[];
  endpoints?: object[];
  /** In the subnet `other`. */
  otherEndpoints?: object[];
  metadata?: object;
  spec?: object;
}

/** The spec of the network of a cluster. */
export const networkSpec = (shape: Shape) => ({
  apiServerLB: {
    type: "Internal",
    frontendIPs: [{ name: "front" }],
    ...(shape.links && { privateLinks: shape.links }),
  },
  subnets: [
    {
      name: "node",
      role: "node",
      ...(shape.endpoints && { privateEndpoints: shape.endpoints }),
    },
    {
      name: "other",
      role: "cluster",
      ...(shape.otherEndpoints && { privateEndpoints: shape.otherEndpoints }),
    },
  ],
});

/** Make an AzureCluster. */
export async function makeCluster(
  world: HostedWorld,
  name = "wc1",
  shape: Shape = {},
): Promise<Thing> {
  const { namespace = "org", group = name, metadata = {}, spec = {} } = shape;
  const object = azureClusterObject(namespace, name, {
    resourceGroup: group,
    networkSpec: networkSpec(shape),
    ...spec,
  });
  return world.make({ ...object, metadata: { ...object.metadata, ...metadata } });
}

/** An AzureCluster as it is now. */
export function now(world: HostedWorld, { metadata }: Thing): Promise<Thing | undefined> {
  return world.get("AzureCluster", metadata.namespace, metadata.name);
}

/** Wait until a condition is so, and give the object. */
export async function reported(
  world: HostedWorld,
  thing: Thing,
  type: string,
  what: string | undefined,
): Promise<Thing> {
  let found: Thing | undefined;
  let last: string | undefined = "nothing was read";
  await world
    .until(`${type} is not ${what}`, async () => {
      found = await now(world, thing);
      last = world.condition(found, type);
      return last === what;
    })
    .catch((error: Error) => {
      const condition = found?.status?.conditions?.find((each) => each.type === type);
      throw new Error(`${error.message}, but ${JSON.stringify(condition)}`);
    });
  return found as Thing;
}

/** The message of a condition. */
export function messageOf(thing: Thing | undefined, type: string): string {
  return thing?.status?.conditions?.find((each) => each.type === type)?.message ?? "";
}

/** Wait until an AzureCluster is gone. */
export async function gone(world: HostedWorld, thing: Thing): Promise<void> {
  await world.until("it is not gone", async () => (await now(world, thing)) === undefined);
}

export interface Resource {
  top: JsonObject & { tags?: Record<string, string> };
  properties: JsonObject;
}

/** A resource as Azure holds it. */
export function resourceAt(world: HostedWorld, id: string): Resource {
  const found = world.azure.at(id);
  if (found === undefined) throw new Error(`there is no ${id}`);
  return found as unknown as Resource;
}

export const writes = (world: HostedWorld) =>
  world.armRequests().filter(({ method }) => method !== "GET");

/** A link service of somebody else, which approves nobody by itself. */
export function theirService(world: HostedWorld, name: string, approved: string[] = []): string {
  const { simulator } = world.azure;
  const group = groupOf("mc");
  if (world.azure.at(group) === undefined) inAzure(world, "mc", "mc", 77);
  const subnet = subnetId("other", "mc");
  simulator.change(subnet, {
    properties: { addressPrefix: "10.77.1.0/24", privateLinkServiceNetworkPolicies: "Disabled" },
  });
  const balancer = `${group}/${provider}/loadBalancers/${name}`;
  const frontend = { name: "front", properties: { subnet: { id: subnetId("node", "mc") } } };
  simulator.change(balancer, {
    location,
    sku: { name: "Standard" },
    properties: { frontendIPConfigurations: [frontend] },
  });
  const id = `${group}/${provider}/privateLinkServices/${name}`;
  simulator.change(id, {
    location,
    properties: {
      loadBalancerFrontendIpConfigurations: [{ id: `${balancer}/frontendIPConfigurations/front` }],
      ipConfigurations: [{ name: "n", properties: { subnet: { id: subnet } } }],
      visibility: { subscriptions: ["*"] },
      autoApproval: { subscriptions: approved },
    },
  });
  return id;
}

/** An endpoint of somebody else that is connected to a link service. */
export function visitor(world: HostedWorld, service: string, name = "visitor"): string {
  const id = `${guestGroup}/${provider}/privateEndpoints/${name}`;
  const properties = { privateLinkServiceId: service, requestMessage: "please" };
  world.azure.simulator.change(id, {
    location,
    properties: {
      subnet: { id: guestSubnet },
      manualPrivateLinkServiceConnections: [{ name, properties }],
    },
  });
  return id;
}

/** Decide on all connections of a link service, as its owner. */
export function decide(world: HostedWorld, service: string, status: string): void {
  for (const id of world.azure.ids(`${service}/privateEndpointConnections/`)) {
    const state = { status, description: "", actionsRequired: "None" };
    world.azure.simulator.change(id, { properties: { privateLinkServiceConnectionState: state } });
  }
}
