import { claimsIn } from "@postern/core/claims.ts";
import { isSameCluster, type Owner, ownerIn } from "@postern/core/ownership.ts";
import { nameOf } from "@postern/core/resource-id.ts";
import { done, join, type Part, report, wait, waits } from "../../../kube/part.ts";
import { foundLinks, pointsTo } from "../../../private-dns/links/observed.ts";
import { type DesiredRecords, ttlSeconds } from "../../../private-dns/records/desired.ts";
import { plainValue } from "../../../private-dns/records/difference.ts";
import {
  type FoundRecord,
  foundRecords,
  type RecordSet,
} from "../../../private-dns/records/observed.ts";
import { planRecords, type RecordDecision } from "../../../private-dns/records/plan.ts";
import type { RecordStep } from "../../../private-dns/steps.ts";
import { isClaimed, otherClaims } from "../../../private-dns/user.ts";
import type { Observed, ZoneInRole } from "../observed.ts";
import { reasons } from "../reasons.ts";
import {
  type Desired,
  desiredIn,
  publicZone,
  recordNames,
  usualTarget,
  wildcard,
} from "./desired.ts";
import { isDelegationToUs } from "./name.ts";
import { isOwned, shownOwner, userOf, withOwner } from "./owner.ts";
import { pending } from "./report.ts";

/** Whether nobody has marked a record set. */
export function isUnmarked({ metadata, registered }: RecordSet): boolean {
  return !registered && ownerIn(metadata) === undefined;
}

/**
 * Whether a record set may have had its metadata removed: it has a name and a type that we write in a zone of this role, no metadata at
 * all, and the zone is claimed by us alone. It is ours if its values are ours, too.
 */
function isBare(observed: Observed, { role, observation }: ZoneInRole, found: RecordSet): boolean {
  const { registered, metadata, type, name } = found;
  if (observation.state !== "exists" || registered || Object.keys(metadata).length > 0)
    return false;
  const { tags } = observation.resource;
  const user = userOf(observed);
  if (!isClaimed(tags, user) || otherClaims(tags, user).length > 0) return false;
  const isWildcard = name === wildcard;
  return (
    isWildcard === (type === "CNAME") && recordNames(observed, role).includes(name.toLowerCase())
  );
}

/** Whether a record set without its metadata holds what we published, for a cluster that is being deleted. */
export function lacksOriginTag(observed: Observed, zone: ZoneInRole, found: RecordSet): boolean {
  if (!isBare(observed, zone, found) || found.values.length === 0) return false;
  const published = new Set(observed.infrastructure?.published.map(plainValue));
  const zoneName = nameOf(zone.id).toLowerCase();
  return found.values.every((value) =>
    found.type === "CNAME"
      ? plainValue(value).endsWith(`.${zoneName}`)
      : published.has(plainValue(value)),
  );
}

/**
 * What to do about the record sets of a zone that may be used. `takingOver`: the zone is that of the operator before us,
 * which marked nothing; until we have claimed it, what has our names in it was written by that operator.
 *
 *   there  marked by            wanted  →
 *   no                          yes     made, unless another came first
 *   yes    us                   yes     corrected where values or time to live differ
 *   yes    us                   no      removed; where it is not known whether it is wanted it stays
 *   yes    another user of the  yes     left to it, a zone that clusters share has each name once: good if it is right, or if
 *          zone                         that one is in our network; ZoneOfAnotherNetwork if it is in another
 *   yes    nobody               yes     taking over, or a delegation to our zone: corrected and marked; a record set that is right
 *                                       in a zone that we alone use: marked; else left if it is right, OwnedByAnother if not
 *   yes    nobody               unknown taking over: `ingress` is marked as it is; anything else is left
 *   yes    anybody else         yes     OwnedByAnother
 *   yes    anybody else         no      left
 *
 * A CNAME has no neighbours of its name: what is ours in its way goes first.
 */
export function planNames(
  observed: Observed,
  zone: ZoneInRole,
  takingOver: boolean,
): Part<RecordStep> {
  const desired = desiredIn(observed, zone);
  const adopted = takingOver ? adoptedAsIs(zone, desired) : [];
  const part = planRecords(zone, {
    desired: [...desired.records, ...adopted],
    decide: (record, asDesired) => decideOn(observed, zone, record, asDesired, takingOver),
    // What is ours is not desired, so it is being deleted; the next reconcile writes.
    conflict: (record) =>
      isOwned(record.found.metadata, observed) ? report(pending) : refuse(observed, zone, record),
    isUnwanted: ({ found }) => isUnwanted(observed, zone, desired, found, takingOver),
    metadataFor: (found) => ({
      ...withOwner(found?.metadata ?? {}, observed),
      ...originOf(observed, zone, found),
    }),
    report: {
      writing: pending,
      changing: pending,
      deleting: pending,
      failed: ({ reason, message }) => ({ reason, message }),
      named: (record) => nameCalled(record, nameOf(zone.id)),
    },
  });
  if (desired.badTarget === undefined) return part;
  const target = JSON.stringify(desired.badTarget.slice(0, 80));
  const message = `no wildcard is written in ${nameOf(zone.id)} · ${target} is not a hostname · correct the annotation network.giantswarm.io/wildcard-cname-target of the Cluster`;
  return join([part, report({ reason: reasons.invalidAnnotation, message })]);
}

/**
 * The record sets of `ingress` that are adopted as they are, because the workload cluster does not say what they should be. Once the
 * zone is claimed, nobody could tell them from those of somebody else.
 */
