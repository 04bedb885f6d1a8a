import { sameName } from "@postern/core/dns-name.ts";
import { formatIp, isIp, parseIp } from "@postern/core/ip.ts";
import { isSameCluster, ownerIn, ownership } from "@postern/core/ownership.ts";
import { nameOf } from "@postern/core/resource-id.ts";
import { type Problem, report } from "../../../kube/part.ts";
import { addressRecords } from "../../../private-dns/records/desired.ts";
import type { FoundRecord } from "../../../private-dns/records/observed.ts";
import type { RecordDecision, RecordPolicy } from "../../../private-dns/records/plan.ts";
import { conditions, privateRouter } from "../../names.ts";
import { desiredNames, nameInZone, takesOAuth } from "../desired/desired.ts";
import type { Observed, ZoneInRole } from "../observed.ts";
import { isOwned, ownedMetadata, owner } from "../ownership/owner.ts";
import { reasons } from "../reasons.ts";
import { isUntaggedRecord } from "./missing-tags.ts";
import { failures, isPublished, namesPending, whileChanging } from "./report.ts";

/** A name in a sentence. */
export function nameCalled({ id }: Pick<FoundRecord, "id">): string {
  return `the name ${nameOf(id)}`;
}

/** The records of a zone, all with the addresses of the endpoint. */
export function recordPolicy(
  observed: Observed,
  zone: ZoneInRole,
  addresses: readonly string[] | undefined,
): RecordPolicy {
  const names = namesIn(observed, zone).flatMap(({ name }) => name ?? []);
  const values = (addresses ?? []).map((each) => (isIp(each, 6) ? formatIp(parseIp(each)) : each));
  return {
    desired: names.flatMap((name) => addressRecords(name, values)),
    decide: (record, asDesired) => decideOn(observed, zone, record, asDesired),
    isUnwanted: (record) => isUnwanted(observed, zone, names, addresses, record),
    metadataFor: (found) => ownedMetadata(found?.metadata, observed),
    report: {
      writing: namesPending(observed),
      changing: whileChanging(observed),
      failed: ({ message }) => ({ reason: failures(zone.role).record, message }),
      named: nameCalled,
    },
  };
}

function namesIn(
  observed: Observed,
  zone: ZoneInRole,
): { fqdn: string; name: string | undefined }[] {
  return desiredNames(observed)
    .filter(({ role }) => role === zone.role)
    .filter(({ role, fqdn }) => role !== "host" || sameName(fqdn, nameOf(zone.id)))
    .map(({ fqdn }) => ({ fqdn, name: nameInZone(fqdn, zone.id) }));
}

/** Why names cannot be written in a zone that an annotation names. */
export function misplacedName(observed: Observed, zone: ZoneInRole): Problem | undefined {
  const misplaced = namesIn(observed, zone).find(({ name }) => name === undefined);
  if (misplaced === undefined) return undefined;
  const message = `DNS record ${misplaced.fqdn} cannot be written · it is not in zone ${nameOf(zone.id)}, which the annotation names · specify a zone of its domain`;
  return { reason: reasons.invalidAnnotation, message };
}

/** The problem while the address is not known. Records remain valid while a working endpoint is being changed. */
export function addressesPending(observed: Observed): Problem {
  const endpoint = observed.conditions.find(({ type }) => type === conditions.endpoint);
  return endpoint?.status === "True" ? whileChanging(observed) : namesPending(observed);
}

/**
 * What to do about one desired record set, by its owner:
 *
 *   this object                         corrected where its addresses or its time to live differ
 *   a sibling that is being deleted, or taken over: the OAuth server's name changes hands between the links of a cluster, and is
 *   the router (for OAuth)              never missing in between
 *   a sibling that lives                left to it
 *   our cluster, but no sibling         taken over: an object that was here before us left it
 *   nobody, in a zone that we claim     corrected: somebody modified it, and the zone's claim and our status prove the name
 *   nobody, but published by our        adopted: HyperShift wrote it for this very endpoint, or its metadata were removed
 *   status, with our address
 *   anybody else                        OwnedByAnother
 */
function decideOn(
  observed: Observed,
  zone: ZoneInRole,
  { id, found }: FoundRecord,
  asDesired: boolean,
): RecordDecision {
  const { metadata, registered } = found;
  if (!registered) {
    if (isOwned(metadata, observed.self)) return asDesired ? "keep" : "write";
    const recorded = ownerIn(metadata);
    const sibling = observed.siblings.find(({ uid }) => uid === recorded?.uid);
    // The router has the record of the OAuth server only until the link of that server is ready.
    if (sibling !== undefined)
      return !sibling.lives || sibling.name === privateRouter ? "write" : "keep";
    if (isSameCluster(recorded, observed.self)) return "write";
    const isNobodys = Object.keys(metadata).length === 0;
    if (isNobodys && isPublished(observed, zone) && asDesired) return "write";
    if (isUntaggedRecord(observed, zone, { id, found })) return "write";
  }
  const is = ownership(metadata, owner(observed));
  const foreignOwner = is.is === "another" ? is.described : "an unknown owner";
  const message = `${nameCalled({ id })} is not written · the record set belongs to ${foreignOwner} · remove it, or use another domain`;
  return report({ reason: reasons.ownedByAnother, message });
}

/** Whether we own a record set that is not desired any more. */
function isUnwanted(
  observed: Observed,
  zone: ZoneInRole,
  names: readonly string[],
  addresses: readonly string[] | undefined,
  { id, found }: FoundRecord,
): boolean {
  if (!isOwned(found.metadata, observed.self)) return false;
  const types =
    addresses === undefined ? ["A", "AAAA"] : addressRecords("", addresses).map(({ type }) => type);
  const name = nameOf(id).toLowerCase();
  return (
    !types.includes(found.type) ||
    !(names.includes(name) || isReservedForOAuth(observed, zone, name))
  );
}

/** Whether a name remains until the link that it is meant for has adopted it. */
function isReservedForOAuth(
  { cluster, object, siblings }: Observed,
  zone: ZoneInRole,
  name: string,
) {
  const { baseDomain } = object.spec;
  if (!cluster || !baseDomain || !siblings.some((each) => takesOAuth(each, baseDomain)))
    return false;
  return nameInZone(`oauth-${cluster.name}.${baseDomain}`, zone.id) === name;
}
