import type { PrivateRecordSet } from "../../azure/gateways/private-dns.ts";
import { formatIp, isIp, parseIp } from "../../model/ip.ts";
import { ownerIn, ownership } from "../../model/ownership.ts";
import { idKey, nameOf, type ResourceId, sameId } from "../../model/resource-id.ts";
import { conditions, privateRouter } from "../names.ts";
import { type FoundRecord, foundRecords, recordType } from "./found.ts";
import { failures, isPublished, joined, namesPending, whileChanging } from "./names-told.ts";
import { reasons } from "./reasons.ts";
import type { Seen, ZoneSeen } from "./seen.ts";
import { type EndpointStep, isFalse, type Part, rest } from "./steps.ts";
import { nameInZone, recordId, takesOAuth, wantedNames } from "./wanted.ts";
import { isOurs, ownedMetadata, owner } from "./whose.ts";

const condition = conditions.dns;
const ttlSeconds = 300;

/**
 * What to do about one record set that is wanted:
 *
 *   there  owner                        →
 *   no                                  made, unless another came first
 *   yes    this object                  corrected where its addresses or its time to live differ
 *   yes    a sibling that is going, or  taken over: the OAuth server's name changes hands between the links of a
 *          the router (for OAuth)       cluster, and is never missing in between
 *   yes    a sibling that lives         left to it
 *   yes    our cluster, but no sibling  taken over: an object that was here before us left it
 *   yes    nobody, but published by     taken over: HyperShift wrote it for this very endpoint, or its metadata were
 *          our status, with our address replaced
 *   yes    anybody else                 OwnedByAnother
 *
 * Record sets of ours under names that are not wanted any more are removed. Nobody else's is ever touched.
 */
export function planRecords(
  seen: Seen,
  zone: ZoneSeen,
  addresses: readonly string[] | undefined,
): Part {
  const names: string[] = [];
  for (const { role, fqdn } of wantedNames(seen)) {
    if (role !== zone.role) continue;
    const name = nameInZone(fqdn, zone.id);
    if (name === undefined)
      return rest(
        isFalse(
          reasons.invalidAnnotation,
          `the name ${fqdn} cannot be written · it does not lie in the zone ${nameOf(zone.id)} that the annotation names · name a zone of its domain`,
        ),
      );
    names.push(name);
  }
  const prune = pruned(seen, zone, names, addresses);
  if (addresses === undefined) {
    const held = seen.conditions.find(({ type }) => type === conditions.endpoint);
    // While a working endpoint is only being changed its names are as good as they were.
    const verdict = held?.status === "True" ? whileChanging(seen) : namesPending(seen);
    return { steps: prune, verdict };
  }
  const parts = names.flatMap((name) =>
    families(addresses).map(({ type, values }) => planRecord(seen, zone, type, name, values)),
  );
  return joined([...parts, { steps: prune, verdict: undefined }]);
}

function planRecord(
  seen: Seen,
  zone: ZoneSeen,
  type: "A" | "AAAA",
  name: string,
  values: string[],
): Part {
  const id = recordId(zone.id, type, name);
  const look = zone.records.find((each) => sameId(each.id, id))?.look ?? { state: "absent" };
  if (look.state === "failed")
    return rest(isFalse(failures(zone.role).record, look.failure.message), {
      waitMs: look.failure.requeueAfterMs ?? 30_000,
    });
  if (look.state === "changing") return rest(whileChanging(seen), { waitMs: look.retryAfterMs });
  const found = look.state === "there" ? look.resource : undefined;
  if (found !== undefined) {
    const use = useOf(seen, zone, found, values);
    if (use === "left") return rest(undefined);
    if (use === "another") return another(seen, id, found);
    if (use === "ours" && isRight(found, values)) return rest(undefined);
  }
  const properties = {
    ttl: ttlSeconds,
    metadata: ownedMetadata(found?.properties.metadata, seen),
    ...(type === "A"
      ? { aRecords: values.map((ipv4Address) => ({ ipv4Address })) }
      : { aaaaRecords: values.map((ipv6Address) => ({ ipv6Address })) }),
  };
  const step: EndpointStep = {
    on: "record",
    do: "write name",
    id,
    body: { properties },
    ...(found === undefined ? { ifNoneMatch: "*" } : { ifMatch: found.etag }),
    why: `${name}.${nameOf(zone.id)} ${found === undefined ? "leads nowhere" : "is not as it should be"}`,
    condition,
    failsAs: failures(zone.role).record,
  };
  return { steps: [step], verdict: namesPending(seen) };
}

