import type { Unread } from "@postern/core/dashboard/picture.ts";
import type { KubeObject } from "@postern/core/kind.ts";
import {
  idKey,
  type ResourceId,
  resourceGroupId,
  resourceGroupOf,
  subscriptionOf,
  tryParseResourceId,
} from "@postern/core/resource-id.ts";
import { objectsOf } from "./cluster-objects.ts";
import type { KubeWorld, World } from "./world.ts";

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

/**
 * What could not be read and concerns one cluster: kinds of Kubernetes, and the places that its own objects name. Those of other
 * clusters concern it only while something of its own is unknown, which may be there.
 */
export function unreadOf(
  cluster: string,
  { kube, unread }: Pick<World, "kube" | "unread">,
  isUnknown: boolean,
): Unread[] {
  if (isUnknown) return unread;
  const own = new Set(objectsOf(cluster, kube));
  const kept = <T extends KubeObject>(objects: readonly T[]) =>
    objects.filter((each) => own.has(each));
  const ofIt = {
    hostedClusters: kept(kube.hostedClusters),
    controlPlanes: kept(kube.controlPlanes),
    links: kept(kube.links),
    azureClusters: kept(kube.azureClusters),
  };
  const places = [...groupsIn(ofIt), ...subscriptionsIn(ofIt, [])].map(idKey);
  return unread.filter(
    ({ scope }) =>
      scope === undefined || places.some((place) => `${idKey(scope)}/`.startsWith(`${place}/`)),
  );
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
