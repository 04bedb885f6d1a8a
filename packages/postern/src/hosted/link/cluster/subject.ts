import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import {
  nameOf,
  parseResourceId,
  type ResourceId,
  resourceGroupId,
  resourceIn,
  sameId,
  subscriptionOf,
  tryParseResourceId,
} from "@postern/core/resource-id.ts";
import type { PrivateLinkService } from "../../../azure/gateways/private-link-services.ts";
import { natSubnetOf } from "../../../private-link/link-service/desired.ts";
import { foreignEndpoints } from "../../../private-link/link-service/disconnect.ts";
import { isSharedSubnet } from "../../../private-link/nat-subnets/subnets.ts";
import { annotations, conditions, endpointName, linkFinalizer } from "../../names.ts";
import { recordedSubnetOf } from "../nat/recorded-subnet.ts";
import type { Subject } from "../observed.ts";
import type { LinkParts } from "./dependencies.ts";

/** The subnet of a service, where it is one of those that we make: shared by its name, else by its annotation. */
export function ownNatSubnet(
  service: PrivateLinkService,
  subject: Subject,
  { installation, reservations }: Pick<LinkParts, "installation" | "reservations">,
): ResourceId | undefined {
  const subnet = natSubnetOf(service);
  if (subnet === undefined) return undefined;
  const id = parseResourceId(subnet, "Microsoft.Network/virtualNetworks/subnets");
  const isOwn =
    isSharedSubnet(nameOf(id), installation) ||
    sameId(subject.recordedSubnet ?? "", id) ||
    reservations.siblingsIn(id, subject);
  return isOwn ? id : undefined;
}

/** The id of a link service in the management group. */
export function serviceId(group: ResourceId, name: string): ResourceId {
  return resourceIn(group, "Microsoft.Network/privateLinkServices", name);
}

/** The subscription of a hosted cluster's subnet; undefined where that is not the id of a subnet. */
export function clusterSubscriptionOf(subnet: string): string | undefined {
  const id = tryParseResourceId(subnet, "Microsoft.Network/virtualNetworks/subnets");
  return id && subscriptionOf(id);
}

/** What a plan needs of the object itself. */
export function subjectOf(
  object: AzurePrivateLinkService,
  cluster: HostedCluster | undefined,
  parts: LinkParts,
): Subject {
  const { namespace = "", name, uid = "", annotations: on = {} } = object.metadata;
  const own: readonly string[] = [conditions.link, conditions.loadBalancer];
  const { status } = object;
  const policy =
    on[annotations.foreignEndpoints] ??
    cluster?.metadata.annotations?.[annotations.foreignEndpoints];
  const { subscriptionID, resourceGroupName } = object.spec;
  const group = resourceGroupId(subscriptionID, resourceGroupName);
  const names = [endpointName(name)];
  const clusterID = cluster?.spec.clusterID;
  if (clusterID !== undefined) names.push(`${endpointName(name)}-${clusterID}`);
  const endpoints = names.map((each) =>
    resourceIn(group, "Microsoft.Network/privateEndpoints", each),
  );
  const { privateEndpointID } = status ?? {};
  return {
    namespace,
    name,
    uid,
    installation: parts.installation,
    azureTags: parts.azureTags,
    conditions: (status?.conditions ?? []).filter(({ type }) => own.includes(type)),
    fields: {
      internalLoadBalancerID: status?.internalLoadBalancerID,
      privateLinkServiceID: status?.privateLinkServiceID,
      privateLinkServiceAlias: status?.privateLinkServiceAlias,
    },
    recordedSubnet: recordedFor(object, parts),
    foreignEndpoints: foreignEndpoints(policy),
    proxyProtocol: cluster?.metadata.annotations?.[annotations.proxyProtocol] === "true",
    ownEndpoints: privateEndpointID === undefined ? endpoints : [...endpoints, privateEndpointID],
  };
}

/** The annotation of the namespace, or our own write where the watch has not brought it yet. */
function recordedFor(
  { metadata: { namespace = "", name, uid = "" } }: AzurePrivateLinkService,
  { recorded, namespaces }: LinkParts,
): string | undefined {
  const cached = namespaces.get(namespace);
  const own = recorded.get(uid);
  // The API server promises that versions of one kind can be compared as numbers.
  const isBehind = own && Number(cached?.metadata.resourceVersion ?? 0) < Number(own.version);
  return (isBehind ? own.subnet : recordedSubnetOf(cached, name)) || undefined;
}

/** Whether our finalizer is on an object. */
export function hasFinalizer(object: AzurePrivateLinkService): boolean {
  return object.metadata.finalizers?.includes(linkFinalizer) === true;
}
