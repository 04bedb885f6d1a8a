import {
  idKey,
  type ResourceId,
  resourceGroupId,
  resourceGroupOf,
  subscriptionOf,
  tryParseResourceId,
} from "@postern/core/resource-id.ts";
import type { KubeWorld } from "./world.ts";

/** The subscriptions that objects name, each once. */
export function subscriptionsIn(kube: KubeWorld, more: readonly string[]): string[] {
  const named = placesIn(kube).flatMap((id) => subscriptionOf(id) ?? []);
  return [...new Set([...more, ...named].map((each) => each.toLowerCase()))];
}

/** The resource groups that objects name, each once. */
export function groupsIn(kube: KubeWorld): ResourceId[] {
  const groups = placesIn(kube).flatMap((id) => {
    const [subscription, group] = [subscriptionOf(id), resourceGroupOf(id)];
    return subscription && group ? [resourceGroupId(subscription, group)] : [];
  });
  return [...new Map(groups.map((id) => [idKey(id), id])).values()];
}

/** Everything in Azure that objects name. What is no id is passed over: conditions tell of it. */
function placesIn({ links, hostedClusters, azureClusters }: KubeWorld): ResourceId[] {
  const group = (subscription = "", name = "") =>
    `/subscriptions/${subscription}/resourceGroups/${name}`;
  const texts = [
    ...links.flatMap(({ spec, status }) => [
      group(spec.subscriptionID, spec.resourceGroupName),
      spec.guestVNetID,
      spec.natSubnetID,
      status?.internalLoadBalancerID,
      status?.privateLinkServiceID,
      status?.privateEndpointID,
      status?.privateDNSZoneID,
      status?.baseDomainDNSZoneID,
    ]),
    ...hostedClusters.flatMap(({ spec }) => {
      const azure = spec.platform?.azure;
      return azure ? [group(azure.subscriptionID, azure.resourceGroup), azure.vnetID] : [];
    }),
    ...azureClusters.flatMap(({ spec, metadata }) => [
      group(spec.subscriptionID, spec.resourceGroup ?? metadata.name),
      group(spec.subscriptionID, spec.networkSpec?.vnet?.resourceGroup),
    ]),
  ];
  return texts.flatMap((text) => tryParseResourceId(text) ?? []);
}
