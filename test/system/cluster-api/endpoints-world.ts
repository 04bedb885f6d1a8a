import type { PrivateEndpointSpec } from "@postern/core/kinds/azure-cluster-network.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { managementEndpointsFeature } from "postern/cluster-api/endpoints/management/feature.ts";
import {
  type WorkloadEndpoints,
  workloadEndpointsFeature,
} from "postern/cluster-api/endpoints/workload/feature.ts";
import { guestSubscription, location, managementSubscription } from "../hosted/azure.ts";
import type { HostedWorld, Thing, WorldOptions } from "../hosted/world.ts";
import { azureClusterObject, management, namespaces } from "./objects.ts";

export const network = "providers/Microsoft.Network";
export const managementGroup = `/subscriptions/${managementSubscription}/resourceGroups/mc`;
export const groupOf = (name: string) =>
  `/subscriptions/${guestSubscription}/resourceGroups/${name}`;
export const apiName = (name: string) => `${name}-api-privatelink-privateendpoint`;

/** The management cluster as a workload cluster is to see it. */
export interface ManagementShape {
  type?: "Internal" | "Public";
  endpoints?: PrivateEndpointSpec[];
}

type WorkloadArmClients = WorkloadEndpoints["clients"];

/** A world with both features at work. */
export async function startEndpoints(
  start: (options: WorldOptions) => Promise<HostedWorld>,
  over: Partial<WorkloadEndpoints> & {
    viewsOf?: (clients: WorkloadArmClients) => WorkloadArmClients;
  } = {},
  more: Partial<WorldOptions> = {},
): Promise<HostedWorld> {
  const { viewsOf = (clients) => clients, ...rest } = over;
  const world = await start({
    features: (armClients) => {
      const clients = viewsOf({
        of: ({ spec }, reconcile) =>
          spec.subscriptionID === managementSubscription
            ? armClients.management(reconcile)
            : armClients.hosted({} as HostedControlPlane, reconcile),
      });
      return [
        managementEndpointsFeature({ management }),
        workloadEndpointsFeature({ management, clients, ...rest }),
      ];
    },
    ...more,
  });
  await namespaces(world, "org-mc", "org", "org-other");
  return world;
}

/** What a cluster has in Azure before anybody connects: a group, a network, a load balancer, and a link service. */
export function inAzure(world: HostedWorld, group: string, link: string, approved: string[]): void {
  const { simulator } = world.azure;
  const vnet = `${group}/${network}/virtualNetworks/vnet`;
  const subnet = `${vnet}/subnets/nodes`;
  simulator.change(group, { location });
  simulator.change(vnet, {
    location,
    properties: {
      addressSpace: { addressPrefixes: ["10.0.0.0/16"] },
      subnets: [
        {
          name: "nodes",
          properties: {
            addressPrefix: "10.0.0.0/20",
            privateLinkServiceNetworkPolicies: "Disabled",
          },
        },
      ],
    },
  });
  const balancer = `${group}/${network}/loadBalancers/${link}`;
  simulator.change(balancer, {
    location,
    sku: { name: "Standard" },
    properties: {
      frontendIPConfigurations: [{ name: "front", properties: { subnet: { id: subnet } } }],
    },
  });
  const subscriptions = [managementSubscription, guestSubscription];
  simulator.change(`${group}/${network}/privateLinkServices/${link}`, {
    location,
    properties: {
      loadBalancerFrontendIpConfigurations: [{ id: `${balancer}/frontendIPConfigurations/front` }],
      ipConfigurations: [{ name: "nat", properties: { primary: true, subnet: { id: subnet } } }],
      visibility: { subscriptions },
      autoApproval: { subscriptions: approved },
    },
  });
}

/** Make the management cluster, in Kubernetes and in Azure. */
export async function makeManagement(world: HostedWorld, shape: ManagementShape = {}) {
  inAzure(world, managementGroup, "mc-gateway-privatelink", [guestSubscription]);
  const networkSpec = {
    apiServerLB: { type: shape.type ?? "Internal" },
    subnets: [
      { name: "control-plane", role: "control-plane" },
      { name: "nodes", role: "node", privateEndpoints: shape.endpoints ?? [] },
    ],
  };
  const made = await world.make(
    azureClusterObject("org-mc", "mc", { subscriptionID: managementSubscription, networkSpec }),
  );
  return { ...made, kind: "AzureCluster" };
}

/** A workload cluster, where it differs from a private one whose link admits and approves the management cluster. */
export interface WorkloadShape {
  namespace?: string;
  type?: "Internal" | "Public";
  links?: false;
  allowed?: string[];
  approved?: string[];
  group?: string;
  ready?: boolean;
  inAzure?: false;
  metadata?: object;
}

