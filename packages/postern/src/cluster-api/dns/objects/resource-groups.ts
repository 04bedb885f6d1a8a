import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { CapiCluster } from "@postern/core/kinds/capi-cluster.ts";
import {
  type ResourceId,
  resourceGroupId,
  resourceIn,
  tryParseResourceId,
} from "@postern/core/resource-id.ts";
import { annotations, type ManagementLink, managementLinkGroupName } from "../../names.ts";
import { privateLinksOf } from "../../requested-links.ts";
import type { ObservedInfrastructure } from "../observed.ts";

/** What `CLUSTER_AZURE_*` says about clusters that are not of CAPZ. */
export interface ClusterSettings {
  subscription?: string | undefined;
  tenant?: string | undefined;
  client?: string | undefined;
  location?: string | undefined;
}

/** Where the things of a cluster belong in Azure. */
export interface ClusterGroups {
  /** The groups in which its public zone may be: the one named after the cluster, and the cluster's own. */
  publicGroups: readonly ResourceId[];
  /** The one of them in which it is created. */
  publicGroup: ResourceId | undefined;
  /** The group that holds the cluster's network; only with an AzureCluster. */
  own: ResourceId | undefined;
  /** The region of a group that we create. */
  location: string | undefined;
}

/**
 * Where a cluster's things belong. The operator before us put the zone into the group that has the cluster's name, though
 * the cluster may be in another: there it stays, and a new one is created where the cluster is.
 */
export function groupsOf(
  cluster: CapiCluster,
  infrastructure:
    | { is: ObservedInfrastructure["is"]; object: { metadata: CapiCluster["metadata"] } }
    | undefined,
  management: AzureCluster | undefined,
  settings: ClusterSettings,
): ClusterGroups {
  const { name } = cluster.metadata;
  if (infrastructure?.is === "azure") {
    const own = groupOf(infrastructure.object as AzureCluster);
    const subscription = (infrastructure.object as AzureCluster).spec.subscriptionID;
    const old = subscription ? safely(() => resourceGroupId(subscription, name)) : undefined;
    const publicGroups = [old, own].filter((each) => each !== undefined);
    return { publicGroups, publicGroup: own, own, location: undefined };
  }
  const subscription =
    infrastructure && subscriptionFor(cluster, infrastructure, management, settings);
  const group = subscription ? safely(() => resourceGroupId(subscription, name)) : undefined;
  return {
    publicGroups: group ? [group] : [],
    publicGroup: group,
    own: undefined,
    location: settings.location || management?.spec.location,
  };
}

/** All three of subscription, client and tenant, or the management cluster's. */
function subscriptionFor(
  { metadata }: CapiCluster,
  {
    is,
    object,
  }: { is: ObservedInfrastructure["is"]; object: { metadata: CapiCluster["metadata"] } },
  management: AzureCluster | undefined,
  settings: ClusterSettings,
): string | undefined {
  const named = is === "aks" && Boolean(object.metadata.annotations?.[annotations.identity]);
  // By a shared identity a tenant must not choose the subscription.
  const annotated = named ? metadata.annotations?.[annotations.subscription] : undefined;
  const subscription = annotated || settings.subscription;
  const identified = named || (settings.client && settings.tenant);
  return (identified && subscription) || management?.spec.subscriptionID;
}

/** The resource group of an AzureCluster; CAPZ gives it the name of the object. */
export function groupOf({ metadata, spec }: AzureCluster): ResourceId | undefined {
  const { subscriptionID, resourceGroup } = spec;
  return subscriptionID
    ? safely(() => resourceGroupId(subscriptionID, resourceGroup || metadata.name))
    : undefined;
}

/** The group of the link service by which a management cluster is reached. */
export function managementLinkGroup(
  management: AzureCluster,
  link: ManagementLink,
): ResourceId | undefined {
  const { metadata, spec } = management;
  const { subscriptionID, resourceGroup } = spec;
  const { name } = metadata;
  const { links } = privateLinksOf(management);
  const group = managementLinkGroupName({ name, group: resourceGroup || name, links }, link);
  return subscriptionID ? safely(() => resourceGroupId(subscriptionID, group)) : undefined;
}

/** The network of an AzureCluster, by the id that CAPZ wrote or by its name. */
export function networkOf(cluster: AzureCluster): ResourceId | undefined {
  const { vnet } = cluster.spec.networkSpec ?? {};
  const { id } = vnet ?? {};
  if (id) return tryParseResourceId(id, "Microsoft.Network/virtualNetworks");
  const group = groupOf(cluster);
  const subscription = cluster.spec.subscriptionID ?? "";
  const name = vnet?.name || `${cluster.metadata.name}-vnet`;
  return (
    group &&
    safely(() => {
      const within = vnet?.resourceGroup
        ? resourceGroupId(subscription, vnet.resourceGroup)
        : group;
      return resourceIn(within, "Microsoft.Network/virtualNetworks", name);
    })
  );
}

/** The private zone that CAPZ itself creates for a private cluster, if it has this name. */
export function capzZone(cluster: AzureCluster, zone: string): ResourceId | undefined {
  const { apiServerLB, privateDNSZone, privateDNSZoneName, privateDNSZoneResourceGroup } =
    cluster.spec.networkSpec ?? {};
  const { subscriptionID } = cluster.spec;
  if (apiServerLB?.type !== "Internal" || privateDNSZone === "None") return undefined;
  if (privateDNSZoneName?.toLowerCase() !== zone.toLowerCase() || !subscriptionID) return undefined;
  const group = privateDNSZoneResourceGroup
    ? safely(() => resourceGroupId(subscriptionID, privateDNSZoneResourceGroup))
    : groupOf(cluster);
  return (
    group &&
    safely(() => resourceIn(group, "Microsoft.Network/privateDnsZones", zone.toLowerCase()))
  );
}

/** A name that cannot stand in an id names nothing. */
function safely(make: () => ResourceId): ResourceId | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
