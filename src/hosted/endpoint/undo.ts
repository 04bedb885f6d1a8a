import type { Plan } from "../../kube/feature.ts";
import { claimsIn } from "../../model/claims.ts";
import type { PlannedCondition } from "../../model/conditions.ts";
import type { Failure } from "../../model/failure.ts";
import { ownerIn } from "../../model/ownership.ts";
import { nameOf, sameId } from "../../model/resource-id.ts";
import { annotations, conditions, privateRouter } from "../names.ts";
import { ourEndpoints } from "./endpoint.ts";
import { type FoundRecord, foundLinks, foundRecords, recordType } from "./found.ts";
import { hasLostClaim, isLostLink, isLostRecord } from "./lost-tags.ts";
import { reasons } from "./reasons.ts";
import { removeRecord } from "./records.ts";
import type { Seen, ZoneSeen } from "./seen.ts";
import { externalLabel } from "./services.ts";
import { type EndpointStep, isFalse, type Part, type Verdict } from "./steps.ts";
import { nameInZone, sameName } from "./wanted.ts";
import { isOurs, otherClaims, ourClaim, withoutOurClaim } from "./whose.ts";
import { giveUpLink } from "./zone-links.ts";

/** What is left to undo of one thing, and what stands in the way. */
interface Undone {
  steps: EndpointStep[];
  waitMs?: number | undefined;
  problems?: string[];
  /** What Azure has not ended yet. */
  unended?: string[];
}

/**
 * Undo the guest side. Everything begins as soon as Azure accepts it, and nothing waits for what is not related:
 *
 *   endpoint               at once, whatever becomes of the names
 *   names of this object   at once; not one by one where the whole zone goes
 *   links and zones        when no other link of the cluster needs them: our claim goes; with the last claim the link goes,
 *                          then the zone, unless somebody else has put something into it
 *   owner unknown          held while a zone has a claim that may be ours: it is said what to do
 *   our finalizer          when nothing is left
 */
export function undo(seen: Seen): Plan<EndpointStep> {
  if (!seen.object.held) return letGo;
  const parts = [
    undoEndpoint(seen),
    ...seen.zones.map((zone) => undoZone(seen, zone)),
    ...(seen.zonesFailed ? [unseen(seen.zonesFailed)] : []),
    { steps: [], problems: claimsOfUnknown(seen) },
    { steps: undoServices(seen) },
  ];
  const now = [
    ...(seen.noCredential ? [seen.noCredential.message] : []),
    ...parts.flatMap((part) => part.problems ?? []),
  ];
  const problem = now[0] ?? failedBefore(seen);
  if (seen.abandoned && isAbandonmentTold(seen)) return letGo;
  if (seen.abandoned && problem !== undefined) return abandon(seen, problem);
  const steps = parts
    .flatMap((part) => part.steps)
    .map((step) => ({ ...step, failsAs: reasons.cleanupFailed }));
  const waits = parts.flatMap(({ waitMs }) => waitMs ?? []);
  if (steps.length === 0 && waits.length === 0 && now.length === 0) return release(seen);
  if (now.length > 0 && waits.length === 0) waits.push(seen.noCredential?.requeueAfterMs ?? 30_000);
  const unended = parts.flatMap((part) => part.unended ?? []);
  const waitsFor =
    unended.length > 0
      ? ` · it waits for Azure to end what it does to ${unended.join(", ")} · look there if this takes long`
      : "";
  const message = `the guest side is being removed: ${whyOf(seen)}${waitsFor}`;
  const going = isFalse(reasons.deleting, message);
  const stuck = now[0] === undefined ? going : isFalse(reasons.cleanupFailed, now[0]);
  const wayOut =
    problem === undefined
      ? going
      : isFalse(
          reasons.cleanupFailed,
          `the guest side cannot be removed · ${problem} · or leave it behind: annotate this object or its HostedCluster with ${annotations.abandon}: "true"`,
        );
  return {
    steps,
    conditions: told(wayOut, stuck, stuck),
    status: seen.status,
    again: waits.length > 0 ? { afterMs: Math.min(...waits) } : "soon",
  };
}

/** What could not be looked at may hold something of ours. */
function unseen({ message, requeueAfterMs }: Failure): Undone {
  return { steps: [], problems: [message], waitMs: requeueAfterMs ?? 30_000 };
}

/** Without an owner nobody knows which claims are ours: a zone that may be would stay for ever, and nobody would hear of it. */
function claimsOfUnknown({ us, zones }: Seen): string[] {
  if (us.controlPlaneUid !== undefined) return [];
  return zones
    .filter((zone) =>
      claimsIn(look(zone)?.tags).some(
        ({ clusterID }) => us.clusterID === undefined || sameId(clusterID, us.clusterID),
      ),
    )
    .map(
      ({ id }) =>
        `the zone ${nameOf(id)} may be this cluster's · the object has no HostedControlPlane as its owner any more, and none is alone beside it · put its ownerReferences back`,
    );
}

const letGo: Plan<EndpointStep> = {
  steps: [],
  conditions: [],
  finalizer: "release",
  again: "never",
};

