import { claimsIn } from "@postern/core/claims.ts";
import {
  type Owner,
  ownedTags,
  ownerIn,
  ownerTag,
  resourceTypeTag,
} from "@postern/core/ownership.ts";
import { type Tags, tagOf, withTags } from "@postern/core/tags.ts";
import type { ZoneUser } from "../../../private-dns/user.ts";
import type { Observed, Us } from "../observed.ts";

/** What our tags and metadata say, and how they are read. An object's uid is enough: there is no second one. */

/** Whether a resource or a record belongs to this very object. */
export function isOwned(tags: Tags | undefined | null, us: Us): boolean {
  const owner = ownerIn(tags);
  return owner?.uid === us.uid && (us.clusterID === undefined || owner.clusterID === us.clusterID);
}

/** Our cluster's claim on a zone or a link, if it has one. */
export function ourClaim(tags: Tags | undefined | null, us: Us): Owner | undefined {
  return claimsIn(tags).find(
    ({ clusterID, uid }) =>
      uid === us.controlPlaneUid &&
      (us.clusterID === undefined || clusterID.toLowerCase() === us.clusterID.toLowerCase()),
  );
}

/** The owner in the metadata of a record of ours, and in the tags of our endpoint. */
export function owner({ us }: Pick<Observed, "us">): Owner {
  return { clusterID: us.clusterID ?? "", uid: us.uid };
}

/** The claim that our cluster makes. */
function claimant({ us }: Pick<Observed, "us">): Owner {
  return { clusterID: us.clusterID ?? "", uid: us.controlPlaneUid ?? "" };
}

/** Our cluster as a user of zones and links. */
export function userOf(seen: Pick<Observed, "us">): ZoneUser {
  return { claim: claimant(seen), claimIn: (tags) => ourClaim(tags, seen.us) };
}

/** HyperShift's tags on something that we make and that others may use too. */
export function sharedTags(seen: Pick<Observed, "us" | "cluster">, resourceType: string): Tags {
  const all = ownedTags(seen.cluster?.hostedCluster ?? "", resourceType, owner(seen));
  return Object.fromEntries(Object.entries(all).filter(([name]) => name !== ownerTag));
}

/** The metadata of a record with our owner in it; the same object where it is there already. */
export function ownedMetadata(metadata: Tags | undefined, seen: Pick<Observed, "us">): Tags {
  const { clusterID, uid } = owner(seen);
  return withTags(metadata ?? {}, { [ownerTag]: `${clusterID}/${uid}` });
}

/** Whether HyperShift made it: it then has its type in a tag, and no owner. */
export function isHyperShifts(tags: Tags | undefined | null, resourceType: string): boolean {
  return tagOf(tags, resourceTypeTag) === resourceType && isUnmarked(tags);
}

/** Whether nothing says whose it is: Postern did not create it, or somebody has replaced its tags. */
export function isUnmarked(tags: Tags | undefined | null): boolean {
  return tagOf(tags, ownerTag) === undefined && claimsIn(tags).length === 0;
}
