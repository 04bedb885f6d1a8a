import { claimsIn, withoutClaim } from "@postern/core/claims.ts";
import { isSameCluster, type Owner } from "@postern/core/ownership.ts";
import type { Tags } from "@postern/core/tags.ts";

/** Who uses zones and links that others may use too, and how its claim on them is known. */
export interface ZoneUser {
  /** The claim that it writes. */
  claim: Owner;
  /** Its claim among the tags of a zone or a link. */
  claimIn(tags: Tags | undefined | null): Owner | undefined;
}

/** Whether a user claims a zone or a link. */
export function isClaimed(tags: Tags | undefined | null, user: ZoneUser): boolean {
  return user.claimIn(tags) !== undefined;
}

/** The claims of others on a zone or a link. */
export function otherClaims(tags: Tags | undefined | null, user: ZoneUser): Owner[] {
  const own = user.claimIn(tags);
  return claimsIn(tags).filter((claim) => !isSameCluster(own, claim));
}

/** Whether a user claims a zone or a link, and nobody else does. */
export function isOnlyUser(tags: Tags | undefined | null, user: ZoneUser): boolean {
  return isClaimed(tags, user) && otherClaims(tags, user).length === 0;
}

/** The tags without a user's claim. */
export function withoutOwnClaim(tags: Tags, user: ZoneUser): Tags {
  const own = user.claimIn(tags);
  return own === undefined ? tags : withoutClaim(tags, own);
}
