import { lastUserIn } from "@postern/core/claims.ts";
import type { Failure } from "@postern/core/failure.ts";
import { ownerIn } from "@postern/core/ownership.ts";
import { nameOf, sameId } from "@postern/core/resource-id.ts";
import type { Look } from "../../../azure/gateway.ts";
import { done, join, type Part, wait, waits } from "../../../kube/part.ts";
import type { FoundLink } from "../../../private-dns/links/observed.ts";
import { type FoundRecord, foundRecords } from "../../../private-dns/records/observed.ts";
import { deleteRecord } from "../../../private-dns/records/plan.ts";
import { tagsOf } from "../../../private-dns/zone/observed.ts";
import { deleteZone, deletingMs } from "../../../private-dns/zone/plan-delete.ts";
import { privateRouter } from "../../names.ts";
import { nameInZone, sameName } from "../desired/desired.ts";
import type { Observed, ZoneInRole } from "../observed.ts";
import { isOwned, ourClaim, userOf } from "../ownership/owner.ts";
import { reasons } from "../reasons.ts";
import type { EndpointStep } from "../steps.ts";
import { hasLostClaim, isLostLink, isLostRecord, isOwnPlace } from "./missing-tags.ts";
import { nameCalled } from "./records.ts";
import { reportedSteps } from "./report.ts";
import { zoneCalled } from "./zone.ts";

/** Undo what this object, or with its last link the cluster, has in a zone. */
export function planDeleteZone(seen: Observed, zone: ZoneInRole, why: string): Part<EndpointStep> {
  const { look, unread } = zone;
  const unfinished = join([
    planUnfinished([zone, ...zone.links]),
    unread === undefined ? done : planStuck(unread.failure, deletingMs),
  ]);
  if (look.state !== "there" || unread !== undefined) return unfinished;
  if (isNeeded(seen, zone)) {
    const names = foundRecords(zone)
      .filter((record) => isToGo(seen, zone, record))
      .map((record) => deleteRecord(record, { named: nameCalled }, why));
    return { ...unfinished, steps: reportedSteps(names, zone) };
  }
  const { tags } = look.resource;
  const isOwnLink = (link: FoundLink) =>
    ourClaim(link.found.tags, seen.us) !== undefined || isLostLink(seen, zone, link);
  const cluster = ourClaim(tags, seen.us)?.clusterID ?? seen.us.clusterID;
  const part = deleteZone(zone, look.resource, {
    user: userOf(seen),
    isClaimed: zone.managed && (ourClaim(tags, seen.us) !== undefined || hasLostClaim(seen, zone)),
    isAbandoned: isAbandoned(seen, zone),
    isOwnLink,
    isOwnRecord: (record) => isClusters(seen, zone, record),
    goesWithZone: (record) =>
      isLostRecord(seen, zone, record) || ownerIn(record.found.metadata)?.clusterID === cluster,
    why,
    report: {
      zone: zoneCalled(zone),
      named: nameCalled,
      events: { delete: "DeletingPrivateDNSZone", leave: "LeavingPrivateDNSZone" },
    },
  });
  return join([{ ...part, steps: reportedSteps(part.steps, zone) }, unfinished]);
}

/** A zone that is wanted no more while the object lives on, as a part of the plan. */
export function planGiveUpZone(seen: Observed, zone: ZoneInRole): Part<EndpointStep> {
  const part = planDeleteZone(seen, zone, "it is not wanted any more");
  const { steps, problems, requeueMs } = part;
  const [problem] = problems;
  if (steps.length === 0 && requeueMs === undefined && problem === undefined) return part;
  const name = nameOf(zone.id);
  const message =
    problem === undefined
      ? `the zone ${name} is given up first`
      : `the zone ${name} cannot be given up · ${problem.message}`;
  return { ...part, problems: [{ reason: reasons.zoneGivenUp, message }] };
}

/** What Azure has not finished, or has failed to do. */
export function planUnfinished(all: readonly { look: Look<unknown> }[]): Part<never> {
  return join(
    all.map(({ look }) => {
      if (look.state === "changing") return { ...done, requeueMs: look.retryAfterMs };
      return look.state === "failed" ? planStuck(look.failure, deletingMs) : done;
    }),
  );
}

/** What keeps something from being deleted; what passes by itself is not told. */
export function planStuck(
  { message, passing, requeueAfterMs }: Failure,
  retryMs: number = waits.failureMs,
): Part<never> {
  const requeueMs = requeueAfterMs ?? retryMs;
  return passing
    ? { ...done, requeueMs }
    : wait({ reason: reasons.cleanupFailed, message }, requeueMs);
}

/**
 * Whether a zone of ours stayed because it held something when its last user left, and holds nothing any more. Two clusters that
 * leave a zone at the same time may each take what the other has in it for somebody's.
 */
function isAbandoned(seen: Observed, zone: ZoneInRole): boolean {
  if (!zone.managed || !isOwnPlace(seen, zone)) return false;
  if (lastUserIn(tagsOf(zone)) === undefined) return false;
  const hasLinks = zone.links.some(({ look }) => look.state !== "absent");
  return !hasLinks && foundRecords(zone).every(({ found }) => found.type === "SOA");
}

/** Whether another link of the cluster still uses the zone. The internal one is the router's alone. */
function isNeeded(seen: Observed, zone: ZoneInRole): boolean {
  if (zone.role === "internal") return false;
  // What an object that stays does not want, no link of its cluster wants: they are asked for together.
  if (seen.going === undefined) return false;
  return seen.siblings.some(
    ({ uses, baseDomain, baseZone = "" }) =>
      uses && (sameName(baseDomain, seen.object.spec.baseDomain) || sameId(baseZone, zone.id)),
  );
}

/** Whether a name goes with this object: one that the router's link takes back is left for it, and is never missing. */
function isToGo(seen: Observed, zone: ZoneInRole, record: FoundRecord): boolean {
  const { id, found } = record;
  if (!isOwned(found.metadata, seen.us) && !isLostRecord(seen, zone, record)) return false;
  const { cluster, object, siblings } = seen;
  const isRouterUsed = siblings.some(({ name, uses }) => name === privateRouter && uses);
  if (seen.going === undefined || !cluster || !isRouterUsed) return true;
  const back = nameInZone(`oauth-${cluster.name}.${object.spec.baseDomain ?? ""}`, zone.id);
  return nameOf(id).toLowerCase() !== back;
}

/** Whether a name is our cluster's, and of no link that lives. */
function isClusters(seen: Observed, zone: ZoneInRole, record: FoundRecord): boolean {
  const { us, siblings } = seen;
  const { metadata } = record.found;
  const whose = ownerIn(metadata);
  if (isOwned(metadata, us) || isLostRecord(seen, zone, record)) return true;
  if (whose === undefined || whose.clusterID !== us.clusterID) return false;
  return !siblings.some(({ uid, lives }) => lives && uid === whose.uid);
}
