import { parentOf, sameId } from "@postern/core/resource-id.ts";
import { type Tags, tagOf } from "@postern/core/tags.ts";
import type { ArmClient } from "../../../azure/arm.ts";
import { loadBalancers } from "../../../azure/gateways/load-balancers.ts";
import { virtualNetworks } from "../../../azure/gateways/virtual-networks.ts";
import { capzTagPrefix } from "../../names.ts";
import type { ClusterResources } from "../spec/cluster-resources.ts";

/** How old a sighting may be of what CAPZ created long ago. */
const oldestMs = 30 * 60_000;

/**
 * Whether a resource without any owner is ours all the same, because somebody has replaced its tags. It is, if it is what
 * the cluster requests, in everything that Azure never changes, and if the load balancer or the network in the same group
 * has CAPZ's tag for this cluster: a tenant cannot put that there by writing an AzureCluster.
 */
export async function isInOwnGroup(
  arm: ArmClient,
  resources: ClusterResources,
  cluster: string,
): Promise<boolean> {
  const isOwn = (tags: Tags | undefined) => tagOf(tags, capzTagPrefix + cluster) === "owned";
  const balancer = await loadBalancers(arm).observe(resources.balancer, oldestMs);
  if (balancer.state === "exists" && isOwn(balancer.resource.tags)) return true;
  if (!sameId(parentOf(resources.network) ?? "", resources.group)) return false;
  const network = await virtualNetworks(arm).observe(resources.network, oldestMs);
  return network.state === "exists" && isOwn(network.resource.tags);
}
