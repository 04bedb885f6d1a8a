import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { type OwnerKey, ownerKey, ownerTag } from "@postern/core/ownership.ts";
import {
  childId,
  parentOf,
  type ResourceId,
  ResourceIdError,
  resourceGroupId,
  resourceIn,
  sameId,
  tryParseResourceId,
} from "@postern/core/resource-id.ts";
import { checkedTags, TagError, type Tags } from "@postern/core/tags.ts";
import { clusterNameOf } from "../../azure-clusters.ts";
import { capzTagPrefix } from "../../names.ts";
import { withoutReserved } from "../../reserved-tags.ts";

/** Where in Azure a cluster is, and the marks of what is created for it. */
export interface ClusterResources {
  group: ResourceId;
  location: string;
  network: ResourceId;
  /** The id of a subnet of the cluster by its name. */
  subnet(name: string): ResourceId;
  balancer: ResourceId;
  /** The marks of what is created, or why Azure would refuse them. */
  tags: Tags | TagError;
}

/**
 * Whose something is: the namespace and the name of its AzureCluster. Not the uid, which `clusterctl move` and a restored
 * backup change; nobody else has that name in that group.
 */
export function ownerOf({ metadata }: AzureCluster): OwnerKey {
  return ownerKey(metadata.namespace ?? "", metadata.name);
}

/** Read where a cluster is, with the defaults of CAPZ; or what is missing. */
export function clusterResourcesOf(object: AzureCluster): ClusterResources | { missing: string } {
  const { spec, metadata } = object;
  const { name } = metadata;
  const { networkSpec } = spec;
  if (!spec.subscriptionID) return { missing: "spec.subscriptionID is empty" };
  if (!spec.location) return { missing: "spec.location is empty" };
  try {
    const group = resourceGroupId(spec.subscriptionID, spec.resourceGroup || name);
    const vnet = networkSpec?.vnet;
    const network =
      tryParseResourceId(vnet?.id, "Microsoft.Network/virtualNetworks") ??
      resourceIn(
        resourceGroupId(spec.subscriptionID, vnet?.resourceGroup || spec.resourceGroup || name),
        "Microsoft.Network/virtualNetworks",
        vnet?.name || `${name}-vnet`,
      );
    const balancer = networkSpec?.apiServerLB;
    const balancerId = tryParseResourceId(balancer?.id, "Microsoft.Network/loadBalancers");
    // CAPZ writes these ids, but a tenant may, too: they must not lead to what is another's.
    if (balancerId !== undefined && !sameId(parentOf(balancerId) ?? "", group))
      return { missing: "spec.networkSpec.apiServerLB.id is not in the cluster's resource group" };
    const strayed = (networkSpec?.subnets ?? []).find((each) => {
      const id = tryParseResourceId(each?.id, "Microsoft.Network/virtualNetworks/subnets");
      return id !== undefined && !sameId(parentOf(id) ?? "", network);
    });
    if (strayed !== undefined)
      return { missing: `the id of subnet ${strayed?.name} is not in the cluster's network` };
    return {
      group,
      network,
      location: spec.location,
      subnet: (desired) => {
        const listed = (networkSpec?.subnets ?? []).find((each) => each?.name === desired);
        const id = tryParseResourceId(listed?.id, "Microsoft.Network/virtualNetworks/subnets");
        return id ?? childId(network, "subnets", desired);
      },
      balancer:
        balancerId ??
        resourceIn(
          group,
          "Microsoft.Network/loadBalancers",
          balancer?.name || `${name}-internal-lb`,
        ),
      tags: tagsOf(object),
    };
  } catch (error) {
    if (error instanceof ResourceIdError) return { missing: error.message };
    throw error;
  }
}

/** CAPZ's mark, so that its tools know the resource, and ours. */
function tagsOf(object: AzureCluster): Tags | TagError {
  try {
    return checkedTags({
      ...withoutReserved(object.spec.additionalTags ?? {}),
      [`${capzTagPrefix}${clusterNameOf(object) ?? object.metadata.name}`]: "owned",
      [ownerTag]: ownerOf(object),
    });
  } catch (error) {
    if (error instanceof TagError) return error;
    throw error;
  }
}
