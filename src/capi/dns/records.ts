import { claimsIn } from "../../model/claims.ts";
import { formatIp, isIp, parseIp } from "../../model/ip.ts";
import { type Owner, ownerIn } from "../../model/ownership.ts";
import { nameOf, type ResourceId, sameId } from "../../model/resource-id.ts";
import { reasons } from "./reasons.ts";
import type { RecordSet, Seen, ZoneSeen } from "./seen.ts";
import { type DnsStep, doing, joined, nothing, type Part, waiting, wrong } from "./steps.ts";
import { publicZone, recordId, type Wanted, type WantedRecords, wantedIn } from "./wanted.ts";
import { isOurs, otherClaims, shownOwner, withOwner } from "./whose.ts";
import { foundLinks, leadsTo } from "./zone-links.ts";

/** How soon to look again for the link of a cluster that shares a zone with us. */
const linkMs = 30_000;

/** A record set that exists. */
export interface FoundRecords {
  id: ResourceId;
  found: RecordSet;
}

/** The record sets of a zone that exist. */
export function foundRecords({ records }: ZoneSeen): FoundRecords[] {
  return records.flatMap(({ id, look }) =>
    look.state === "there" ? [{ id, found: look.resource }] : [],
  );
}

/** Whether nobody has marked a record set. */
export function isUnmarked({ metadata, registered }: RecordSet): boolean {
  return !registered && ownerIn(metadata) === undefined;
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
 *   yes    nobody               yes     taking over: corrected and marked; a delegation that is right: marked;
 *                                       else left if it is right, OwnedByAnother if not
 *   yes    anybody else         yes     OwnedByAnother
 *   yes    anybody else         no      left
 *
 * A CNAME has no neighbours of its name: what is ours in its way goes first.
 */
export function planRecords(seen: Seen, zone: ZoneSeen, takingOver: boolean): Part {
  const wanted = wantedIn(seen, zone);
  const parts = wanted.records.map((each) => planRecord(seen, zone, each, takingOver));
  const unwanted = unwantedRecords(seen, zone, wanted, takingOver).map((each) =>
    removeRecords(zone, each, "it is not wanted any more"),
  );
  if (wanted.badTarget !== undefined)
    parts.push(
      wrong(
        reasons.invalidAnnotation,
        `no wildcard is written in ${nameOf(zone.id)} · ${JSON.stringify(wanted.badTarget.slice(0, 80))} is no name · correct the annotation network.giantswarm.io/wildcard-cname-target of the Cluster`,
      ),
    );
  return joined([...parts, doing(...unwanted)]);
}

function planRecord(seen: Seen, zone: ZoneSeen, wanted: WantedRecords, takingOver: boolean): Part {
  const id = recordId(zone.id, wanted);
  const look = zone.records.find((each) => sameId(each.id, id))?.look ?? { state: "absent" };
  if (look.state === "changing") return waiting(look.retryAfterMs);
  if (look.state === "failed")
    return wrong(look.failure.reason, look.failure.message, look.failure.requeueAfterMs ?? 30_000);
  const inTheWay = foundRecords(zone).find(
    ({ found }) =>
      sameName(found.name, wanted.name) &&
      found.type !== wanted.type &&
      (found.type === "CNAME" || wanted.type === "CNAME"),
  );
  if (inTheWay !== undefined)
    // What is ours is not wanted, so it is being removed; the next pass writes.
    return isOurs(inTheWay.found.metadata, seen)
      ? { ...nothing, pending: true }
      : another(seen, zone, inTheWay);
  if (look.state === "absent") return doing(write(seen, zone, id, wanted, undefined));
  const found = look.resource;
  const right = isRight(found, wanted);
  if (isOurs(found.metadata, seen))
    return right && saysOrigin(seen, zone, found)
      ? nothing
      : doing(write(seen, zone, id, wanted, found));
  if (isUnmarked(found)) {
    if (takingOver || (zone.role === "base" && right))
      return doing(write(seen, zone, id, wanted, found));
    return right ? nothing : another(seen, zone, { id, found });
  }
  const sharer = sharerOf(seen, zone, found);
  if (sharer === undefined) return another(seen, zone, { id, found });
  return right ? nothing : besides(seen, zone, { id, found }, sharer);
}

/** The other cluster that a record set belongs to, if it uses this zone too. */
function sharerOf(seen: Seen, { role, look }: ZoneSeen, found: RecordSet): Owner | undefined {
  if (role !== "toManagement" || look.state !== "there") return undefined;
  const owner = ownerIn(found.metadata)?.clusterID;
  return otherClaims(look.resource.tags, seen).find(({ clusterID }) => clusterID === owner);
}

/** What the name of a cluster that shares the zone means for us: its address is of use in its own network only. */
function besides(seen: Seen, zone: ZoneSeen, { id }: FoundRecords, sharer: Owner): Part {
  const links = foundLinks(zone);
  const claimed = links.filter(({ found: { tags } }) =>
    claimsIn(tags).some(({ clusterID }) => clusterID === sharer.clusterID),
  );
  // A link that somebody made by hand is used without a claim.
  const unclaimed = links.filter(({ found: { tags } }) => claimsIn(tags).length === 0);
  const theirs = claimed.length > 0 ? claimed : unclaimed;
  const network = seen.networks.toManagement;
  if (network && theirs.some((link) => leadsTo(link.found, network))) return nothing;
  // They have not linked their network yet.
  if (theirs.length === 0) return waiting(linkMs);
  return wrong(
    reasons.zoneOfAnotherNetwork,
    `${nameOf(id)}.${nameOf(zone.id)} does not lead to our endpoint · the private zone is shared with ${shownOwner(sharer, seen)}, whose network is another one · put one of the clusters into another resource group`,
  );
}

function write(
  seen: Seen,
  zone: ZoneSeen,
  id: ResourceId,
  wanted: WantedRecords,
  found: RecordSet | undefined,
): DnsStep {
  return {
    on: "record",
    do: "write name",
    role: zone.role,
    id,
    records: {
      ...wanted,
      metadata: { ...withOwner(found?.metadata ?? {}, seen), ...originOf(seen, zone, found) },
    },
    ...(found === undefined ? { ifNoneMatch: "*" } : { ifMatch: found.etag }),
    why: `${wanted.name}.${nameOf(zone.id)} ${found === undefined ? "leads nowhere" : "is not as it should be"}`,
  };
}

/**
 * On a delegation: where the zone that it leads to comes from, `created` by us or `adopted` with the delegation. It is kept
 * in the base zone, because there nobody but the operator writes, and no change of the zone's tags takes it away.
 */
export const originMark = "postern_zone";

function originOf(seen: Seen, { role }: ZoneSeen, found: RecordSet | undefined) {
  if (role !== "base") return {};
  if (isCreated(seen)) return { [originMark]: "created" };
  return found !== undefined && isUnmarked(found) ? { [originMark]: "adopted" } : {};
}

function saysOrigin(seen: Seen, { role }: ZoneSeen, { metadata }: RecordSet): boolean {
  return role !== "base" || !isCreated(seen) || metadata[originMark] === "created";
}

function isCreated(seen: Seen): boolean {
  const look = publicZone(seen)?.look;
  return look?.state === "there" && isOurs(look.resource.tags, seen);
}

function another(seen: Seen, zone: ZoneSeen, { id, found }: FoundRecords): Part {
  const owner = ownerIn(found.metadata);
  const whose =
    owner === undefined
      ? "nobody has marked it as ours"
      : `it is that of ${shownOwner(owner, seen)}`;
  return wrong(
    reasons.ownedByAnother,
    `${nameOf(id)}.${nameOf(zone.id)} is not written · there is a record set of type ${found.type} and ${whose} · remove it`,
  );
}

/** Record sets of ours that nothing wants any more. */
function unwantedRecords(
  seen: Seen,
  zone: ZoneSeen,
  { records, unknown }: Wanted,
  takingOver: boolean,
): FoundRecords[] {
  return foundRecords(zone).filter(({ found }) => {
    const wanted = records.some(
      ({ type, name }) => type === found.type && sameName(name, found.name),
    );
    if (wanted || unknown(found.name.toLowerCase())) return false;
    return isOurs(found.metadata, seen) || (takingOver && isOldWildcard(zone, found));
  });
}

/** The operator before us wrote a wildcard also where it led to itself. */
function isOldWildcard({ id }: ZoneSeen, found: RecordSet): boolean {
  const [target = ""] = found.values;
  return (
    found.type === "CNAME" &&
    found.name === "*" &&
    isUnmarked(found) &&
    plain(target).endsWith(`.${nameOf(id).toLowerCase()}`)
  );
}

/** The step that removes a record set. */
export function removeRecords(zone: ZoneSeen, { id, found }: FoundRecords, why: string): DnsStep {
  return {
    on: "record",
    do: "remove name",
    role: zone.role,
    id,
    ifMatch: found.etag,
    why: `${found.name}.${nameOf(zone.id)} goes: ${why}`,
  };
}

function sameName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

function isRight(found: RecordSet, wanted: WantedRecords): boolean {
  return found.ttlSeconds === wanted.ttlSeconds && sameValues(found.values, wanted.values);
}

/** Whether two lists hold the same addresses or names, in whatever order and spelling. */
export function sameValues(a: readonly string[], b: readonly string[]): boolean {
  const sorted = (all: readonly string[]) => all.map(plain).sort().join();
  return sorted(a) === sorted(b);
}

/** Addresses in one spelling; names without case and without the dot at their end. */
function plain(value: string): string {
  return isIp(value) ? formatIp(parseIp(value)) : value.toLowerCase().replace(/\.$/, "");
}