export async function makeWorkload(world: HostedWorld, name: string, shape: WorkloadShape = {}) {
  const { namespace = "org", type = "Internal", group = name } = shape;
  const allowed = shape.allowed ?? [managementSubscription];
  const approved = shape.approved ?? allowed;
  if (shape.inAzure !== false) inAzure(world, groupOf(group), `${name}-api-privatelink`, approved);
  const link = {
    name: `${name}-api-privatelink`,
    natIpConfigurations: [{ allocationMethod: "Dynamic", subnet: "nodes" }],
    lbFrontendIPConfigNames: ["front"],
    allowedSubscriptions: allowed,
    autoApprovedSubscriptions: approved,
  };
  const privateLinks = type === "Internal" && shape.links !== false ? [link] : undefined;
  const object = azureClusterObject(namespace, name, {
    subscriptionID: guestSubscription,
    resourceGroup: group,
    networkSpec: {
      apiServerLB: { type, ...(privateLinks && { privateLinks }) },
      subnets: [
        { name: "control-plane", role: "control-plane" },
        { name: "nodes", role: "node" },
      ],
    },
  });
  const metadata = { ...(object as unknown as Thing).metadata, ...shape.metadata };
  const made = { ...(await world.make({ ...object, metadata })), kind: "AzureCluster" };
  if (shape.ready !== false) await say(world, made, "PrivateLinksReady", "True");
  return made;
}

/** Set a condition as CAPZ does: by a patch of the whole list. */
export async function say(world: HostedWorld, thing: Thing, type: string, status: string) {
  const { namespace, name } = thing.metadata;
  const current = (await world.get("AzureCluster", namespace, name))?.status?.conditions ?? [];
  const lastTransitionTime = "2026-01-01T00:00:00Z";
  const conditions = [
    ...current.filter((each) => each.type !== type),
    { type, status, lastTransitionTime },
  ];
  await world.patch(thing, { status: { conditions } }, "status");
}

export function endpointsIn(thing: Thing | undefined): PrivateEndpointSpec[] {
  const { networkSpec } = (thing?.spec ?? {}) as {
    networkSpec?: { subnets?: { privateEndpoints?: PrivateEndpointSpec[] }[] };
  };
  return (networkSpec?.subnets ?? []).flatMap(({ privateEndpoints = [] }) => privateEndpoints);
}

export const getManagement = (world: HostedWorld) => world.get("AzureCluster", "org-mc", "mc");
export const namesIn = async (world: HostedWorld) =>
  endpointsIn(await getManagement(world)).map(({ name }) => name);

/** What CAPZ does for all clusters: makes the endpoints of their specs; takes others away only where it is told to. */
export async function runCapz(world: HostedWorld, { deletes = false } = {}): Promise<void> {
  const asked = new Set<string>();
  for (const thing of await world.list("AzureCluster")) {
    const { subscriptionID, resourceGroup } = thing.spec as Record<string, string>;
    const group = `/subscriptions/${subscriptionID}/resourceGroups/${resourceGroup}`;
    for (const each of endpointsIn(thing)) {
      const id = `${group}/${network}/privateEndpoints/${each.name}`;
      asked.add(id.toLowerCase());
      if (world.azure.at(id) === undefined) makeEndpoint(world, id, group, thing, each);
    }
  }
  if (!deletes) return;
  for (const id of world.azure.ids("/privateendpoints/"))
    if (!asked.has(id) && /\/privateendpoints\/[^/]+$/.test(id)) world.azure.simulator.drop(id);
}

function makeEndpoint(
  world: HostedWorld,
  id: string,
  group: string,
  { metadata }: Thing,
  { privateLinkServiceConnections, manualApproval }: PrivateEndpointSpec,
): void {
  const connections = privateLinkServiceConnections.map((each) => ({
    name: each.name ?? "",
    properties: {
      privateLinkServiceId: each.privateLinkServiceID,
      ...(each.requestMessage && { requestMessage: each.requestMessage }),
    },
  }));
  const list = manualApproval
    ? "manualPrivateLinkServiceConnections"
    : "privateLinkServiceConnections";
  world.azure.simulator.change(id, {
    location,
    tags: { [`sigs.k8s.io_cluster-api-provider-azure_cluster_${metadata.name}`]: "owned" },
    properties: {
      subnet: { id: `${group}/${network}/virtualNetworks/vnet/subnets/nodes` },
      [list]: connections,
    },
  });
}

/** `status reason` of each GSPrivateLinksReady there is. */
export function readiness(thing: Thing | undefined): string[] {
  return (thing?.status?.conditions ?? [])
    .filter(({ type }) => type === "GSPrivateLinksReady")
    .map(({ status, reason }) => `${status} ${reason}`);
}

const prefix = "azure-private-endpoint-operator.giantswarm.io/";
/** Both addresses that are published on a cluster. */
export function addressesOn(thing: Thing | undefined): (string | undefined)[] {
  const { annotations = {} } = thing?.metadata ?? {};
  return ["private-link-apiserver-ip", "private-link-mc-ingress-ip"].map(
    (key) => annotations[`${prefix}${key}`],
  );
}
