import type { PrivateDnsZone } from "../../azure/gateways/private-dns.ts";
import { claimsIn, lastUserIn, mostClaims, withClaim } from "../../model/claims.ts";
import { nameOf, sameId } from "../../model/resource-id.ts";
import { annotations, conditions } from "../names.ts";
import { hasLostClaim, isOwnPlace } from "./lost-tags.ts";
import {
  failed,
  failures,
  isPublished,
  joined,
  namesPending,
  published,
  whileChanging,
} from "./names-told.ts";
import { reasons } from "./reasons.ts";
import { planRecords } from "./records.ts";
import type { Seen, ZoneSeen } from "./seen.ts";
import { type EndpointStep, isFalse, type Part, rest } from "./steps.ts";
import { claimant, isHyperShifts, otherClaims, ourClaim, sharedTags } from "./whose.ts";
import { planLinks } from "./zone-links.ts";

const condition = conditions.dns;

/**
 * What to do about a zone that is wanted:
 *
 *   zone      made by us  claims                     →
 *   absent    yes                                    make it, with our claim
 *   absent    no (existing)                          say that it is missing
 *   there     no (existing)                          use it, and leave it as it is
 *   there     yes         ours among them            use it: links, records
 *   there     yes         others' only               base: claim it first; internal: it is another cluster's
 *   there     yes         of our cluster, earlier    claim it: an earlier control plane left it
 *   there     yes         none, but a last user      claim it, in the place where we create our own: Postern managed it
 *   there     yes         none                       HyperShift's, or its tags were lost, and published by us: claim
 *                                                    it; else OwnedByAnother
 */
export function planZone(
  seen: Seen,
  zone: ZoneSeen,
  addresses: readonly string[] | undefined,
): Part {
  const { look, id } = zone;
  if (look.state === "failed") return failed(seen, look.failure, failures(zone.role).zone);
  if (look.state === "changing")
    return rest(whileChanging(seen), { waitMs: look.retryAfterMs, status: published(zone) });
  if (look.state === "absent") {
    if (zone.managed) return makeZone(seen, zone);
    const said = `the zone ${id} does not exist · it was named by annotation · make it, or correct ${annotations.internalZone} and ${annotations.baseZone}`;
    return rest(isFalse(reasons.zoneMissing, said));
  }
  if (zone.managed) {
    const claiming = claim(seen, zone, look.resource);
    if (claiming !== undefined) return claiming;
  }
  const parts = [planLinks(seen, zone), planRecords(seen, zone, addresses)];
  return { ...joined(parts), status: published(zone) };
}

function makeZone(seen: Seen, zone: ZoneSeen): Part {
  const name = nameOf(zone.id);
  const step: EndpointStep = {
    on: "zone",
    do: "make zone",
    id: zone.id,
    body: {
      location: "global",
      tags: withClaim(sharedTags(seen, "private-dns-zone"), claimant(seen)),
      properties: {},
    },
    ifNoneMatch: "*",
    why: `the private DNS zone ${name} does not exist`,
    event: "CreatingPrivateDNSZone",
    condition,
    failsAs: failures(zone.role).zone,
  };
  return { steps: [step], verdict: namesPending(seen), status: published(zone) };
}

/** The step that claims a zone, or why it cannot be used; undefined where it is claimed already. */
function claim(seen: Seen, zone: ZoneSeen, found: PrivateDnsZone): Part | undefined {
  const { tags = {}, etag } = found;
  if (ourClaim(tags, seen.us) !== undefined) return undefined;
  const name = nameOf(zone.id);
  const remedy = `to use it as it is, name it on the HostedCluster: ${annotations.zones}: existing`;
  const others = otherClaims(tags, seen.us);
  const takenOver =
    (isPublished(seen, zone) && isHyperShifts(tags, "private-dns-zone")) ||
    hasLostClaim(seen, zone) ||
    (lastUserIn(tags) !== undefined && isOwnPlace(seen, zone));
  if (others.length === 0 && !takenOver)
    return rest(
      isFalse(
        reasons.ownedByAnother,
        `the private DNS zone ${name} is not used · it exists and nobody has tagged it as Postern's · ${remedy}`,
      ),
    );
  // A claim of our own cluster is that of an earlier control plane, which left without taking it off.
  const other = others.find(({ clusterID }) => !sameId(clusterID, seen.us.clusterID ?? ""));
  if (zone.role === "internal" && other !== undefined)
    return rest(
      isFalse(
        reasons.ownedByAnother,
        `the private DNS zone ${name} is not used · it belongs to another cluster, which has the same name · use another name or another resource group`,
      ),
    );
  if (claimsIn(tags).length >= mostClaims)
    return rest(
      isFalse(
        reasons.zoneFull,
        `the private DNS zone ${name} is not used · ${mostClaims} clusters use it and Azure has no room for more tags · ${remedy}`,
      ),
    );
  const step: EndpointStep = {
    on: "zone",
    do: "claim zone",
    id: zone.id,
    body: { location: "global", tags: withClaim(tags, claimant(seen)), properties: {} },
    ifMatch: etag,
    why: `the private DNS zone ${name} is to be used by this cluster too`,
    event: "SharingPrivateDNSZone",
    condition,
    failsAs: failures(zone.role).zone,
  };
  return { steps: [step], verdict: whileChanging(seen), status: published(zone) };
}
