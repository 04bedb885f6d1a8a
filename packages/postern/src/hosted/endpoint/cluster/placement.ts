import { isBelow, plainName, sameName } from "@postern/core/dns-name.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import { idKey, lastSegment } from "@postern/core/resource-id.ts";
import { privateZoneIn } from "../../../private-dns/zone/observed.ts";

/** A link of any cluster, as far as it decides where a shared zone is and which name an endpoint has. */
export interface Peer {
  uid: string;
  /** When it was created, as Kubernetes writes it. */
  createdAt: string;
  controlPlaneUid: string | undefined;
  /** Who is behind it, as far as that is verified. */
  tenant: string | undefined;
  /** Where its endpoint and zones are created. */
  group: ResourceId;
  network: string;
  baseDomain: string | undefined;
  /** Not being deleted, and its zones are managed by Postern. */
  placesZones: boolean;
  lives: boolean;
  baseZone: ResourceId | undefined;
  endpoint: string | undefined;
}

/** The older one decides; of two of the same second, the one with the lower uid. */
export function isOlder(
  a: Pick<Peer, "createdAt" | "uid">,
  b: Pick<Peer, "createdAt" | "uid">,
): boolean {
  return a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.uid < b.uid);
}

/**
 * Whether what a peer says counts: only if it is a link of the same control plane, or verified and of the same tenant. What
 * anybody else writes down must not move our zone or our names.
 */
function counts(peer: Peer, me: Peer): boolean {
  const isSibling =
    peer.controlPlaneUid !== undefined && peer.controlPlaneUid === me.controlPlaneUid;
  return isSibling || (peer.tenant !== undefined && peer.tenant === me.tenant);
}

/**
 * Where the zone of a base domain lies. A network resolves a domain by one zone only, so all clusters of a tenant in one
 * network with the same base domain use the same zone, in whatever group it is:
 *
 *   ours is published                        there
 *   another's is published                   there; of several, the oldest one's
 *   none is published                        in the group of the oldest
 */
export function baseZonePlace(me: Peer, peers: readonly Peer[]): ResourceId | undefined {
  const { baseDomain } = me;
  if (baseDomain === undefined) return undefined;
  // The zone of a single hostname is no zone of the domain.
  const zoneOf = ({ baseZone }: Peer) =>
    baseZone !== undefined && isBelow(lastSegment(baseZone), baseDomain) ? undefined : baseZone;
  const own = zoneOf(me);
  if (own !== undefined) return own;
  const sharing = peers
    .filter(
      (peer) =>
        peer.uid !== me.uid &&
        counts(peer, me) &&
        peer.placesZones &&
        peer.baseDomain !== undefined &&
        sameName(peer.baseDomain, baseDomain) &&
        idKey(peer.network) === idKey(me.network),
    )
    .concat(me)
    .sort((a, b) => (isOlder(a, b) ? -1 : 1));
  const published = sharing.map(zoneOf).find((zone) => zone !== undefined);
  return published ?? privateZoneIn((sharing[0] ?? me).group, plainName(baseDomain));
}

/**
 * Whether another cluster's link has, or is first to get, the name that an endpoint would have by itself. The peers are
 * those of the same name in the same group.
 */
export function isNameReserved(me: Peer, shipped: ResourceId, peers: readonly Peer[]): boolean {
  const desired = idKey(shipped);
  // In this order, because a group may hold a thousand and the first questions are the cheap ones.
  return peers.some((peer) => {
    if (peer.uid === me.uid) return false;
    if (peer.endpoint === undefined ? !isOlder(peer, me) : idKey(peer.endpoint) !== desired)
      return false;
    return counts(peer, me) && peer.lives && peer.controlPlaneUid !== me.controlPlaneUid;
  });
}
