import { claimsIn } from "@postern/core/claims.ts";
import { isSameCluster, type Owner, ownerIn, ownerKey, ownerTag } from "@postern/core/ownership.ts";
import type { Tags } from "@postern/core/tags.ts";
import type { ZoneUser } from "../../../private-dns/user.ts";
import type { Zone } from "../../../private-dns/zone/observed.ts";
import { capzTagPrefix } from "../../names.ts";
import type { Observed } from "../observed.ts";

/**
 * Who we are in Azure. A cluster is known by its place, so that one which was moved or restored, and has another uid
 * since, finds its own.
 */
export function ownerFor(
  management: string,
  cluster: { namespace: string; name: string; uid: string },
): Owner {
  const { namespace, name, uid } = cluster;
  return { clusterID: `${management}.${namespace}.${name}`.toLowerCase(), uid };
}

/** Whether tags or metadata say that something is ours alone. */
export function isOwned(tags: Tags | undefined, { us }: Pick<Observed, "us">): boolean {
  return isSameCluster(ownerIn(tags), us);
}

/** An owner in words for whoever reads our conditions: a cluster of another namespace is not named there. */
export function shownOwner(
  owner: Owner,
  { us, cluster }: Pick<Observed, "us" | "cluster">,
): string {
  const own = us.clusterID.slice(0, -cluster.name.length);
  const isNear = owner.clusterID.toLowerCase().startsWith(own);
  return isNear ? `cluster ${owner.clusterID.slice(own.length)}` : "a cluster in another namespace";
}

/** Tags or metadata with our mark among them. */
export function withOwner(tags: Tags, { us }: Pick<Observed, "us">): Record<string, string> {
  return { ...tags, [ownerTag]: ownerKey(us.clusterID, us.uid) };
}

/** Tags without our mark. */
export function withoutOwner(tags: Tags, observed: Pick<Observed, "us">): Tags {
  if (!isOwned(tags, observed)) return tags;
  return Object.fromEntries(
    Object.entries(tags).filter(([name]) => name.toLowerCase() !== ownerTag),
  );
}

/** The cluster as a user of zones and links: its claim is known by its place, whatever uid it had. */
export function userOf({ us }: Pick<Observed, "us">): ZoneUser {
  return {
    claim: us,
    claimIn: (tags) => (claimsIn(tags).some((claim) => isSameCluster(claim, us)) ? us : undefined),
  };
}

/** Whether CAPZ created it. */
export function isCapz(tags: Tags | undefined): boolean {
  return Object.keys(tags ?? {}).some((name) => name.toLowerCase().startsWith(capzTagPrefix));
}

/**
 * Whether a zone can only be that of the operator before us, which marked nothing: it has the name and the place that ours
 * must have, and nobody's mark.
 */
export function isReleasedToUs({ tags }: Zone): boolean {
  return claimsIn(tags).length === 0 && !isCapz(tags);
}
