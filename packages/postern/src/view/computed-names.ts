import { keyOf } from "@postern/core/kind.ts";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { idKey, lastSegment } from "@postern/core/resource-id.ts";
import { apiEndpointName, everyLink, managementLinkName } from "../cluster-api/names.ts";
import { clusterResourcesOf } from "../cluster-api/private-links/spec/cluster-resources.ts";
import { privateLinksOf } from "../cluster-api/requested-links.ts";
import {
  annotations,
  clusterAnnotation,
  clusterNatSubnetName,
  endpointName,
  internalZoneLinkName,
  internalZoneName,
  linkServiceName,
  oauthServer,
  ownLinkServiceName,
  privateRouter,
} from "../hosted/names.ts";
import { isSharedSubnet, sharedSubnetName } from "../private-link/nat-subnets/subnets.ts";
import type { KubeWorld } from "./world.ts";

/** The names of what the objects of this cluster have in Azure, or will have. */
export interface ComputedNames {
  /** Endpoints, zones and subnets, as `idKey` has them. */
  ids: Set<string>;
  /** Link services and NAT subnets of clusters by their name, in lower case: their group is a setting of the operator. */
  names: ReadonlySet<string>;
  /** The names of links, for the endpoints that are named after them. */
  links: ReadonlySet<string>;
  /** Whether a link exists, and with it a user of the NAT subnets that all links share. */
  usesSharedSubnets: boolean;
}

const guid = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";

/** Compute the names of everything that Postern creates for these objects. */
export function computedNames(kube: Omit<KubeWorld, "controlPlanes">): ComputedNames {
  const ids = new Set<string>();
  const names = new Set<string>();
  const links = new Set<string>([privateRouter, oauthServer]);
  const inGroup = (subscription = "", group = "", type: string, name: string) =>
    void ids.add(
      idKey(
        `/subscriptions/${subscription}/resourceGroups/${group}/providers/Microsoft.Network/${type}/${name}`,
      ),
    );
  const clusters = new Map(kube.hostedClusters.map((each) => [keyOf(each), each]));
  for (const cluster of kube.hostedClusters) {
    const { infraID, clusterID } = cluster.spec;
    if (infraID)
      for (const each of [infraID, `${infraID}-${clusterID}`])
        names.add(clusterNatSubnetName(each).toLowerCase());
    for (const id of zonesOf(cluster)) ids.add(idKey(id));
  }
  for (const { metadata, spec } of kube.links) {
    const { subscriptionID, resourceGroupName: group } = spec;
    links.add(metadata.name);
    if (spec.natSubnetID) ids.add(idKey(spec.natSubnetID));
    const endpoint = endpointName(metadata.name);
    inGroup(subscriptionID, group, "privateEndpoints", endpoint);
    const key = metadata.annotations?.[clusterAnnotation] ?? "";
    inGroup(subscriptionID, group, "privateDnsZones", internalZoneName(lastSegment(key)));
    if (spec.baseDomain)
      for (const host of ["api", "oauth"])
        inGroup(
          subscriptionID,
          group,
          "privateDnsZones",
          `${host}-${lastSegment(key)}.${spec.baseDomain.replace(/\.$/, "")}`,
        );
    const clusterID = clusters.get(key)?.spec.clusterID;
    if (clusterID === undefined) continue;
    names.add(linkServiceName(metadata.name, clusterID).toLowerCase());
    names.add(ownLinkServiceName(metadata.name, clusterID, metadata.uid ?? "").toLowerCase());
    inGroup(subscriptionID, group, "privateEndpoints", `${endpoint}-${clusterID}`);
  }
  for (const object of kube.azureClusters) {
    for (const { name } of privateLinksOf(object).links) names.add(name.toLowerCase());
    for (const link of everyLink)
      names.add(managementLinkName(object.metadata.name, link).toLowerCase());
    for (const id of endpointsOf(object)) ids.add(idKey(id));
  }
  return { ids, names, links, usesSharedSubnets: kube.links.length > 0 };
}