function isAbandonmentTold({ conditions: now }: Seen): boolean {
  return now.some(
    ({ type, reason }) => type === conditions.available && reason === reasons.abandoned,
  );
}

/** What the last pass could not do. Every pass tries again and says so anew, so it is never an old story. */
function failedBefore({ conditions: now }: Seen): string | undefined {
  return now.find(
    ({ type, reason }) => type !== conditions.available && reason === reasons.cleanupFailed,
  )?.message;
}

/** The Services for external-dns go with the router's link: they lead to its endpoint. */
function undoServices(seen: Seen): EndpointStep[] {
  return seen.services
    .filter(({ metadata }) => metadata.labels?.[externalLabel] === "true")
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map((found) => ({
      on: "service",
      do: "remove service",
      found,
      why: `the Service ${found.metadata.name} goes: ${whyOf(seen)}`,
      condition: conditions.dns,
    }));
}

function undoEndpoint(seen: Seen): Undone {
  const waits: number[] = [];
  const problems: string[] = [];
  if (seen.endpointsFailed) return unseen(seen.endpointsFailed);
  const unended: string[] = [];
  for (const { id, look } of seen.endpoints) {
    if (look.state === "changing") {
      waits.push(look.retryAfterMs);
      unended.push(`private endpoint ${nameOf(id)}`);
    }
    if (look.state !== "failed") continue;
    waits.push(look.failure.requeueAfterMs ?? 5_000);
    if (!look.failure.passing) problems.push(look.failure.message);
  }
  const steps = ourEndpoints(seen).map(
    ({ id, found }): EndpointStep => ({
      on: "endpoint",
      do: "remove endpoint",
      id,
      ifMatch: found.etag,
      why: `the private endpoint ${nameOf(id)} goes: ${whyOf(seen)}`,
      event: "DeletingPrivateEndpoint",
      condition: conditions.endpoint,
    }),
  );
  return { steps, problems, unended, waitMs: least(waits) };
}

/** Undo what this object, or with its last link the cluster, has in a zone. */
export function undoZone(seen: Seen, zone: ZoneSeen): Undone {
  const { look } = zone;
  const waits: number[] = [];
  const problems: string[] = [];
  const unread = zone.unread?.failure;
  const failures = [look, ...zone.links.map((each) => each.look)].flatMap((each) =>
    each.state === "failed" ? [each.failure] : [],
  );
  for (const failure of unread ? [...failures, unread] : failures) {
    waits.push(failure.requeueAfterMs ?? 5_000);
    if (!failure.passing) problems.push(failure.message);
  }
  const unended: string[] = [];
  for (const each of [zone, ...zone.links]) {
    if (each.look.state !== "changing") continue;
    waits.push(each.look.retryAfterMs);
    unended.push(each === zone ? `zone ${nameOf(zone.id)}` : `zone link ${nameOf(each.id)}`);
  }
  const result = (steps: EndpointStep[]): Undone => {
    return { steps, problems, unended, waitMs: least(waits) };
  };
  if (look.state !== "there" || unread !== undefined) return result([]);

  const why = whyOf(seen);
  const needed = isNeeded(seen, zone);
  const names = foundRecords(zone)
    .filter((record) => (needed ? isToGo(seen, zone, record) : isClusters(seen, zone, record)))
    .map((record) => removeRecord(record, why));
  if (needed) return result(names);

  const { tags, etag } = look.resource;
  const links = foundLinks(zone).filter(
    (link) => ourClaim(link.found.tags, seen.us) !== undefined || isLostLink(seen, zone, link),
  );
  const linkSteps = links.map((link) => giveUpLink(seen, link, why));
  const claimed =
    zone.managed && (ourClaim(tags, seen.us) !== undefined || hasLostClaim(seen, zone));
  if (!claimed) return result([...names, ...linkSteps]);

  const stays = otherClaims(tags, seen.us).length > 0 || holdsOthers(seen, zone);
  if (!stays && linkSteps.length > 0) return result(linkSteps);
  if (stays && names.length + linkSteps.length > 0) return result([...names, ...linkSteps]);
  // A link that is still going would be lost sight of with the claim, and holds the zone.
  if (zone.links.some((each) => each.look.state === "changing" || each.look.state === "failed"))
    return result([]);
  const shared = { on: "zone", id: zone.id, ifMatch: etag, condition: conditions.dns } as const;
  const name = nameOf(zone.id);
  return result([
    stays
      ? {
          ...shared,
          do: "give up zone",
          body: { location: "global", tags: withoutOurClaim(tags ?? {}, seen.us), properties: {} },
          why: `the private DNS zone ${name} is left to those who use it: ${why}`,
          event: "LeavingPrivateDNSZone",
        }
      : {
          ...shared,
          do: "remove zone",
          why: `the private DNS zone ${name} goes: ${why}`,
          event: "DeletingPrivateDNSZone",
        },
  ]);
}

