import { plainName } from "@postern/core/dns-name.ts";
import { ownerIn } from "@postern/core/ownership.ts";
import { idKey, nameOf, type ResourceId, sameId } from "@postern/core/resource-id.ts";
import { type FoundLink, foundLinks, networkKey } from "../../../private-dns/links/observed.ts";
import { type FoundRecord, foundRecords } from "../../../private-dns/records/observed.ts";
import { otherClaims } from "../../../private-dns/user.ts";
import { privateZoneIn, tagsOf } from "../../../private-dns/zone/observed.ts";
import { internalZoneName, oauthServer, privateRouter } from "../../names.ts";
import {
  clusterGroup,
  desiredNames,
  desiredNetworks,
  isHostZone,
  linkIdsOf,
  nameInZone,
} from "../desired/desired.ts";
import type { Observed, ZoneInRole } from "../observed.ts";
import { isOwned, isUnmarked, ownClaim, userOf } from "../ownership/owner.ts";
import { isPublished, presentCondition } from "./report.ts";

/**
 * What is owned although no tag says so: `az … update --tags` replaces every tag. The computed name in the computed
 * place, published in our status, is the proof; the claim is then written again.
 */

/** Whether a zone that we own has no claims any more: a link or a record set in it is owned. Everything else in it is left alone. */
export function lacksClaim(observed: Observed, zone: ZoneInRole): boolean {
  const { observation } = zone;
  if (observation.state !== "exists" || !zone.managed || !isUnmarked(observation.resource.tags))
    return false;
  if (!isPublished(observed, zone) || !isOwnPlace(observed, zone)) return false;
  return (
    foundLinks(zone).some(
      (link) =>
        ownClaim(link.found.tags, observed.self) !== undefined ||
        isUntaggedLink(observed, zone, link),
    ) ||
    foundRecords(zone).some(
      (record) =>
        isOwned(record.found.metadata, observed.self) || isUntaggedRecord(observed, zone, record),
    )
  );
}

/**
 * Whether a link of an owned zone has no claims any more: it has a name that we give links to this network, whichever Service it was
 * created for. Clusters that share a zone use one link, so while another claims the zone the link may be that one's.
 */
export function isUntaggedLink(
  observed: Observed,
  zone: ZoneInRole,
  { id, found }: FoundLink,
): boolean {
  const target = networkKey(found);
  const services = new Set([observed.object.name, privateRouter, oauthServer]);
  return (
    zone.managed &&
    isPublished(observed, zone) &&
    isUnmarked(found.tags) &&
    !isShared(observed, zone) &&
    desiredNetworks(observed)
      .filter((network) => idKey(network) === target)
      .flatMap((network) =>
        [...services].flatMap((service) => linkIdsOf(observed, zone, network, service)),
      )
      .some((each) => sameId(each, id))
  );
}

function isShared(observed: Observed, zone: ZoneInRole): boolean {
  return otherClaims(tagsOf(zone), userOf(observed)).length > 0;
}

/**
 * Whether a record set without an owner tag is owned: it has one of our names in a zone that our status names, and either the zone makes
 * the name our own, or it has no metadata and our endpoint's address.
 */
export function isUntaggedRecord(
  observed: Observed,
  zone: ZoneInRole,
  { id, found }: FoundRecord,
): boolean {
  const { type, metadata, values, registered } = found;
  if (!["A", "AAAA"].includes(type) || registered || ownerIn(metadata) !== undefined) return false;
  const isDesired = desiredNames(observed).some(
    ({ role, fqdn }) => role === zone.role && nameInZone(fqdn, zone.id) === idKey(nameOf(id)),
  );
  if (!isDesired || !isPublished(observed, zone)) return false;
  const isAsWritten =
    type === "A" &&
    Object.keys(metadata).length === 0 &&
    values.length === 1 &&
    values[0] === observed.status.privateEndpointIP;
  return isAsWritten || ownsNames(observed, zone);
}

/**
 * Whether our names in a zone are owned whatever their record sets contain: our cluster claims the zone. Where other clusters claim it
 * too, one of the same name may have a record set under our name, so the status must say that all our records were written.
 */
function ownsNames(observed: Observed, zone: ZoneInRole): boolean {
  if (!zone.managed || ownClaim(tagsOf(zone), observed.self) === undefined) return false;
  return !isShared(observed, zone) || presentCondition(observed)?.status === "True";
}

/** Whether a zone has the name and the resource group of the one that we create for the cluster. */
export function isOwnPlace(observed: Observed, zone: ZoneInRole): boolean {
  return sameId(placeOf(observed, zone) ?? "", zone.id);
}

/** Where we create a zone. */
function placeOf({ object, cluster }: Observed, { role, id }: ZoneInRole): ResourceId | undefined {
  const group = clusterGroup(object.spec);
  const { baseDomain } = object.spec;
  if (role === "host") return isHostZone({ object, cluster }, id) ? id : undefined;
  if (role === "base") return baseDomain ? privateZoneIn(group, plainName(baseDomain)) : undefined;
  return cluster && privateZoneIn(group, internalZoneName(cluster.name));
}
