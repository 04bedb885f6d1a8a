import { type Owner, parseOwner } from "./ownership.ts";
import { type Tags, tagOf, withTags } from "./tags.ts";

/** Begins the tag by which a cluster says that it uses a resource which others may use too. */
export const claimPrefix = "postern_user_";

/**
 * The tag of a shared resource that stayed when its last user left, because it held something of somebody else: who that user
 * was, as `<clusterID>/<uid>`. It proves to the next user that Postern managed the resource and that nobody uses it.
 */
export const leftTag = "postern_left_by";

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

/** The last user of a shared resource that nobody claims any more; undefined where it has a claim or never had one. */
export function lastUserIn(tags: Tags | undefined | null): Owner | undefined {
  return claimsIn(tags).length > 0 ? undefined : parseOwner(tagOf(tags, leftTag));
}

/** The tags with a cluster's claim among them; the same object where it is there already. */
export function withClaim(tags: Tags, { clusterID, uid }: Owner): Tags {
  return withTags(without(tags, leftTag), { [claimPrefix + clusterID]: uid });
}

/** The tags without a cluster's claim, and with a note of who left where it was the last; the same object where it has none. */
export function withoutClaim(tags: Tags, owner: Owner): Tags {
  const remaining = without(tags, claimPrefix + owner.clusterID);
  if (remaining === tags || claimsIn(remaining).length > 0) return remaining;
  return withTags(remaining, { [leftTag]: `${owner.clusterID}/${owner.uid}` });
}

function without(tags: Tags, tag: string): Tags {
  const remaining = Object.entries(tags).filter(
    ([name]) => name.toLowerCase() !== tag.toLowerCase(),
  );
  return remaining.length === Object.keys(tags).length ? tags : Object.fromEntries(remaining);
}
