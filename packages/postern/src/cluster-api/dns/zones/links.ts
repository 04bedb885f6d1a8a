import { claimsIn } from "@postern/core/claims.ts";
import {
  childId,
  nameOf,
  type ResourceId,
  resourceGroupOf,
  sameId,
} from "@postern/core/resource-id.ts";
import { longestLinkName } from "../../../private-dns/links/desired.ts";
import { type FoundLink, pointsTo } from "../../../private-dns/links/observed.ts";
import type { LinkPolicy } from "../../../private-dns/links/plan.ts";
import { otherClaims } from "../../../private-dns/user.ts";
import { tagsOf } from "../../../private-dns/zone/observed.ts";
import type { Observed, ZoneInRole } from "../observed.ts";
import { reasons } from "../reasons.ts";
import { isCapz, userOf } from "./owner.ts";
import { linkProblems, pending, zoneCalled } from "./report.ts";

/** The names that our link may have: that of the operator before us, and one for when it leads to another network. */
export function linkIds(zone: ResourceId, network: ResourceId): ResourceId[] {
  const group = (resourceGroupOf(zone) ?? "").replaceAll(/[^-\w.]/g, "-");
  const names = [group, `${group}-${nameOf(network)}`].map((each) => {
    const end = "-vnet-link";
    return `${each.slice(0, longestLinkName - end.length)}${end}`;
  });
  return [...new Set(names)].map((name) => childId(zone, "virtualNetworkLinks", name));
}

/** The link of a private zone to the network in which it answers. */
export function linkPolicy(observed: Observed, zone: ZoneInRole, network: ResourceId): LinkPolicy {
  const notLinked = (to: ResourceId) =>
    `the zone ${nameOf(zone.id)} is not linked to ${nameOf(to)}`;
  return {
    user: userOf(observed),
    networks: [network],
    tags: {},
    userTags: observed.infrastructure?.tags,
    idsFor: (to) => linkIds(zone.id, to),
    isAdoptable: (link) => lacksClaim(observed, zone, link, network),
    isServed: false,
    report: {
      ...linkProblems,
      zone: zoneCalled(zone),
      creating: pending,
      changing: pending,
      updating: pending,
      serves: "serves this cluster",
      refused: (to, { reason, message }) => ({ reason, message: `${notLinked(to)} · ${message}` }),
      taken: (to, names) => ({
        reason: reasons.ownedByAnother,
        message: `${notLinked(to)} · the names ${names} are taken by links to other networks · remove one of them`,
      }),
    },
  };
}

/**
 * Whether a link without any claim is the one that we create for a network: the operator before us created it, or somebody has
 * replaced its tags. It has the name, the place and the target, and no other cluster uses the zone.
 */
export function lacksClaim(
  observed: Observed,
  zone: ZoneInRole,
  { id, found }: FoundLink,
  network: ResourceId | undefined,
): boolean {
  if (network === undefined || claimsIn(found.tags).length > 0 || isCapz(found.tags)) return false;
  if (otherClaims(tagsOf(zone), userOf(observed)).length > 0) return false;
  return linkIds(zone.id, network).some((each) => sameId(each, id)) && pointsTo(found, network);
}
