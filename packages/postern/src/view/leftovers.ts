import { claimsIn } from "@postern/core/claims.ts";
import type { Unread } from "@postern/core/dashboard/picture.ts";
import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { isSameCluster, type Owner, ownerIn, ownership } from "@postern/core/ownership.ts";
import { idKey, lastSegment, type ResourceId } from "@postern/core/resource-id.ts";
import type { Tags } from "@postern/core/tags.ts";
import type { ArmClient } from "../azure/arm.ts";
import type { ResourceGateway } from "../azure/gateway.ts";
import {
  privateDnsZones,
  privateRecordSets,
  virtualNetworkLinks,
} from "../azure/gateways/private-dns.ts";
import { privateEndpoints } from "../azure/gateways/private-endpoints.ts";
import { privateLinkServices } from "../azure/gateways/private-link-services.ts";
import { virtualNetworks } from "../azure/gateways/virtual-networks.ts";
import { annotations, clusterNatSubnetName, internalZoneName } from "../hosted/names.ts";
import { computedNames, isLinkServiceName } from "./computed-names.ts";
import { unlessRefused, unreadIn } from "./gather.ts";
import type { Orphan } from "./orphans.ts";
import { hasOwnerTag, type NamedOrphan } from "./orphans-by-name.ts";
import { groupsIn } from "./places.ts";

/** A hosted cluster and its links, as they were before they were deleted. */
export interface Deleted {
  cluster: HostedCluster;
  links: readonly AzurePrivateLinkService[];
}

/** Something in Azure that a deleted cluster has left. */
export interface Leftover {
  id: string;
  what: Orphan["what"] | NamedOrphan["what"];
  /** What tells that it is the cluster's: a tag, or only the name that Postern computes. */
  by: "tag" | "name";
}

/** Search the resource groups of a deleted cluster for what carries its tags or one of its computed names. */
export async function findLeftovers(
  arm: ArmClient,
  deleted: Deleted,
  managementGroup: ResourceId | undefined,
): Promise<{ leftovers: Leftover[]; unread: Unread[] }> {
  const unread: Unread[] = [];
  const read = async <T>(gateway: ResourceGateway<T>, what: string, scope: string) => {
    const found = await unlessRefused(() => gateway.list(scope), what);
    if (!("why" in found)) return found;
    unread.push(unreadIn(what, scope, found.why));
    return [];
  };
  const { cluster, links } = deleted;
  const named = groupsIn({
    hostedClusters: [cluster],
    controlPlanes: [],
    links: [...links],
    azureClusters: [],
  });
  const groups = new Map([...named, ...(managementGroup ? [managementGroup] : [])].map(keyed));
  const judge = judgeOf(deleted);
  const leftovers: Leftover[] = [];
  const add = (what: Leftover["what"], id = "", tags: Tags | null | undefined) => {
    const by = judge(what, id, tags);
    if (by !== undefined) leftovers.push({ id, what, by });
  };
  for (const group of groups.values()) {
    for (const { id = "", name, tags } of await read(privateDnsZones(arm), "zones", group)) {
      if (isZoneOf(deleted, name ?? lastSegment(id))) {
        for (const record of await read(privateRecordSets(arm), "records", id))
          add("record", record.id, record.properties.metadata);
        for (const link of await read(virtualNetworkLinks(arm), "links", id))
          add("zone link", link.id, link.tags);
      }
      add("zone", id, tags);
    }
    for (const { id, tags } of await read(privateEndpoints(arm), "endpoints", group))
      add("endpoint", id, tags);
    for (const { id, tags } of await read(privateLinkServices(arm), "link services", group))
      add("link service", id, tags);
    for (const { properties } of await read(virtualNetworks(arm), "networks", group))
      for (const { id } of properties.subnets ?? []) add("NAT subnet", id, undefined);
  }
  return { leftovers, unread };
}

function keyed(id: ResourceId): [string, ResourceId] {
  return [idKey(id), id];
}

/** Whether a zone may hold DNS records of the cluster. */
function isZoneOf({ cluster, links }: Deleted, zone: string): boolean {
  const domains = [
    internalZoneName(cluster.metadata.name),
    ...links.flatMap(({ spec }) => spec.baseDomain ?? []),
  ];
  return domains.some((each) => each.toLowerCase() === zone.toLowerCase());
}

/** Decide what tells that something is the cluster's; undefined where nothing does, or where a tag names somebody else. */
function judgeOf({ cluster, links }: Deleted) {
  const { clusterID = "", infraID } = cluster.spec;
  const { ids } = computedNames({
    hostedClusters: [cluster],
    links: [...links],
    azureClusters: [],
  });
  // Zones that the cluster was given stay.
  for (const name of [annotations.internalZone, annotations.baseZone])
    ids.delete(idKey(cluster.metadata.annotations?.[name] ?? ""));
  const isOwned = (owner: Owner) => isSameCluster(owner, { clusterID });
  const hasComputedName = (what: Leftover["what"], id: string) => {
    const name = lastSegment(id).toLowerCase();
    if (what === "NAT subnet")
      return [infraID, `${infraID}-${clusterID}`].some(
        (each) => infraID && name === clusterNatSubnetName(each ?? "").toLowerCase(),
      );
    const isOfCluster = clusterID !== "" && name.endsWith(`-${clusterID.toLowerCase()}`);
    const isOwnName = clusterID !== "" && name.includes(`${clusterID.toLowerCase()}-`);
    if (what === "link service") return (isOfCluster || isOwnName) && isLinkServiceName(name);
    if (what === "endpoint") return isOfCluster || ids.has(idKey(id));
    return what === "zone" && ids.has(idKey(id));
  };
  return (what: Leftover["what"], id: string, tags: Tags | null | undefined) => {
    const owner = ownerIn(tags);
    if ([...(owner ? [owner] : []), ...claimsIn(tags)].some(isOwned)) return "tag";
    if (!hasComputedName(what, id)) return undefined;
    if (!hasOwnerTag(tags)) return "name";
    // HyperShift's tag has only the name of the cluster.
    const recorded = ownership(tags, { clusterID: "", uid: "" });
    const isNamesake = recorded.is === "nobody" && recorded.hostedCluster === cluster.metadata.name;
    return isNamesake ? "tag" : undefined;
  };
}
