import { idKey, nameOf, type ResourceId, sameId } from "../../model/resource-id.ts";
import { internalZoneName } from "../names.ts";
import {
  type FoundLink,
  type FoundRecord,
  foundLinks,
  foundRecords,
  wantedNetworks,
} from "./found.ts";
import { isPublished } from "./names-told.ts";
import type { Seen, ZoneSeen } from "./seen.ts";
import { guestGroup, linkIds, nameInZone, plainName, wantedNames, zoneIn } from "./wanted.ts";
import { isOurs, isUnmarked, otherClaims, ourClaim } from "./whose.ts";

/**
 * What is ours although nothing on it says so: `az … update --tags` replaces every tag. The computed name in the computed
 * place, published in our status, is the proof; the claim is then written again.
 */

/** Whether a zone of ours has lost its claims: a link or a record set in it is ours. Whatever else it holds is left alone. */
export function hasLostClaim(seen: Seen, zone: ZoneSeen): boolean {
  const { look } = zone;
  if (look.state !== "there" || !zone.managed || !isUnmarked(look.resource.tags)) return false;
  if (!isPublished(seen, zone) || !isOwnPlace(seen, zone)) return false;
  return (
    foundLinks(zone).some(
      (link) => ourClaim(link.found.tags, seen.us) !== undefined || isLostLink(seen, zone, link),
    ) ||
    foundRecords(zone).some(
      (record) =>
        isOurs(record.found.properties.metadata, seen.us) || isLostRecord(seen, zone, record),
    )
  );
}

/**
 * Whether a link of a zone of ours has lost its claims: it has the name that we give a link to this network. Clusters that share
 * a zone give it the same name, so while another claims the zone the link may be that one's.
 */
export function isLostLink(seen: Seen, zone: ZoneSeen, { id, found }: FoundLink): boolean {
  const { name, spec } = seen.object;
  const target = idKey(found.properties.virtualNetwork?.id ?? "");
  return (
    zone.managed &&
    isPublished(seen, zone) &&
    isUnmarked(found.tags) &&
    !isShared(seen, zone) &&
    wantedNetworks(seen)
      .filter((network) => idKey(network) === target)
      .flatMap((network) => linkIds(zone, name, network, spec.guestVNetID, seen.us.clusterID))
      .some((each) => sameId(each, id))
  );
}

function isShared({ us }: Seen, { look }: ZoneSeen): boolean {
  return look.state === "there" && otherClaims(look.resource.tags, us).length > 0;
}

/** Whether a record set of a zone of ours has lost its metadata: it has one of our names and our endpoint's address. */
export function isLostRecord(seen: Seen, zone: ZoneSeen, { id, found }: FoundRecord): boolean {
  const { metadata, aRecords = [] } = found.properties;
  return (
    Object.keys(metadata ?? {}).length === 0 &&
    isPublished(seen, zone) &&
    aRecords.length === 1 &&
    aRecords[0]?.ipv4Address === seen.status.privateEndpointIP &&
    wantedNames(seen).some(
      ({ role, fqdn }) => role === zone.role && nameInZone(fqdn, zone.id) === idKey(nameOf(id)),
    )
  );
}

/** Whether a zone has the name and the resource group of the one that we create for the cluster. */
export function isOwnPlace(seen: Seen, zone: ZoneSeen): boolean {
  return sameId(placeOf(seen, zone) ?? "", zone.id);
}

/** Where we create a zone. */
function placeOf({ object, cluster }: Seen, { role }: ZoneSeen): ResourceId | undefined {
  const group = guestGroup(object.spec);
  const { baseDomain } = object.spec;
  if (role === "base") return baseDomain ? zoneIn(group, plainName(baseDomain)) : undefined;
  return cluster && zoneIn(group, internalZoneName(cluster.name));
}
