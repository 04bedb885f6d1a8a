import { claimPrefix, mostClaims } from "@postern/core/claims.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import { act, done, join, type Part, report, retry, wait, waits } from "../../../kube/part.ts";
import { foundLinks, pointsTo } from "../../../private-dns/links/observed.ts";
import { healthOf, planLinks, releaseLink } from "../../../private-dns/links/plan.ts";
import { foundRecords, type RecordSet } from "../../../private-dns/records/observed.ts";
import type { LinkStep, PrivateDnsStep } from "../../../private-dns/steps.ts";
import { isClaimed, otherClaims } from "../../../private-dns/user.ts";
import type { Zone } from "../../../private-dns/zone/observed.ts";
import {
  type Adoption,
  planZone,
  type ZonePolicy,
  type ZoneReport,
} from "../../../private-dns/zone/plan.ts";
import type { Observed, ZoneInRole } from "../observed.ts";
import { reasons } from "../reasons.ts";
import type { DnsStep } from "../steps.ts";
import { desiredIn } from "./desired.ts";
import { linkPolicy } from "./links.ts";
import { isReleased, lacksOwner, proofOf } from "./origin.ts";
import { isOwned, isReleasedToUs, shownOwner, userOf, withOwner } from "./owner.ts";
import { isUnmarked, planNames } from "./records.ts";
import { failedResource, inRole, linkProblems, pending, zoneCalled } from "./report.ts";

/** What to do about a zone that is desired. */
export function planDesiredZone(observed: Observed, zone: ZoneInRole): Part<DnsStep> {
  const policy: ZonePolicy<PrivateDnsStep> = {
    user: userOf(observed),
    // A private zone may come to be shared, so it is nobody's alone.
    tags: zone.role === "public" ? withOwner({}, observed) : {},
    userTags: observed.infrastructure?.tags,
    restoredTags: ({ tags }) =>
      lacksOwner(observed, zone) ? withOwner(tags, observed) : undefined,
    adoptionOf: (found) => adoptionOf(observed, zone, found),
    planContents: (adopting) => planContents(observed, zone, adopting),
    report: zoneReport(zone),
  };
  const { usable: _, ...part } = planZone(zone, policy);
  return inRole(part, zone);
}

/** What is said of a zone. */
export function zoneReport(zone: ZoneInRole): ZoneReport {
  const called = zoneCalled(zone);
  return {
    creating: pending,
    changing: pending,
    claimed: "this cluster uses it",
    full: {
      reason: reasons.zoneFull,
      message: `${called} is not used · ${mostClaims} clusters of one resource group use it, and Azure has no room for more tags · use another resource group`,
    },
    fail: retry,
    failed: ({ provisioningState }, repairing) => {
      const problem = failedResource(called, provisioningState, repairing);
      return repairing ? report(problem) : wait(problem, waits.changeMs);
    },
  };
}

/**
 * Whether a zone that we do not claim may be used:
 *
 *   claims / marks              →
 *   others' claims              toManagement: claim it, then use it; else it is another cluster's of this name
 *   none, but a last user       claim it: Postern managed it, and what has no mark in it is somebody else's
 *   none, made by CAPZ          good if it answers in the network already; else OwnedByAnother
 *   none, but proof (origin.ts) that of the operator before us, or ours whose tags somebody replaced: its names and its link are
 *                               marked, then it is claimed
 *   none                        OwnedByAnother
 */
function adoptionOf(observed: Observed, zone: ZoneInRole, found: Zone): Adoption {
  const refuse = (why: string): Adoption => {
    const message = `${zoneCalled(zone)} is not used · ${why}`;
    return { is: "leave", part: report({ reason: reasons.ownedByAnother, message }) };
  };
  const [other] = otherClaims(found.tags, userOf(observed));
  if (other !== undefined && zone.role !== "toManagement")
    return refuse(
      `it belongs to ${shownOwner(other, observed)}, which has the same name · give one of them another name`,
    );
  if (other !== undefined || isReleased(observed, zone)) return { is: "claim" };
  if (!isReleasedToUs(found)) {
    const network = networkOf(observed, zone);
    const link = network && foundLinks(zone).find((each) => pointsTo(each.found, network));
    return link === undefined
      ? refuse(
          "it was created by Cluster API Provider Azure for another network · use another resource group",
        )
      : { is: "leave", part: healthOf(link, false, linkProblems) };
  }
  switch (proofOf(observed, zone)) {
    case "pending":
      return { is: "leave", part: wait(pending, waits.progressMs) };
    case "none":
      return refuse(
        `Postern did not create it · delete it, or tag it ${claimPrefix}${observed.us.clusterID}=${observed.us.uid} to hand it over`,
      );
    case "exists": {
      const { unknown } = desiredIn(observed, zone);
      const complete = !foundRecords(zone).some(({ found }) => isAwaited(found, unknown));
      return { is: "adopt", complete };
    }
  }
}

/** Whether a record set may be that of the operator before us, and it is not known yet what it should be. */
function isAwaited(found: RecordSet, unknown: (name: string) => boolean): boolean {
  const { type, name } = found;
  const isApi = ["A", "AAAA"].includes(type) && ["api", "apiserver"].includes(name);
  return isApi && isUnmarked(found) && unknown(name);
}

function planContents(
  observed: Observed,
  zone: ZoneInRole,
  adopting: boolean,
): Part<PrivateDnsStep> {
  const records = planNames(observed, zone, adopting);
  const network = networkOf(observed, zone);
  if (network === undefined) return records;
  const misleads = records.problems.some(({ reason }) => reason === reasons.zoneOfAnotherNetwork);
  const links = misleads
    ? planUnlink(observed, zone)
    : planLinks(zone, linkPolicy(observed, zone, network));
  return join<PrivateDnsStep>([links, records]);
}

/**
 * No answer is better than the address of something else: our network is taken off a zone that misleads it. With a name of
 * ours in it the other is misled as well; then both report it and neither changes its link: they would only take turns.
 */
function planUnlink(observed: Observed, zone: ZoneInRole): Part<LinkStep> {
  if (foundRecords(zone).some(({ found }) => isOwned(found.metadata, observed))) return done;
  const user = userOf(observed);
  const ownLinks = foundLinks(zone).filter(({ found }) => isClaimed(found.tags, user));
  const why = "the names in it lead into another network";
  return act(ownLinks.map((link) => releaseLink(zone, link, user, why)));
}

/** The network in which a private zone is to answer. */
export function networkOf({ networks }: Observed, { role }: ZoneInRole): ResourceId | undefined {
  return role === "toWorkload" || role === "toManagement" ? networks[role] : undefined;
}
