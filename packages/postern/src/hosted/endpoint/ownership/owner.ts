import { claimsIn } from "@postern/core/claims.ts";
import {
  isSameCluster,
  type Owner,
  ownedTags,
  ownerIn,
  ownerTag,
  resourceTypeTag,
} from "@postern/core/ownership.ts";
import { type Tags, tagOf, withTags } from "@postern/core/tags.ts";
import type { ZoneUser } from "../../../private-dns/user.ts";
import type { Observed, Self } from "../observed.ts";

/** What our tags and metadata say, and how they are read. An object's uid is enough: there is no second one. */

/** Whether a resource or a record belongs to this very object. */
export function isOwned(tags: Tags | undefined | null, self: Self): boolean {
  const owner = ownerIn(tags);
  return owner?.uid === self.uid && mayBeOfCluster(owner, self);
}

/** Whether an owner is of our cluster, or may be, because ours is not known. */
export function mayBeOfCluster(owner: Owner, self: Self): boolean {
  return self.clusterID === undefined || isSameCluster(owner, self);
}

/** Our cluster's claim on a zone or a link, if it has one. */
export function ownClaim(tags: Tags | undefined | null, self: Self): Owner | undefined {
  return claimsIn(tags).find(
    (claim) => claim.uid === self.controlPlaneUid && mayBeOfCluster(claim, self),
  );
}

/** The owner in the metadata of our records, and in the tags of our endpoint. */
export function owner({ self }: Pick<Observed, "self">): Owner {
  return { clusterID: self.clusterID ?? "", uid: self.uid };
}

/** The claim that our cluster makes. */
function claimant({ self }: Pick<Observed, "self">): Owner {
  return { clusterID: self.clusterID ?? "", uid: self.controlPlaneUid ?? "" };
}

/** Our cluster as a user of zones and links. */
export function userOf(observed: Pick<Observed, "self">): ZoneUser {
  return { claim: claimant(observed), claimIn: (tags) => ownClaim(tags, observed.self) };
}

/** HyperShift's tags on something that we create and that others may use too. */
export function sharedTags(
  observed: Pick<Observed, "self" | "cluster">,
  resourceType: string,
): Tags {
  const all = ownedTags(observed.cluster?.hostedCluster ?? "", resourceType, owner(observed));
  return Object.fromEntries(Object.entries(all).filter(([name]) => name !== ownerTag));
}

/** The metadata of a record with our owner in it; the same object where it has it already. */
export function ownedMetadata(metadata: Tags | undefined, observed: Pick<Observed, "self">): Tags {
  const { clusterID, uid } = owner(observed);
  return withTags(metadata ?? {}, { [ownerTag]: `${clusterID}/${uid}` });
}

/** Whether HyperShift created it: it then has its type in a tag, and no owner. */
export function isHyperShifts(tags: Tags | undefined | null, resourceType: string): boolean {
  return tagOf(tags, resourceTypeTag) === resourceType && isUnmarked(tags);
}

/** Whether nothing names an owner: Postern did not create it, or somebody has replaced its tags. */
export function isUnmarked(tags: Tags | undefined | null): boolean {
  return tagOf(tags, ownerTag) === undefined && claimsIn(tags).length === 0;
}