/** The private DNS zones that a hosted cluster has, or will have. */
export function zonesOf({ metadata, spec }: HostedCluster): string[] {
  const { subscriptionID = "", resourceGroup = "" } = spec.platform?.azure ?? {};
  const group = `/subscriptions/${subscriptionID}/resourceGroups/${resourceGroup}`;
  const named = [annotations.internalZone, annotations.baseZone].map(
    (each) => metadata.annotations?.[each] ?? "",
  );
  return [
    `${group}/providers/Microsoft.Network/privateDnsZones/${internalZoneName(metadata.name)}`,
    ...named.filter((id) => id !== ""),
  ];
}

/** The private endpoints that an AzureCluster asks for. */
export function endpointsOf(object: AzureCluster): string[] {
  const subnets = object.spec.networkSpec?.subnets ?? [];
  const names = subnets.flatMap((each) => each?.privateEndpoints ?? []).map((each) => each?.name);
  return inGroupOf(object, "privateEndpoints", names);
}

/** The link services that an AzureCluster asks for. */
export function linkServicesOf(object: AzureCluster): string[] {
  const names = privateLinksOf(object).links.map(({ name }) => name);
  return inGroupOf(object, "privateLinkServices", names);
}

function inGroupOf(object: AzureCluster, type: string, names: readonly unknown[]): string[] {
  const place = clusterResourcesOf(object);
  if ("missing" in place) return [];
  return names.map((name) => `${place.group}/providers/Microsoft.Network/${type}/${name}`);
}

/** Whether a link service has a name that Postern computes. */
export function isLinkServiceName(name: string): boolean {
  const hosted = new RegExp(
    `^${linkServiceName(privateRouter, `(?:.+-)?${guid}`)}(?:-[0-9a-f]{8})?$`,
    "i",
  );
  const capi = everyLink.map((link) => managementLinkName("", link));
  return hosted.test(name) || capi.some((suffix) => endsWith(name, suffix));
}

/**
 * Whether an endpoint has a name that Postern computes. Many people end theirs with -pe: one without the id of a cluster counts
 * where the link of that name is known, or where it is connected to a link service of a hosted cluster.
 */
export function isEndpointName(
  name: string,
  targets: readonly string[],
  links: ReadonlySet<string>,
): boolean {
  // Endpoints of storage accounts and the like have names of the same form.
  if (!targets.every((each) => /\/privateLinkServices\/|\.privatelinkservice$/i.test(each)))
    return false;
  const suffix = endpointName("");
  if (new RegExp(`.${suffix}-${guid}$`, "i").test(name)) return true;
  if (endsWith(name, suffix))
    return links.has(name.slice(0, -suffix.length)) || targets.some(isHostedLinkService);
  return endsWith(name, apiEndpointName(""));
}

/** Whether the id or the alias of a link service begins with the name that hosted clusters give it. */
function isHostedLinkService(target: string): boolean {
  const [name = ""] = lastSegment(target).split(".");
  return isLinkServiceName(name) && /^pls-/i.test(name);
}

/** Whether a zone has the name of the zone of a hosted cluster's internal DNS records. */
export function isInternalZoneName(name: string): boolean {
  return endsWith(name, internalZoneName(""));
}

/** Whether a link of a zone to a network has a name that Postern computes. */
export function isZoneLinkName(name: string): boolean {
  const suffix = internalZoneLinkName("");
  return new RegExp(`.${suffix}(?:-[0-9a-f]{8})?(?:-${guid})?$`, "i").test(name);
}

/** Whether a subnet has a name that Postern gives to the subnet of one cluster's link services. */
export function isClusterSubnetName(name: string): boolean {
  return endsWith(name, clusterNatSubnetName(""));
}

/** Whether a subnet has a name that Postern gives to the subnets that all link services share. */
export function isSharedSubnetName(name: string): boolean {
  const prefix = sharedSubnetName("", 0).replace(/-0$/, "");
  const [installation = ""] = name.slice(prefix.length).split("-");
  return (
    name.toLowerCase().startsWith(prefix) &&
    /^[0-9a-f]{8}$/i.test(installation) &&
    isSharedSubnet(name, installation)
  );
}

/** Whether a name ends so, and has something before it. */
function endsWith(name: string, suffix: string): boolean {
  return name.length > suffix.length && name.toLowerCase().endsWith(suffix.toLowerCase());
}
