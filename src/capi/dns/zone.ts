import { claimPrefix, claimsIn, mostClaims, withClaim, withoutClaim } from "../../model/claims.ts";
import type { Owner } from "../../model/ownership.ts";
import { nameOf } from "../../model/resource-id.ts";
import { hasLostOwner, hasLostTags, isLeftToNext, proofOf } from "./origin.ts";
import { reasons } from "./reasons.ts";
import { foundRecords, isUnmarked, planRecords, removeRecords } from "./records.ts";
import type { Seen, ZoneFound, ZoneSeen } from "./seen.ts";
import { type DnsStep, doing, joined, nothing, type Part, waiting, wrong } from "./steps.ts";
import { wantedIn } from "./wanted.ts";
import {
  isClaimed,
  isLeftToUs,
  isOurs,
  otherClaims,
  shownOwner,
  withOwner,
  withoutOwner,
} from "./whose.ts";
import {
  type FoundLink,
  foundLinks,
  giveUpLink,
  hasLostClaim,
  leadsTo,
  planLinks,
} from "./zone-links.ts";

/** How soon to look again for the delegation that proves whose a zone is. */
const proofMs = 15_000;

/**
 * What to do about a zone that is wanted:
 *
 *   zone      claims / marks              →
 *   absent                                make it, with our claim
 *   there     our claim                   use it: links, names
 *   there     others' claims              toManagement: claim it, then use it; else it is another cluster's of this name
 *   there     none, but a last user       claim it: Postern managed it, and what has no mark in it is somebody else's
 *   there     none, made by CAPZ          good if it answers in the network already; else OwnedByAnother
 *   there     none, but proof (origin.ts) that of the operator before us, or ours whose tags somebody replaced: its names and
 *                                         its link are marked, then it is claimed
 *   there     none                        OwnedByAnother
 */
export function planZone(seen: Seen, zone: ZoneSeen): Part {
  const { look, id } = zone;
  if (zone.unread !== undefined) return unreadable(zone);
  if (look.state === "changing") return waiting(look.retryAfterMs);
  if (look.state === "failed")
    return wrong(look.failure.reason, look.failure.message, look.failure.requeueAfterMs ?? 30_000);
  if (look.state === "absent") return doing(makeZone(seen, zone));
  const { tags } = look.resource;
  if (hasLostOwner(seen, zone)) return doing(restoreZone(seen, zone, look.resource));
  if (isClaimed(tags, seen)) return insideOf(seen, zone, false);
  const [other] = otherClaims(tags, seen);
  if (other !== undefined) return joinZone(seen, zone, look.resource, other);
  if (isLeftToNext(seen, zone)) return doing(claimZone(seen, zone, look.resource));
  if (!isLeftToUs(look.resource)) {
    const network = networkOf(seen, zone);
    if (network && foundLinks(zone).some(({ found }) => leadsTo(found, network))) return nothing;
    return wrong(
      reasons.ownedByAnother,
      `the private zone ${nameOf(id)} is not used · it was made by Cluster API Provider Azure for another network · use another resource group`,
    );
  }
  const proof = proofOf(seen, zone);
  if (proof === "pending") return waiting(proofMs);
  if (proof === "none")
    return wrong(
      reasons.ownedByAnother,
      `the ${kindOf(zone.role)} zone ${nameOf(id)} is not used · Postern did not create it · delete it, or tag it ${claimPrefix}${seen.us.clusterID}=${seen.us.uid} to hand it over`,
    );
  const inside = insideOf(seen, zone, true);
  if (inside.steps.length > 0 || inside.waits.length > 0) return inside;
  // What will be ours in a moment must be marked before the zone is: afterwards it counts as somebody else's.
  const { unknown } = wantedIn(seen, zone);
  if (foundRecords(zone).some(({ found }) => isUnmarked(found) && awaits(found, unknown)))
    return inside;
  return joined([inside, doing(claimZone(seen, zone, look.resource))]);
}

/** Whether a record set may be that of the operator before us, and it is not known yet what it should be. */
function awaits(
  { type, name }: { type: string; name: string },
  unknown: (name: string) => boolean,
) {
  return ["A", "AAAA"].includes(type) && ["api", "apiserver"].includes(name) && unknown(name);
}

function insideOf(seen: Seen, zone: ZoneSeen, takingOver: boolean): Part {
  const records = planRecords(seen, zone, takingOver);
  const network = networkOf(seen, zone);
  if (network === undefined) return records;
  const misleads = records.problems.some(({ reason }) => reason === reasons.zoneOfAnotherNetwork);
  const links = misleads ? leaveLinks(seen, zone) : planLinks(seen, zone, network);
  return joined([links, records]);
}

/**
 * No answer is better than the address of something else: our network is taken off a zone that misleads it. With a name of
 * ours in it the other is misled as well; then both are told and neither moves, for they would only take turns.
 */
function leaveLinks(seen: Seen, zone: ZoneSeen): Part {
  if (foundRecords(zone).some(({ found }) => isOurs(found.metadata, seen))) return nothing;
  const ours = foundLinks(zone).filter(({ found }) => isClaimed(found.tags, seen));
  const why = "the names in it lead into another network";
  return doing(...ours.map((link) => giveUpLink(seen, zone, link, why)));
}

function networkOf({ networks }: Seen, { role }: ZoneSeen) {
  return role === "toWorkload" || role === "toManagement" ? networks[role] : undefined;
}

