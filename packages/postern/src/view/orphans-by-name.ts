import { claimsIn } from "@postern/core/claims.ts";
import { ownership } from "@postern/core/ownership.ts";
import { idKey, lastSegment } from "@postern/core/resource-id.ts";
import type { Tags } from "@postern/core/tags.ts";
import { capzTagPrefix } from "../cluster-api/names.ts";
import {
  isClusterSubnetName,
  isEndpointName,
  isInternalZoneName,
  isLinkServiceName,
  isSharedSubnetName,
  isZoneLinkName,
} from "./computed-names.ts";
import { targetsOf } from "./index-of.ts";
import { goneOwners, isAzures, isPartlyUnread, type Known } from "./orphans.ts";
import type { World, Zone } from "./world.ts";

/**
 * Something in Azure that has a name which Postern computes, no tag that says whose it is, and no object in this cluster. Its
 * tags may have been replaced, or somebody else chose the name.
 */
export interface NamedOrphan {
  id: string;
  what: "zone link" | "zone" | "endpoint" | "link service" | "NAT subnet";
}

/** Find orphans by their names, in the order in which Azure lets them be deleted. */
export function orphansByName(
  { azure, unread }: Pick<World, "azure" | "unread">,
  known: Known,
): NamedOrphan[] {
  const { computed } = known;
  const isUnknown = (id: string) => {
    const key = idKey(id);
    return !known.named.has(key) && !computed.ids.has(key) && !hasComputedName(id);
  };
  const hasComputedName = (id: string) => computed.names.has(lastSegment(id).toLowerCase());
  const found: NamedOrphan[] = [];
  for (const each of azure.zones) {
    const { id = "", tags } = each.zone;
    // What is in a zone that cannot be listed may belong to somebody.
    if (isPartlyUnread(each.zone, unread)) continue;
    if (!isInternalZoneName(lastSegment(id)) || hasOwnerTag(tags) || !isUnknown(id)) continue;
    if (!hasOnlyOwnContents(each, known)) continue;
    for (const link of each.links)
      if (link.id && !hasOwnerTag(link.tags)) found.push({ id: link.id, what: "zone link" });
    found.push({ id, what: "zone" });
  }
  for (const endpoint of azure.endpoints) {
    const { id = "", tags } = endpoint;
    const isNamed = isEndpointName(lastSegment(id), targetsOf(endpoint), computed.links);
    if (isNamed && !hasOwnerTag(tags) && isUnknown(id)) found.push({ id, what: "endpoint" });
  }
  const services = azure.linkServices.flatMap(({ id = "", tags }) =>
    isLinkServiceName(lastSegment(id)) && !hasOwnerTag(tags) && isUnknown(id) ? [id] : [],
  );
  found.push(...services.map((id) => ({ id, what: "link service" as const })));
  const orphaned = new Set(services.map(idKey));
  for (const { properties } of azure.networks)
    for (const { id = "", properties: subnet } of properties.subnets ?? []) {
      const name = lastSegment(id);
      const isShared = isSharedSubnetName(name) && !computed.usesSharedSubnets;
      if (!(isShared || isClusterSubnetName(name)) || !isUnknown(id)) continue;
      const users = azure.linkServices.filter((each) => isIn(each, id));
      // Whoever has an address in it and is no link service that was listed is not known here.
      const isFree = (subnet.ipConfigurations ?? []).length === 0 || users.length > 0;
      const isLast = users.every((each) => orphaned.has(idKey(each.id ?? "")));
      if (isFree && isLast) found.push({ id, what: "NAT subnet" });
    }
  return found;
}

/** Whether tags name an owner: ours, HyperShift's or CAPZ's. */
export function hasOwnerTag(tags: Tags | null | undefined): boolean {
  const recorded = ownership(tags, { clusterID: "", uid: "" });
  if (recorded.is === "another") return recorded.owner !== undefined;
  return (
    (recorded.is === "nobody" && recorded.hostedCluster !== undefined) ||
    claimsIn(tags).length > 0 ||
    Object.keys(tags ?? {}).some((name) => name.toLowerCase().startsWith(capzTagPrefix))
  );
}

/** Whether a zone of a hosted cluster holds nothing but what such a zone has, and nothing of somebody who exists. */
function hasOnlyOwnContents({ records, links }: Zone, known: Known): boolean {
  const isAbandoned = (tags: Tags | null | undefined) =>
    !hasOwnerTag(tags) || goneOwners(tags, known).length > 0;
  return (
    records.every(
      (each) =>
        isAzures(each) ||
        (/\/(A|AAAA)\/(api|\*\.apps)$/i.test(each.id ?? "") &&
          isAbandoned(each.properties.metadata)),
    ) && links.every(({ id = "", tags }) => isZoneLinkName(lastSegment(id)) && isAbandoned(tags))
  );
}

function isIn({ properties }: World["azure"]["linkServices"][number], subnet: string): boolean {
  return (properties.ipConfigurations ?? []).some(
    (each) => idKey(each.properties.subnet?.id ?? "") === idKey(subnet),
  );
}