function adoptedAsIs(zone: ZoneInRole, { unknown }: Desired): DesiredRecords[] {
  if (zone.role !== "public" || !unknown(usualTarget)) return [];
  return foundRecords(zone).flatMap(({ found }) => {
    const { type, name, values, ttlSeconds: ttl = ttlSeconds } = found;
    const isIngress = ["A", "AAAA"].includes(type) && name.toLowerCase() === usualTarget;
    return isIngress ? [{ type, name, values, ttlSeconds: ttl }] : [];
  });
}

/** A name in a sentence. */
export function nameCalled({ found }: FoundRecord, zone: string): string {
  return `${found.name}.${zone}`;
}

function decideOn(
  observed: Observed,
  zone: ZoneInRole,
  record: FoundRecord,
  asDesired: boolean,
  takingOver: boolean,
): RecordDecision {
  const { found } = record;
  if (isOwned(found.metadata, observed))
    return asDesired && hasOriginTag(observed, zone, found) ? "keep" : "write";
  if (isUnmarked(found)) {
    const isOwn =
      zone.role === "base"
        ? isDelegationToUs(observed, { ...found, name: nameOf(record.id) })
        : asDesired && isBare(observed, zone, found);
    if (takingOver || isOwn) return "write";
    return asDesired ? "keep" : refuse(observed, zone, record);
  }
  const sharer = sharerOf(observed, zone, found);
  if (sharer === undefined) return refuse(observed, zone, record);
  return asDesired ? "keep" : planSharedRecord(observed, zone, record, sharer);
}

/** The other cluster that a record set belongs to, if it uses this zone too. */
function sharerOf(
  observed: Observed,
  { role, observation }: ZoneInRole,
  found: RecordSet,
): Owner | undefined {
  if (role !== "toManagement" || observation.state !== "exists") return undefined;
  const owner = ownerIn(found.metadata);
  return otherClaims(observation.resource.tags, userOf(observed)).find((claim) =>
    isSameCluster(owner, claim),
  );
}

/** What the name of a cluster that shares the zone means for us: its address is of use in its own network only. */
function planSharedRecord(
  observed: Observed,
  zone: ZoneInRole,
  { id }: FoundRecord,
  sharer: Owner,
): Part<never> {
  const links = foundLinks(zone);
  const claimed = links.filter(({ found: { tags } }) =>
    claimsIn(tags).some((claim) => isSameCluster(claim, sharer)),
  );
  // A link that somebody created by hand is used without a claim.
  const unclaimed = links.filter(({ found: { tags } }) => claimsIn(tags).length === 0);
  const ofOthers = claimed.length > 0 ? claimed : unclaimed;
  const network = observed.networks.toManagement;
  if (network && ofOthers.some((link) => pointsTo(link.found, network))) return done;
  // They have not linked their network yet.
  if (ofOthers.length === 0) return wait(pending, waits.failureMs);
  const message = `${nameOf(id)}.${nameOf(zone.id)} does not resolve to the endpoint of this cluster · the private zone is shared with ${shownOwner(sharer, observed)}, which has another network · move one of the clusters to another resource group`;
  return report({ reason: reasons.zoneOfAnotherNetwork, message });
}

/**
 * On a delegation: where the zone that it leads to comes from, `created` by us or `adopted` with the delegation. It is kept
 * in the base zone, because there nobody but the operator writes, and no change of the zone's tags takes it away.
 */
export const originTag = "postern_zone";

function originOf(observed: Observed, { role }: ZoneInRole, found: RecordSet | undefined) {
  if (role !== "base") return {};
  if (isCreated(observed)) return { [originTag]: "created" };
  return found !== undefined && isUnmarked(found) ? { [originTag]: "adopted" } : {};
}

function hasOriginTag(observed: Observed, { role }: ZoneInRole, { metadata }: RecordSet): boolean {
  return role !== "base" || !isCreated(observed) || metadata[originTag] === "created";
}

function isCreated(observed: Observed): boolean {
  const observation = publicZone(observed)?.observation;
  return observation?.state === "exists" && isOwned(observation.resource.tags, observed);
}

function refuse(observed: Observed, zone: ZoneInRole, { id, found }: FoundRecord): Part<never> {
  const owner = ownerIn(found.metadata);
  const ownedBy =
    owner === undefined ? "it has no owner" : `it belongs to ${shownOwner(owner, observed)}`;
  const message = `${nameOf(id)}.${nameOf(zone.id)} is not written · a record set of type ${found.type} exists and ${ownedBy} · remove it`;
  return report({ reason: reasons.ownedByAnother, message });
}

/** Whether a record set of ours is desired no more. */
function isUnwanted(
  observed: Observed,
  zone: ZoneInRole,
  { records, unknown }: Desired,
  found: RecordSet,
  takingOver: boolean,
): boolean {
  const called = found.name.toLowerCase();
  const isDesired = records.some(
    ({ type, name }) => type === found.type && name.toLowerCase() === called,
  );
  if (isDesired || unknown(called)) return false;
  return isOwned(found.metadata, observed) || (takingOver && isOldWildcard(zone, found));
}

/**
 * The operator before us wrote a wildcard also where it led to itself. In a public zone it stays: somebody else may write its
 * target, such as external-dns in the workload cluster.
 */
function isOldWildcard({ id, role }: ZoneInRole, found: RecordSet): boolean {
  const [target = ""] = found.values;
  return (
    role !== "public" &&
    found.type === "CNAME" &&
    found.name === "*" &&
    isUnmarked(found) &&
    plainValue(target).endsWith(`.${nameOf(id).toLowerCase()}`)
  );
}
