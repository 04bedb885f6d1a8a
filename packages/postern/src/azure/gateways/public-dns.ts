import type { ArmClient } from "../arm.ts";
import {
  type ArmResource,
  type Reference,
  type ResourceGateway,
  resourceGateway,
} from "../gateway.ts";
import { apiVersions } from "./api-versions.ts";

const apiVersion = apiVersions.publicDns;

/** A public DNS zone. Its location is `global`. */
export type DnsZone = ArmResource<{
  /** Given by Azure, for the delegation in the zone above. */
  nameServers?: string[];
  numberOfRecordSets?: number;
  zoneType?: "Public" | "Private";
}>;

/** The records of one name and type. Unlike private zones, public ones spell the types in capitals. */
export type DnsRecordSet = ArmResource<{
  TTL?: number;
  metadata?: Record<string, string>;
  fqdn?: string;
  provisioningState?: string;
  targetResource?: Partial<Reference>;
  ARecords?: { ipv4Address: string }[];
  AAAARecords?: { ipv6Address: string }[];
  CNAMERecord?: { cname: string };
  NSRecords?: { nsdname: string }[];
  TXTRecords?: { value: string[] }[];
}>;

/** Public DNS zones, in a resource group or a subscription. */
export function dnsZones(arm: ArmClient): ResourceGateway<DnsZone> {
  return resourceGateway(arm, { apiVersion, collection: "providers/Microsoft.Network/dnsZones" });
}

/** The record sets of a public zone, of all types; an id ends in `/A/api` or `/NS/cluster`. */
export function dnsRecordSets(arm: ArmClient): ResourceGateway<DnsRecordSet> {
  return resourceGateway(arm, { apiVersion, collection: "recordsets" });
}
