import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { type LinkOptions, linkFeature } from "postern/hosted/link/feature.ts";
import { clusterAnnotation } from "postern/hosted/names.ts";
import {
  guestGroup,
  guestNetwork,
  guestSubnet,
  guestSubscription,
  location,
  managementGroup,
} from "./azure.ts";
import type { ClusterShape } from "./objects.ts";
import type { Hosted, HostedWorld, Thing, WorldOptions } from "./world.ts";

/** The installation of the tests: the first characters of the uid of kube-system. */
export const installation = "0a1b2c3d";

/** The link feature alone, with what differs from its defaults. */
export function onlyLink(over: Partial<LinkOptions> = {}): WorldOptions["features"] {
  return (armClients) => [
    linkFeature({ armClients, natSubnets: "shared", natPrefixLength: 24, installation, ...over }),
  ];
}

/** A cluster and the link object of its router, as `observe` would make it. */
export interface Linked extends Hosted {
  link: Thing;
  /** The id of its link service. */
  id: string;
}

/** Make a cluster with its link object. */
export async function linkedCluster(
  world: HostedWorld,
  name: string,
  over: { shape?: ClusterShape; spec?: object; metadata?: object } = {},
): Promise<Linked> {
  const hosted = await world.hostedCluster(name, over.shape);
  const link = await world.make(linkObject(hosted, over));
  const { clusterID } = hosted.cluster.spec as { clusterID: string };
  return { ...hosted, link, id: serviceId(`pls-${clusterID}`) };
}

/** The link object of a cluster. */
export function linkObject(
  {
    namespace,
    address,
    cluster,
    controlPlane,
  }: Pick<Hosted, "namespace" | "address" | "cluster" | "controlPlane">,
  over: { name?: string; spec?: object; metadata?: object } = {},
) {
  const annotations = {
    [clusterAnnotation]: `${cluster.metadata.namespace}/${cluster.metadata.name}`,
  };
  const { name = "private-router", metadata, spec } = over;
  return {
    apiVersion: "hypershift.openshift.io/v1beta1",
    kind: "AzurePrivateLinkService",
    metadata: {
      namespace,
      name,
      annotations,
      ownerReferences: [ownerOf(controlPlane)],
      ...metadata,
    },
    spec: {
      loadBalancerIP: address,
      subscriptionID: guestSubscription,
      resourceGroupName: "guest",
      location,
      guestSubnetID: guestSubnet,
      guestVNetID: guestNetwork,
      ...spec,
    },
  };
}

function ownerOf({ metadata: { name, uid } }: Thing) {
  const apiVersion = "hypershift.openshift.io/v1beta1";
  return { apiVersion, kind: "HostedControlPlane", name, uid, controller: true };
}

/** The id of a link service of the management group. */
export function serviceId(name: string): string {
  return `${managementGroup}/providers/Microsoft.Network/privateLinkServices/${name}`;
}

/** A link object as it is now. */
export function now(world: HostedWorld, { link }: { link: Thing }): Promise<Thing | undefined> {
  return world.get("AzurePrivateLinkService", link.metadata.namespace, link.metadata.name);
}

/** Wait until a link is published, and give the object. */
export async function ready(world: HostedWorld, linked: { link: Thing }): Promise<Thing> {
  let found: Thing | undefined;
  await world.until("the link is not ready", async () => {
    found = await now(world, linked);
    return world.condition(found, "AzurePLSCreated") === "True AzureSuccess";
  });
  return found as Thing;
}

/** Delete a link object and wait until it is gone. */
export async function gone(world: HostedWorld, linked: { link: Thing }): Promise<void> {
  await world.remove(linked.link);
  await world.until("the link is not gone", async () => (await now(world, linked)) === undefined);
}

/** An endpoint of somebody in the guest's network, connected to a link service by its alias. */
export function connect(world: HostedWorld, alias: string, name = "private-router-pe"): string {
  const id = `${guestGroup}/providers/Microsoft.Network/privateEndpoints/${name}`;
  world.azure.simulator.change(id, {
    location,
    properties: {
      subnet: { id: guestSubnet },
      manualPrivateLinkServiceConnections: [
        { name, properties: { privateLinkServiceId: alias, requestMessage: "please" } },
      ],
    },
  });
  return id;
}

/** The properties of a resource as Azure holds them. */
export function properties(world: HostedWorld, id: string): JsonObject {
  return (world.azure.at(id) as { properties: JsonObject } | undefined)?.properties ?? {};
}

/** The names of the subnets of the management network, without that of its nodes. */
export function natSubnets(world: HostedWorld): string[] {
  return world.azure
    .ids("/virtualnetworks/management/subnets/")
    .map((id) => id.slice(id.lastIndexOf("/") + 1))
    .filter((name) => name !== "nodes");
}
