import { nameOf } from "@postern/core/resource-id.ts";
import type { Tags } from "@postern/core/tags.ts";
import { act, done, fail, type Part } from "../../kube/part.ts";
import { type FoundLink, foundLinks } from "../links/observed.ts";
import { releaseLink } from "../links/plan.ts";
import { type FoundRecord, foundRecords } from "../records/observed.ts";
import { deleteRecord, type RecordReport } from "../records/plan.ts";
import type { PrivateDnsStep, ZoneStep } from "../steps.ts";
import { otherClaims, withoutOwnClaim, type ZoneUser } from "../user.ts";
import type { ObservedZone, Zone } from "./observed.ts";

/** What of a zone is a user's when the user leaves it, and what is said of that. */
export interface ZoneDeletePolicy {
  user: ZoneUser;
  /** Whether the zone itself is the user's to give up or delete. */
  isClaimed: boolean;
  /** It was created for this user alone: it is deleted with everything in it. */
  isWhole?: boolean;
  /** Whether a zone that nobody claims any more was left to this user to delete. */
  isAbandoned: boolean;
  isOwnLink(link: FoundLink): boolean;
  /** Whether a record set is to be deleted. */
  isOwnRecord(record: FoundRecord): boolean;
  /** Whether a record set goes with the zone; what neither is the user's nor Azure's keeps the zone. */
  isDeletedWithZone(record: FoundRecord): boolean;
  /** The tags that a zone keeps, once the claim is removed. */
  remainingTags?(tags: Tags): Tags;
  why: string;
  report: Pick<RecordReport, "named">;
}

/** Soon: what is being deleted keeps an object from going. */
export const deletingMs = 5_000;

/**
 * Undo what a user has in a zone that exists: its record sets, its links, its claim. With the last claim the zone is deleted,
 * unless it holds something of somebody else: then it stays without our claim.
 */
export function deleteZone(
  zone: ObservedZone,
  { tags, etag: ifMatch }: Zone,
  policy: ZoneDeletePolicy,
): Part<PrivateDnsStep> {
  const { user, why, report, isClaimed } = policy;
  const { id } = zone;
  const isShared = otherClaims(tags, user).length > 0;
  const remove: ZoneStep = {
    on: "zone",
    verb: "delete",
    do: "delete DNS zone",
    name: nameOf(id),
    id,
    ifMatch,
    why,
    event: true,
  };
  if (policy.isWhole && isClaimed && !isShared) return act([remove]);
  const records = foundRecords(zone)
    .filter(policy.isOwnRecord)
    .map((record) => deleteRecord(record, report, why));
  const links = foundLinks(zone)
    .filter(policy.isOwnLink)
    .map((link) => releaseLink(zone, link, user, why));
  const isRetained = isShared || hasOtherContents(zone, policy);
  // The record sets of a zone that is deleted go with it; its links must go before.
  const steps = isRetained || !isClaimed ? [...records, ...links] : links;
  if (steps.length > 0) return act(steps);
  if (!isClaimed && (isRetained || !policy.isAbandoned)) return done;
  // A link that is still being deleted holds the zone, and would be lost sight of with our claim.
  const waits = waitsIn(zone);
  if (waits.length > 0) return { ...done, requeueMs: Math.min(...waits) };
  if (!isRetained) return act([remove]);
  const remaining = withoutOwnClaim(tags, user);
  const removeClaim: ZoneStep = {
    on: "zone",
    verb: "unclaim",
    do: "release DNS zone",
    name: nameOf(id),
    id,
    tags: policy.remainingTags?.(remaining) ?? remaining,
    ifMatch,
    why: `others use it, and ${why}`,
    event: true,
  };
  return act([removeClaim]);
}

/** When to look again at links that Azure is still writing or deleting. */
function waitsIn({ links }: ObservedZone): number[] {
  return links.flatMap(({ observation }) => {
    if (observation.state === "changing") return [observation.retryAfterMs];
    if (observation.state !== "failed") return [];
    return fail(observation.failure, undefined, deletingMs).requeueMs ?? [];
  });
}

/** Whether somebody else has put something into a zone: a record set, or a link of their own. */
function hasOtherContents(zone: ObservedZone, policy: ZoneDeletePolicy): boolean {
  const records = foundRecords(zone).some((record) => {
    const { type, name } = record.found;
    const isAzures = type === "SOA" || (type === "NS" && name === "@");
    return !isAzures && !policy.isDeletedWithZone(record);
  });
  return records || foundLinks(zone).some((link) => !policy.isOwnLink(link));
}