/** A zone that is wanted no more while the object lives on, as a part of the plan. */
export function giveUpZone(seen: Seen, zone: ZoneSeen): Part {
  const { steps, waitMs, problems = [] } = undoZone(seen, zone);
  const [problem] = problems;
  const busy = steps.length > 0 || waitMs !== undefined || problem !== undefined;
  if (!busy) return { steps, verdict: undefined };
  const message =
    problem === undefined
      ? `the zone ${nameOf(zone.id)} is given up first`
      : `the zone ${nameOf(zone.id)} cannot be given up · ${problem}`;
  return {
    steps,
    verdict: { status: "False", reason: reasons.zoneGivenUp, message },
    waitMs: problem === undefined ? waitMs : (waitMs ?? 30_000),
  };
}

/** Whether another link of the cluster still uses the zone. The internal one is the router's alone. */
function isNeeded(seen: Seen, zone: ZoneSeen): boolean {
  if (zone.role === "internal") return false;
  // What an object that stays does not want, no link of its cluster wants: they are asked for together.
  if (seen.going === undefined) return false;
  return seen.siblings.some(
    ({ uses, baseDomain, baseZone = "" }) =>
      uses && (sameName(baseDomain, seen.object.spec.baseDomain) || sameId(baseZone, zone.id)),
  );
}

/** Whether a name goes with this object: one that the router's link takes back is left for it, and is never missing. */
function isToGo(seen: Seen, zone: ZoneSeen, record: FoundRecord): boolean {
  const { id, found } = record;
  if (!isOurs(found.properties.metadata, seen.us) && !isLostRecord(seen, zone, record))
    return false;
  const { cluster, object, siblings } = seen;
  if (seen.going === undefined || !cluster || !siblings.some(isUsedRouter)) return true;
  const back = nameInZone(`oauth-${cluster.name}.${object.spec.baseDomain ?? ""}`, zone.id);
  return nameOf(id).toLowerCase() !== back;
}

function isUsedRouter({ name, uses }: Seen["siblings"][number]): boolean {
  return name === privateRouter && uses;
}

/** Whether a name is our cluster's, and of no link that lives. */
function isClusters(seen: Seen, zone: ZoneSeen, record: FoundRecord): boolean {
  const { us, siblings } = seen;
  const { metadata } = record.found.properties;
  const whose = ownerIn(metadata);
  if (isOurs(metadata, us) || isLostRecord(seen, zone, record)) return true;
  if (whose === undefined || whose.clusterID !== us.clusterID) return false;
  return !siblings.some(({ uid, lives }) => lives && uid === whose.uid);
}

/** Whether somebody else has put something into the zone: a record set, or a link of their own. */
function holdsOthers(seen: Seen, zone: ZoneSeen): boolean {
  const cluster = ourClaim(look(zone)?.tags, seen.us)?.clusterID ?? seen.us.clusterID;
  const records = foundRecords(zone).some((record) => {
    if (recordType(record.id) === "SOA" || isLostRecord(seen, zone, record)) return false;
    return ownerIn(record.found.properties.metadata)?.clusterID !== cluster;
  });
  return (
    records ||
    foundLinks(zone).some(
      (link) => ourClaim(link.found.tags, seen.us) === undefined && !isLostLink(seen, zone, link),
    )
  );
}

function look(zone: ZoneSeen) {
  return zone.look.state === "there" ? zone.look.resource : undefined;
}

function release(seen: Seen): Plan<EndpointStep> {
  // An object that stays, because only its control plane goes, must not go on saying that all is well.
  const available = seen.conditions.find(({ type }) => type === conditions.available);
  if (available?.status === "True") {
    const gone = isFalse(reasons.deleting, `the guest side is removed: ${whyOf(seen)}`);
    return { steps: [], conditions: told(gone, gone, gone), again: { afterMs: 0 } };
  }
  return letGo;
}

/** Told first: nobody hears of it any more once the object is let go. */
function abandon(seen: Seen, problem: string): Plan<EndpointStep> {
  const message = `what is in the guest is left behind, as ${annotations.abandon} says · ${problem} · remove it by hand: endpoints and zones with the tag of this cluster in ${seen.object.spec.resourceGroupName}`;
  const left = isFalse(reasons.abandoned, message);
  return {
    steps: [],
    conditions: told(left, left, left),
    status: seen.status,
    events: [{ reason: reasons.abandoned, note: message, type: "Warning" }],
    again: { afterMs: 0 },
  };
}

function told(available: Verdict, endpoint: Verdict, dns: Verdict): PlannedCondition[] {
  return [
    { type: conditions.available, ...available },
    { type: conditions.endpoint, ...endpoint },
    { type: conditions.dns, ...dns },
  ];
}

function whyOf({ going, object }: Seen): string {
  switch (going) {
    case "control plane":
      return "the control plane is being deleted";
    case "orphan":
      return "the control plane does not exist any more";
    case "object":
      return `${object.name} is being deleted`;
    default:
      return "it is not wanted any more";
  }
}

function least(waits: readonly number[]): number | undefined {
  return waits.length > 0 ? Math.min(...waits) : undefined;
}
