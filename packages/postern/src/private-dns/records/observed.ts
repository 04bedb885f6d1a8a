import type { ResourceId } from "@postern/core/resource-id.ts";
import type { Observation } from "../../azure/gateway.ts";
import type { PrivateRecordSet } from "../../azure/gateways/private-dns.ts";
import type { DnsRecordSet } from "../../azure/gateways/public-dns.ts";

/** The record set of one name and type, in one form for public and private zones. */
export interface RecordSet {
  type: string;
  name: string;
  ttlSeconds: number | undefined;
  /** Addresses, targets or servers. Empty for types that are of no interest here. */
  values: readonly string[];
  metadata: Readonly<Record<string, string>>;
  /** Made by the registration of virtual machines. */
  registered?: boolean;
  etag?: string | undefined;
}

/** A record set that was looked at. */
export interface ObservedRecord {
  id: ResourceId;
  observation: Observation<RecordSet>;
}

/** A record set that exists. */
export interface FoundRecord {
  id: ResourceId;
  found: RecordSet;
}

/** The record sets of a zone that exist. */
export function foundRecords({ records }: { records: readonly ObservedRecord[] }): FoundRecord[] {
  return records.flatMap(({ id, observation }) =>
    observation.state === "exists" ? [{ id, found: observation.resource }] : [],
  );
}

/** A record set of a public zone, as we know both. */
export function fromPublic({ id = "", etag, properties }: DnsRecordSet): RecordSet {
  const { TTL, metadata, ARecords, AAAARecords, CNAMERecord, NSRecords, targetResource } =
    properties;
  return {
    ...placeOf(id),
    etag,
    ttlSeconds: TTL,
    metadata: metadata ?? {},
    values: [
      // An alias record leads to a resource of Azure and has no addresses of its own.
      ...(targetResource?.id ? [targetResource.id] : []),
      ...(ARecords ?? []).map(({ ipv4Address }) => ipv4Address),
      ...(AAAARecords ?? []).map(({ ipv6Address }) => ipv6Address),
      ...(CNAMERecord?.cname ? [CNAMERecord.cname] : []),
      ...(NSRecords ?? []).map(({ nsdname }) => nsdname),
    ],
  };
}

/** A record set for a public zone. */
export function toPublic({ type, ttlSeconds, metadata, values }: RecordSet): DnsRecordSet {
  const shared = { ...(ttlSeconds && { TTL: ttlSeconds }), metadata: { ...metadata } };
  const [first = ""] = values;
  switch (type) {
    case "A":
      return {
        properties: { ...shared, ARecords: values.map((ipv4Address) => ({ ipv4Address })) },
      };
    case "AAAA":
      return {
        properties: { ...shared, AAAARecords: values.map((ipv6Address) => ({ ipv6Address })) },
      };
    case "NS":
      return { properties: { ...shared, NSRecords: values.map((nsdname) => ({ nsdname })) } };
    default:
      return { properties: { ...shared, CNAMERecord: { cname: first } } };
  }
}

/** A record set of a private zone, as we know both. */
export function fromPrivate({ id = "", etag, properties }: PrivateRecordSet): RecordSet {
  const { ttl, metadata, aRecords, aaaaRecords, cnameRecord, isAutoRegistered } = properties;
  return {
    ...placeOf(id),
    etag,
    ttlSeconds: ttl,
    metadata: metadata ?? {},
    ...(isAutoRegistered && { registered: true }),
    values: [
      ...(aRecords ?? []).map(({ ipv4Address }) => ipv4Address),
      ...(aaaaRecords ?? []).map(({ ipv6Address }) => ipv6Address),
      ...(cnameRecord?.cname ? [cnameRecord.cname] : []),
    ],
  };
}

/** A record set for a private zone. */
export function toPrivate({ type, ttlSeconds, metadata, values }: RecordSet): PrivateRecordSet {
  const shared = { ...(ttlSeconds && { ttl: ttlSeconds }), metadata: { ...metadata } };
  const [first = ""] = values;
  switch (type) {
    case "A":
      return {
        properties: { ...shared, aRecords: values.map((ipv4Address) => ({ ipv4Address })) },
      };
    case "AAAA":
      return {
        properties: { ...shared, aaaaRecords: values.map((ipv6Address) => ({ ipv6Address })) },
      };
    default:
      return { properties: { ...shared, cnameRecord: { cname: first } } };
  }
}

/** An id ends in the type and the name: `/A/api`. */
function placeOf(id: string): Pick<RecordSet, "type" | "name"> {
  const [type = "", name = ""] = id.split("/").slice(-2);
  return { type: type.toUpperCase(), name };
}