function useOf(
  seen: Seen,
  zone: ZoneSeen,
  found: PrivateRecordSet,
  values: readonly string[],
): "ours" | "taken over" | "left" | "another" {
  const { metadata, isAutoRegistered } = found.properties;
  if (isAutoRegistered) return "another";
  if (isOurs(metadata, seen.us)) return "ours";
  const whose = ownerIn(metadata);
  const sibling = seen.siblings.find(({ uid }) => uid === whose?.uid);
  if (sibling !== undefined) {
    // What the router holds of the OAuth server is only kept for the link that comes after it.
    if (!sibling.lives || sibling.name === privateRouter) return "taken over";
    return "left";
  }
  // An earlier object of our own cluster left it.
  if (whose !== undefined && whose.clusterID === seen.us.clusterID) return "taken over";
  const nobodys = Object.keys(metadata ?? {}).length === 0;
  if (nobodys && isPublished(seen, zone) && isRight(found, values)) return "taken over";
  return "another";
}

function another(seen: Seen, id: ResourceId, found: PrivateRecordSet): Part {
  const is = ownership(found.properties.metadata, owner(seen));
  const whose = is.is === "another" ? is.whose : "somebody who has not marked it as ours";
  return rest(
    isFalse(
      reasons.ownedByAnother,
      `the name ${nameOf(id)} is not written · the record set belongs to ${whose} · remove it, or use another domain`,
    ),
  );
}

/** Record sets of ours that nothing wants any more. */
function pruned(
  seen: Seen,
  zone: ZoneSeen,
  names: readonly string[],
  addresses: readonly string[] | undefined,
): EndpointStep[] {
  const kept = new Set(names);
  const { cluster, object } = seen;
  const { baseDomain } = object.spec;
  // Until the link that it is meant for has taken it over.
  if (cluster && baseDomain && seen.siblings.some((each) => takesOAuth(each, baseDomain)))
    kept.add(nameInZone(`oauth-${cluster.name}.${baseDomain}`, zone.id) ?? "");
  const types = addresses === undefined ? ["A", "AAAA"] : families(addresses).map((f) => f.type);
  return foundRecords(zone)
    .filter(({ found }) => isOurs(found.properties.metadata, seen.us))
    .filter(
      ({ id }) => !(kept.has(nameOf(id).toLowerCase()) && types.some((t) => t === recordType(id))),
    )
    .map((record) => removeRecord(record, "it is not wanted any more"));
}

/** The step that removes a record set of ours. */
export function removeRecord({ id, found }: FoundRecord, why: string): EndpointStep {
  return {
    on: "record",
    do: "remove name",
    id,
    ifMatch: found.etag,
    why: `the name ${nameOf(id)} goes: ${why}`,
    condition,
  };
}

function families(addresses: readonly string[]): { type: "A" | "AAAA"; values: string[] }[] {
  const v4 = addresses.filter((each) => isIp(each, 4));
  const v6 = addresses.filter((each) => isIp(each, 6)).map((each) => formatIp(parseIp(each)));
  return [
    ...(v4.length > 0 ? [{ type: "A" as const, values: v4 }] : []),
    ...(v6.length > 0 ? [{ type: "AAAA" as const, values: v6 }] : []),
  ];
}

function isRight({ properties }: PrivateRecordSet, values: readonly string[]): boolean {
  const found = [
    ...(properties.aRecords ?? []).map((each) => each.ipv4Address),
    ...(properties.aaaaRecords ?? []).map((each) => each.ipv6Address),
  ];
  const plain = (all: readonly string[]) =>
    all
      .map((each) => (isIp(each) ? formatIp(parseIp(each)) : idKey(each)))
      .sort()
      .join();
  return properties.ttl === ttlSeconds && plain(found) === plain(values);
}
