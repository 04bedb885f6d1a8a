import { lastUserIn } from "@postern/core/claims.ts";
import { sameName } from "@postern/core/dns-name.ts";
import type { Failure } from "@postern/core/failure.ts";
import { isSameCluster, ownerIn } from "@postern/core/ownership.ts";
import { nameOf, sameId } from "@postern/core/resource-id.ts";
import type { Observation } from "../../../azure/gateway.ts";
import { done, fail, join, type Part } from "../../../kube/part.ts";
import type { FoundLink } from "../../../private-dns/links/observed.ts";
import { type FoundRecord, foundRecords } from "../../../private-dns/records/observed.ts";
import { deleteRecord } from "../../../private-dns/records/plan.ts";
import { tagsOf } from "../../../private-dns/zone/observed.ts";
import { deleteZone, deletingMs } from "../../../private-dns/zone/plan-delete.ts";
import { privateRouter } from "../../names.ts";
import { hostZoneIds, nameInZone } from "../desired/desired.ts";
import type { Observed, ZoneInRole } from "../observed.ts";
import { isOwned, ownClaim, userOf } from "../ownership/owner.ts";
import { reasons } from "../reasons.ts";
import type { EndpointStep } from "../steps.ts";
import { isOwnPlace, isUntaggedLink, isUntaggedRecord, lacksClaim } from "./missing-tags.ts";
import { nameCalled } from "./records.ts";
import { reportedSteps } from "./report.ts";

/** Delete what this object, or with its last link the cluster, has in a zone. */
export function planDeleteZone(
  observed: Observed,
  zone: ZoneInRole,
  why: string,
): Part<EndpointStep> {
  const { observation, unread } = zone;
  const unfinished = join([
    planUnfinished([zone, ...zone.links]),
    unread === undefined ? done : planStuck(unread.failure, deletingMs),
  ]);
  if (observation.state !== "exists" || unread !== undefined) return unfinished;
  if (isNeeded(observed, zone)) {
    const names = foundRecords(zone)
      .filter((record) => isToGo(observed, zone, record))
      .map((record) => deleteRecord(record, { named: nameCalled }, why));
    return { ...unfinished, steps: reportedSteps(names, zone) };
  }
  const { tags } = observation.resource;
  const isOwnLink = (link: FoundLink) =>
    ownClaim(link.found.tags, observed.self) !== undefined || isUntaggedLink(observed, zone, link);
  const cluster = ownClaim(tags, observed.self) ?? observed.self;
  const part = deleteZone(zone, observation.resource, {
    user: userOf(observed),
    isClaimed:
      zone.managed && (ownClaim(tags, observed.self) !== undefined || lacksClaim(observed, zone)),
    isAbandoned: isAbandoned(observed, zone),
    isOwnLink,
    isOwnRecord: (record) => isClusters(observed, zone, record),
    isDeletedWithZone: (record) =>
      isUntaggedRecord(observed, zone, record) ||
      isSameCluster(ownerIn(record.found.metadata), cluster),
    why,
    report: {
      named: nameCalled,
    },
  });
  return join([{ ...part, steps: reportedSteps(part.steps, zone) }, unfinished]);
}

/** A zone that is not desired any more although the object exists. */
export function planGiveUpZone(observed: Observed, zone: ZoneInRole): Part<EndpointStep> {
  const part = planDeleteZone(observed, zone, "it is not wanted any more");
  const { steps, problems, requeueMs } = part;
  const [problem] = problems;
  if (steps.length === 0 && requeueMs === undefined && problem === undefined) return part;
  const name = nameOf(zone.id);
  const message =
    problem === undefined
      ? `the zone ${name} is given up first`
      : `the zone ${name} cannot be released · ${problem.message}`;
  return { ...part, problems: [{ reason: reasons.zoneGivenUp, message }] };
}

/** What Azure has not finished, or has failed to do. */
export function planUnfinished(all: readonly { observation: Observation<unknown> }[]): Part<never> {
  return join(
    all.map(({ observation }) => {
      if (observation.state === "changing") return { ...done, requeueMs: observation.retryAfterMs };
      return observation.state === "failed" ? planStuck(observation.failure, deletingMs) : done;
    }),
  );
}

/** What blocks a deletion; what passes by itself is not reported. */
export function planStuck(failure: Failure, retryMs?: number): Part<never> {
  const part = fail(failure, reasons.cleanupFailed, retryMs);
  return failure.passing ? { ...part, problems: [] } : part;
}

/**
 * Whether an owned zone was not deleted because it had content when its last user left, and is empty now. Two clusters that
 * leave a zone at the same time may each take what the other has in it for somebody's.
 */
function isAbandoned(observed: Observed, zone: ZoneInRole): boolean {
  if (!zone.managed || !isOwnPlace(observed, zone)) return false;
  if (lastUserIn(tagsOf(zone)) === undefined) return false;
  const hasLinks = zone.links.some(({ observation }) => observation.state !== "absent");
  return !hasLinks && foundRecords(zone).every(({ found }) => found.type === "SOA");
}

/** Whether another link of the cluster still uses the zone. The internal one is the router's alone, and so is that of the API server. */
function isNeeded(observed: Observed, zone: ZoneInRole): boolean {
  if (zone.role === "internal") return false;
  // A zone that is not desired while the object exists is desired by no link of the cluster.
  if (observed.deletion === undefined) return false;
  const isApi = zone.role === "host" && sameId(hostZoneIds(observed)[0] ?? "", zone.id);
  return observed.siblings.some(
    ({ name, uses, baseDomain, baseZone = "" }) =>
      uses &&
      (!isApi || name === privateRouter) &&
      (sameName(baseDomain, observed.object.spec.baseDomain) || sameId(baseZone, zone.id)),
  );
}

/** Whether a record is deleted with this object: one that the router's link takes back is not, and is never missing. */
function isToGo(observed: Observed, zone: ZoneInRole, record: FoundRecord): boolean {
  const { id, found } = record;
  if (!isOwned(found.metadata, observed.self) && !isUntaggedRecord(observed, zone, record))
    return false;
  const { cluster, object, siblings } = observed;
  const isRouterUsed = siblings.some(({ name, uses }) => name === privateRouter && uses);
  if (observed.deletion === undefined || !cluster || !isRouterUsed) return true;
  const back = nameInZone(`oauth-${cluster.name}.${object.spec.baseDomain ?? ""}`, zone.id);
  return nameOf(id).toLowerCase() !== back;
}

/** Whether a name is our cluster's, and of no link that lives. */
function isClusters(observed: Observed, zone: ZoneInRole, record: FoundRecord): boolean {
  const { self, siblings } = observed;
  const { metadata } = record.found;
  const owner = ownerIn(metadata);
  if (isOwned(metadata, self) || isUntaggedRecord(observed, zone, record)) return true;
  if (owner === undefined || !isSameCluster(owner, self)) return false;
  return !siblings.some(({ uid, lives }) => lives && uid === owner.uid);
}