/** What a zone that cannot be read makes of the plan. */
export function unreadable({ unread }: ZoneSeen): Part {
  if (unread === undefined) return nothing;
  return wrong(unread.reason, unread.message, unread.requeueAfterMs ?? 30_000);
}

function makeZone(seen: Seen, { role, id }: ZoneSeen): DnsStep {
  return {
    on: "zone",
    do: "make zone",
    role,
    id,
    // A private zone may come to be shared, so it is nobody's alone.
    tags: withClaim(role === "public" ? withOwner({}, seen) : {}, seen.us),
    ifNoneMatch: "*",
    why: `the ${kindOf(role)} zone ${nameOf(id)} does not exist`,
    event: "CreatingDNSZone",
  };
}

function joinZone(seen: Seen, zone: ZoneSeen, { tags, etag }: ZoneFound, other: Owner): Part {
  const name = nameOf(zone.id);
  if (zone.role !== "toManagement")
    return wrong(
      reasons.ownedByAnother,
      `the ${kindOf(zone.role)} zone ${name} is not used · it is that of ${shownOwner(other, seen)}, which has the same name · give one of them another name`,
    );
  if (claimsIn(tags).length >= mostClaims)
    return wrong(
      reasons.zoneFull,
      `the private zone ${name} is not used · ${mostClaims} clusters of one resource group use it, and Azure has no room for more tags · use another resource group`,
    );
  return doing(claimZone(seen, zone, { tags, etag, nameServers: [] }));
}

function restoreZone(seen: Seen, zone: ZoneSeen, { tags, etag, nameServers }: ZoneFound): DnsStep {
  const marked = zone.role === "public" && hasLostOwner(seen, zone) ? withOwner(tags, seen) : tags;
  return claimZone(seen, zone, { tags: marked, etag, nameServers });
}

function claimZone(seen: Seen, { role, id }: ZoneSeen, { tags, etag }: ZoneFound): DnsStep {
  return {
    on: "zone",
    do: "claim zone",
    role,
    id,
    tags: withClaim(tags, seen.us),
    ifMatch: etag,
    why: `the ${kindOf(role)} zone ${nameOf(id)} is used by this cluster`,
  };
}

/**
 * Undo what a cluster has in a zone: its names, its link, its claim. With the last claim the zone goes. One that holds
 * something of somebody else's stays, without our claim; but the public zone that we made for the cluster goes with
 * everything in it: that was put there from inside the cluster.
 */
export function undoZone(seen: Seen, zone: ZoneSeen, why: string): Part {
  const { look, role, id } = zone;
  if (zone.unread !== undefined) return unreadable(zone);
  if (look.state === "changing") return waiting(look.retryAfterMs);
  if (look.state === "failed")
    return wrong(look.failure.reason, look.failure.message, look.failure.requeueAfterMs ?? 5_000);
  if (look.state === "absent") return nothing;
  const { tags, etag } = look.resource;
  if (hasLostTags(seen, zone)) return doing(restoreZone(seen, zone, look.resource));
  const claimed = isClaimed(tags, seen);
  const shared = { on: "zone", role, id, ifMatch: etag } as const;
  const remove: DnsStep = {
    ...shared,
    do: "remove zone",
    why: `the ${kindOf(role)} zone ${nameOf(id)} goes: ${why}`,
    event: "DeletingDNSZone",
  };
  const others = otherClaims(tags, seen).length > 0;
  const isOurLink = (link: FoundLink) =>
    isClaimed(link.found.tags, seen) ||
    (claimed && hasLostClaim(seen, zone, link, networkOf(seen, zone)));
  if (role === "public" && claimed && !others && isOurs(tags, seen)) return doing(remove);

  const names = foundRecords(zone)
    .filter(({ found }) => isOurs(found.metadata, seen))
    .map((each) => removeRecords(zone, each, why));
  const links = foundLinks(zone)
    .filter(isOurLink)
    .map((link) => giveUpLink(seen, zone, link, why));
  const stays = others || holdsOthers(seen, zone, isOurLink);
  if (stays || !claimed) {
    if (names.length + links.length > 0) return doing(...names, ...links);
  } else if (links.length > 0) return doing(...links);
  if (!claimed) return nothing;
  const waits = zone.links.flatMap((each) =>
    each.look.state === "changing"
      ? [each.look.retryAfterMs]
      : each.look.state === "failed"
        ? [each.look.failure.requeueAfterMs ?? 5_000]
        : [],
  );
  // A link that is still going holds the zone, and would be lost sight of with our claim.
  if (waits.length > 0) return waiting(...waits);
  if (!stays) return doing(remove);
  return doing({
    ...shared,
    do: "give up zone",
    tags: withoutOwner(withoutClaim(tags, seen.us), seen),
    why: `the ${kindOf(role)} zone ${nameOf(id)} is left to those who use it: ${why}`,
  });
}

/** Whether somebody else has put something into a zone: a record set, or a link of their own. */
function holdsOthers(seen: Seen, zone: ZoneSeen, isOurLink: (link: FoundLink) => boolean): boolean {
  const records = foundRecords(zone).some(({ found: { type, name, metadata } }) => {
    const azures = type === "SOA" || (type === "NS" && name === "@");
    return !azures && !isOurs(metadata, seen);
  });
  return records || foundLinks(zone).some((link) => !isOurLink(link));
}

function kindOf(role: ZoneSeen["role"]): "public" | "private" {
  return role === "public" || role === "base" ? "public" : "private";
}
