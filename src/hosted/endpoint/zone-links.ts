import type { VirtualNetworkLink } from "../../azure/gateways/private-dns.ts";
import { claimsIn, withClaim } from "../../model/claims.ts";
import { idKey, nameOf, type ResourceId } from "../../model/resource-id.ts";
import { annotations, conditions } from "../names.ts";
import { type FoundLink, foundLinks, wantedNetworks } from "./found.ts";
import { isLostLink } from "./lost-tags.ts";
import { failures, isPublished, joined, namesPending, whileChanging } from "./names-told.ts";
import { reasons } from "./reasons.ts";
import type { Seen, ZoneSeen } from "./seen.ts";
import { type EndpointStep, isFalse, type Part, rest } from "./steps.ts";
import { linkIds, longestLinkName } from "./wanted.ts";
import {
  claimant,
  isHyperShifts,
  otherClaims,
  ourClaim,
  sharedTags,
  withoutOurClaim,
} from "./whose.ts";

const condition = conditions.dns;

/**
 * What to do about the links of a zone, for each network:
 *
 *   link to it                     →
 *   with our claim                 good; written again where Azure failed to make it
 *   with another cluster's claim   good, and claimed, so that it stays when the other goes
 *   without any                    good, and somebody's; under one of our names, or HyperShift's in a zone that we
 *                                  published: claimed
 *   none                           made under the first name that is free; for the base domain only once the link
 *                                  service is there, because an empty zone hides the public names of its domain
 */
export function planLinks(seen: Seen, zone: ZoneSeen): Part {
  const networks = wantedNetworks(seen);
  const index = indexed(zone);
  const parts = networks.map((network) => planLink(seen, zone, index, network));
  const wanted = new Set(networks.map(idKey));
  const steps = foundLinks(zone)
    .filter(({ found }) => ourClaim(found.tags, seen.us) !== undefined)
    .filter(({ found }) => !wanted.has(networkKey(found)))
    .map((link) => giveUpLink(seen, link, "its network is not wanted any more"));
  return joined([...parts, { steps, verdict: undefined }]);
}

/** The links of a zone: a tenant chooses how many networks are looked for among how many links. */
interface LinkIndex {
  /** Those that exist, by the network. */
  serving: ReadonlyMap<string, readonly FoundLink[]>;
  looks: ReadonlyMap<string, ZoneSeen["links"][number]["look"]>;
}

function indexed(zone: ZoneSeen): LinkIndex {
  return {
    serving: Map.groupBy(foundLinks(zone), ({ found }) => networkKey(found)),
    looks: new Map(zone.links.map(({ id, look }) => [idKey(id), look])),
  };
}

function planLink(seen: Seen, zone: ZoneSeen, index: LinkIndex, network: ResourceId): Part {
  const candidates = linkIds(
    zone,
    seen.object.name,
    network,
    seen.object.spec.guestVNetID,
    seen.us.clusterID,
  );
  const serving = index.serving.get(idKey(network)) ?? [];
  const best =
    serving.find(({ found }) => ourClaim(found.tags, seen.us) !== undefined) ??
    serving.find(({ found }) => claimsIn(found.tags).length > 0) ??
    serving[0];
  if (best !== undefined) return keepLink(seen, zone, best);
  const looks = zone.links.map(({ look }) => look);
  const held = whileChanging(seen);
  const [changing] = looks.flatMap((look) =>
    look.state === "changing" ? [look.retryAfterMs] : [],
  );
  // It may be the one that has served us so far, just being changed by another.
  if (changing !== undefined && held.status === "True") return rest(held, { waitMs: changing });
  for (const id of candidates) {
    const look = index.looks.get(idKey(id));
    if (look?.state === "changing") return rest(held, { waitMs: look.retryAfterMs });
    if (look?.state === "failed") return refused(seen, zone, network, look.failure);
  }
  if (zone.role === "base" && seen.link.alias === undefined) return rest(namesPending(seen));
  const free = candidates.find(
    (each) => (index.looks.get(idKey(each))?.state ?? "absent") === "absent",
  );
  return makeLink(seen, zone, network, { free, candidates });
}

function refused(
  seen: Seen,
  zone: ZoneSeen,
  network: ResourceId,
  failure: { message: string; requeueAfterMs?: number; passing?: boolean },
): Part {
  const waitMs = failure.requeueAfterMs ?? 30_000;
  if (failure.passing) return rest(whileChanging(seen), { waitMs });
  const key = zone.role === "internal" ? annotations.internalZone : annotations.baseZone;
  const said = `${failure.message} · if the network ${nameOf(network)} is linked to another zone named ${nameOf(zone.id)}, let that one be used: ${annotations.zones}: existing and ${key}: <its id> on the HostedCluster`;
  return rest(isFalse(failures(zone.role).link, said), { waitMs });
}

