import { nameOf } from "@postern/core/resource-id.ts";
import { act, done, join, type Part, report, retry, wait } from "../../../kube/part.ts";
import type { FoundLink } from "../../../private-dns/links/observed.ts";
import type { FoundRecord } from "../../../private-dns/records/observed.ts";
import { isClaimed } from "../../../private-dns/user.ts";
import { isPublicZone } from "../../../private-dns/zone/observed.ts";
import { claimZone } from "../../../private-dns/zone/plan.ts";
import { deleteZone, deletingMs } from "../../../private-dns/zone/plan-delete.ts";
import type { Observed, ZoneInRole } from "../observed.ts";
import type { DnsStep } from "../steps.ts";
import { lacksClaim } from "./links.ts";
import { isReleased, lacksOwner, lacksTags } from "./origin.ts";
import { isOwned, userOf, withOwner, withoutOwner } from "./owner.ts";
import { lacksOriginTag, nameCalled } from "./records.ts";
import { inRole, pending } from "./report.ts";
import { networkOf, zoneReport } from "./zone.ts";

/**
 * Delete what a cluster has in a zone: its names, its link, its claim. With the last claim the zone is deleted. One that holds
 * something of somebody else's stays, without our claim; but the public zone that we created for the cluster is deleted with
 * everything in it: that was put there from inside the cluster.
 */
export function planDeleteZone(observed: Observed, zone: ZoneInRole, why: string): Part<DnsStep> {
  const { observation, role, id } = zone;
  if (zone.unread !== undefined) return retry(zone.unread.failure);
  if (observation.state === "changing") return wait(pending, observation.retryAfterMs);
  if (observation.state === "failed") return retry(observation.failure, { retryMs: deletingMs });
  if (observation.state === "absent") return done;
  const { tags, etag } = observation.resource;
  const user = userOf(observed);
  if (lacksTags(observed, zone)) {
    const restored = lacksOwner(observed, zone) ? withOwner(tags, observed) : tags;
    const claim = claimZone(zone, { tags: restored, etag }, { user, report: zoneReport(zone) });
    return inRole(act([claim], pending), zone);
  }
  const claimed = isClaimed(tags, user);
  const isOwnLink = (link: FoundLink) =>
    isClaimed(link.found.tags, user) ||
    (claimed && lacksClaim(observed, zone, link, networkOf(observed, zone)));
  const isOwnRecord = ({ found }: FoundRecord) =>
    isOwned(found.metadata, observed) || lacksOriginTag(observed, zone, found);
  const part = deleteZone(zone, observation.resource, {
    user,
    isClaimed: claimed,
    isWhole: role === "public" && isOwned(tags, observed),
    isAbandoned: !isPublicZone(id) && isReleased(observed, zone),
    isOwnLink,
    isOwnRecord,
    isDeletedWithZone: isOwnRecord,
    remainingTags: (remaining) => withoutOwner(remaining, observed),
    why,
    report: {
      named: (record) => nameCalled(record, nameOf(id)),
    },
  });
  const isBusy = part.steps.length > 0 || part.requeueMs !== undefined;
  return inRole(isBusy ? join([part, report(pending)]) : part, zone);
}
