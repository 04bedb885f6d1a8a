import type { VirtualNetworkLink } from "../../azure/gateways/private-dns.ts";
import { claimsIn, withClaim, withoutClaim } from "../../model/claims.ts";
import {
  childId,
  nameOf,
  type ResourceId,
  resourceGroupOf,
  sameId,
} from "../../model/resource-id.ts";
import { reasons } from "./reasons.ts";
import type { Seen, ZoneSeen } from "./seen.ts";
import { type DnsStep, doing, joined, nothing, type Part, waiting, wrong } from "./steps.ts";
import { isCapz, isClaimed, otherClaims } from "./whose.ts";

/** Azure takes no longer name. */
const longestName = 80;

/** A link that exists. */
export interface FoundLink {
  id: ResourceId;
  found: VirtualNetworkLink;
}

/** The names that our link may have: that of the operator before us, and one for when it leads to another network. */
export function linkIds(zone: ResourceId, network: ResourceId): ResourceId[] {
  const group = (resourceGroupOf(zone) ?? "").replaceAll(/[^-\w.]/g, "-");
  const names = [group, `${group}-${nameOf(network)}`].map((each) => {
    const end = "-vnet-link";
    return `${each.slice(0, longestName - end.length)}${end}`;
  });
  return [...new Set(names)].map((name) => childId(zone, "virtualNetworkLinks", name));
}

/** The links of a zone that exist. */
export function foundLinks({ links }: ZoneSeen): FoundLink[] {
  return links.flatMap(({ id, look }) =>
    look.state === "there" ? [{ id, found: look.resource }] : [],
  );
}

/**
 * What to do about the links of a zone:
 *
 *   link to the network              →
 *   with our claim                   good
 *   with another cluster's claim     good, and claimed, so that it stays when the other goes
 *   without any, by our name         good, and claimed: the operator before us made it, or somebody has replaced its tags
 *   without any, by another name     good, and somebody's
 *   none                             made under the first name that is free
 *
 * A link of ours to another network goes.
 */
export function planLinks(seen: Seen, zone: ZoneSeen, network: ResourceId): Part {
  const links = foundLinks(zone);
  const stale = links
    .filter(({ found }) => isClaimed(found.tags, seen) && !leadsTo(found, network))
    .map((link) => giveUpLink(seen, zone, link, "its network is not wanted any more"));
  return joined([planLink(seen, zone, network), doing(...stale)]);
}

/**
 * Whether a link without any claim is the one that we make for a network: it has the name, the place and the target, and no
 * other cluster uses the zone.
 */
export function hasLostClaim(
  seen: Seen,
  zone: ZoneSeen,
  { id, found }: FoundLink,
  network: ResourceId | undefined,
): boolean {
  if (network === undefined || claimsIn(found.tags).length > 0 || isCapz(found.tags)) return false;
  const zoneTags = zone.look.state === "there" ? zone.look.resource.tags : {};
  if (otherClaims(zoneTags, seen).length > 0) return false;
  return linkIds(zone.id, network).some((each) => sameId(each, id)) && leadsTo(found, network);
}

function planLink(seen: Seen, zone: ZoneSeen, network: ResourceId): Part {
  const [wantedId = zone.id, ...otherIds] = linkIds(zone.id, network);
  const serving = foundLinks(zone).filter(({ found }) => leadsTo(found, network));
  const best =
    serving.find(({ found }) => isClaimed(found.tags, seen)) ??
    serving.find(({ found }) => claimsIn(found.tags).length > 0) ??
    serving[0];
  if (best !== undefined) {
    const { tags } = best.found;
    const shared = otherClaims(tags, seen).length > 0;
    if (isClaimed(tags, seen) || !(shared || hasLostClaim(seen, zone, best, network)))
      return nothing;
    return doing(claimLink(seen, zone, best));
  }
  const candidates = [wantedId, ...otherIds];
  for (const { id, look } of zone.links) {
    if (!candidates.some((each) => sameId(each, id))) continue;
    if (look.state === "changing") return waiting(look.retryAfterMs);
    if (look.state === "failed") return refused(zone, network, look.failure);
  }
  const taken = zone.links.filter(({ look }) => look.state !== "absent");
  const id = candidates.find((each) => !taken.some((link) => sameId(link.id, each)));
  if (id === undefined)
    return wrong(
      reasons.ownedByAnother,
      `the zone ${nameOf(zone.id)} is not linked to ${nameOf(network)} · the names ${candidates.map(nameOf).join(" and ")} are taken by links to other networks · remove one of them`,
    );
  return doing({
    on: "link",
    do: "link network",
    role: zone.role,
    id,
    body: {
      location: "global",
      tags: withClaim({}, seen.us),
      properties: { virtualNetwork: { id: network }, registrationEnabled: false },
    },
    ifNoneMatch: "*",
    why: `the private zone ${nameOf(zone.id)} is not linked to the network ${nameOf(network)}`,
    event: "LinkingPrivateDNSZone",
  });
}

function refused(
  zone: ZoneSeen,
  network: ResourceId,
  failure: { reason: string; message: string; requeueAfterMs?: number; passing?: boolean },
): Part {
  const waitMs = failure.requeueAfterMs ?? 30_000;
  if (failure.passing) return waiting(waitMs);
  const message = `the zone ${nameOf(zone.id)} is not linked to ${nameOf(network)} · ${failure.message}`;
  return wrong(failure.reason, message, waitMs);
}

function claimLink(seen: Seen, zone: ZoneSeen, { id, found }: FoundLink): DnsStep {
  return {
    on: "link",
    do: "claim link",
    role: zone.role,
    id,
    body: bodyOf(found, withClaim(found.tags ?? {}, seen.us)),
    ifMatch: found.etag,
    why: `the link ${nameOf(id)} of ${nameOf(zone.id)} serves this cluster`,
  };
}

/** Take our claim off a link, or the link away with it where ours is the last. */
export function giveUpLink(
  seen: Seen,
  zone: ZoneSeen,
  { id, found }: FoundLink,
  why: string,
): DnsStep {
  const shared = { on: "link", role: zone.role, id, ifMatch: found.etag } as const;
  return otherClaims(found.tags, seen).length === 0
    ? { ...shared, do: "remove link", why: `the link ${nameOf(id)} goes: ${why}` }
    : {
        ...shared,
        do: "give up link",
        body: bodyOf(found, withoutClaim(found.tags ?? {}, seen.us)),
        why: `the link ${nameOf(id)} is left to its other users: ${why}`,
      };
}

function bodyOf(
  found: VirtualNetworkLink,
  tags: Readonly<Record<string, string>>,
): VirtualNetworkLink {
  const { provisioningState: _, virtualNetworkLinkState: __, ...properties } = found.properties;
  return { location: "global", tags, properties };
}

/** Whether a link leads to a network. */
export function leadsTo({ properties }: VirtualNetworkLink, network: ResourceId): boolean {
  return sameId(properties.virtualNetwork?.id ?? "", network);
}