function keepLink(seen: Seen, zone: ZoneSeen, { id, found }: FoundLink): Part {
  const { tags = {}, properties } = found;
  if (ourClaim(tags, seen.us) !== undefined && isFailed(found))
    return {
      steps: [
        {
          on: "link",
          do: "link network",
          id,
          body: linkBody(found, tags),
          ifMatch: found.etag,
          why: `the link ${nameOf(id)} of ${nameOf(zone.id)} did not come about and is written again`,
          condition,
          failsAs: failures(zone.role).link,
        },
      ],
      verdict: namesPending(seen),
    };
  const works = properties.virtualNetworkLinkState !== "InProgress";
  const verdict = works ? undefined : namesPending(seen);
  const waitMs = works ? undefined : 10_000;
  const takenOver =
    (zone.managed && isPublished(seen, zone) && isHyperShifts(tags, "vnet-link")) ||
    isLostLink(seen, zone, { id, found });
  const shared = otherClaims(tags, seen.us).length > 0;
  if (ourClaim(tags, seen.us) !== undefined || !(shared || takenOver))
    return rest(verdict, { waitMs });
  const step: EndpointStep = {
    on: "link",
    do: "claim link",
    id,
    body: linkBody(found, withClaim(tags, claimant(seen))),
    ifMatch: found.etag,
    why: `the link ${nameOf(id)} of ${nameOf(zone.id)} serves this cluster too`,
    condition,
    failsAs: failures(zone.role).link,
  };
  return { steps: [step], verdict, waitMs };
}

function makeLink(
  seen: Seen,
  zone: ZoneSeen,
  network: ResourceId,
  { free: id, candidates }: { free: ResourceId | undefined; candidates: readonly ResourceId[] },
): Part {
  if (id === undefined)
    return rest(
      isFalse(
        reasons.ownedByAnother,
        `the zone ${nameOf(zone.id)} cannot be linked to ${nameOf(network)} · the names ${candidates.map(nameOf).join(" and ")} are taken by links to other networks · remove one of them`,
      ),
    );
  if (nameOf(id).length > longestLinkName)
    return rest(
      isFalse(
        reasons.nameTooLong,
        `the zone ${nameOf(zone.id)} cannot be linked · the name ${nameOf(id)} is longer than the ${longestLinkName} characters that Azure takes · use a shorter name for the Service`,
      ),
    );
  const step: EndpointStep = {
    on: "link",
    do: "link network",
    id,
    body: {
      location: "global",
      tags: withClaim(sharedTags(seen, "vnet-link"), claimant(seen)),
      properties: { virtualNetwork: { id: network }, registrationEnabled: false },
    },
    ifNoneMatch: "*",
    why: `the private DNS zone ${nameOf(zone.id)} is not linked to the network ${nameOf(network)}`,
    event: "LinkingPrivateDNSZone",
    condition,
    failsAs: failures(zone.role).link,
  };
  return { steps: [step], verdict: namesPending(seen) };
}

/** Take our claim off a link, or the link away with it where ours is the last. */
export function giveUpLink(seen: Seen, { id, found }: FoundLink, why: string): EndpointStep {
  const shared = { on: "link", id, ifMatch: found.etag, condition } as const;
  return otherClaims(found.tags, seen.us).length === 0
    ? { ...shared, do: "remove link", why: `the link ${nameOf(id)} goes: ${why}` }
    : {
        ...shared,
        do: "give up link",
        body: linkBody(found, withoutOurClaim(found.tags ?? {}, seen.us)),
        why: `the link ${nameOf(id)} is left to its other users: ${why}`,
      };
}

function linkBody(found: VirtualNetworkLink, tags: Record<string, string>): VirtualNetworkLink {
  const { provisioningState: _, virtualNetworkLinkState: __, ...properties } = found.properties;
  return { location: "global", tags, properties };
}

/** Azure keeps a link that it could not make, and leaves it so. */
function isFailed({ properties }: VirtualNetworkLink): boolean {
  return /^(failed|canceled)$/i.test(properties.provisioningState ?? "");
}

function networkKey({ properties }: VirtualNetworkLink): string {
  return idKey(properties.virtualNetwork?.id ?? "");
}
