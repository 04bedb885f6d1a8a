import type { Owner } from "./ownership.ts";
import { type Tags, tagOf, withTags } from "./tags.ts";

/** Begins the tag by which a cluster says that it uses a resource which others may use too. */
export const claimPrefix = "postern_user_";

/** Azure takes 50 tags on a resource; the rest is for other people. */
export const mostClaims = 40;

/** The clusters that use a shared resource, by their tags. One without any is not ours to change or delete. */
export function claimsIn(tags: Tags | undefined | null): Owner[] {
  return Object.entries(tags ?? {})
    .filter(([name]) => name.toLowerCase().startsWith(claimPrefix))
    .map(([name, uid]) => ({ clusterID: name.slice(claimPrefix.length), uid }));
}

/** Whether a cluster has said that it uses the resource. */
export function isClaimedBy(tags: Tags | undefined | null, { clusterID, uid }: Owner): boolean {
  return tagOf(tags, claimPrefix + clusterID) === uid;
}

/** The tags with a cluster's claim among them; the same object where it is there already. */
export function withClaim(tags: Tags, { clusterID, uid }: Owner): Tags {
  return withTags(tags, { [claimPrefix + clusterID]: uid });
}

/** The tags without a cluster's claim; the same object where it has none. */
export function withoutClaim(tags: Tags, { clusterID }: Owner): Tags {
  const ours = (claimPrefix + clusterID).toLowerCase();
  const kept = Object.entries(tags).filter(([name]) => name.toLowerCase() !== ours);
  return kept.length === Object.keys(tags).length ? tags : Object.fromEntries(kept);
}
