import type { ArmClient } from "../arm.ts";
import {
  type ArmResource,
  type Reference,
  type ResourceGateway,
  resourceGateway,
} from "../gateway.ts";
import { apiVersions } from "./api-versions.ts";

const apiVersion = apiVersions.privateDns;

/** A private DNS zone. Its location is `global`. */
export type PrivateDnsZone = ArmResource<{
  provisioningState?: string;
  numberOfRecordSets?: number;
  maxNumberOfRecordSets?: number;
  numberOfVirtualNetworkLinks?: number;
}>;

/** A link that lets a virtual network resolve a private zone. Azure answers its name in lower case. */
export type VirtualNetworkLink = ArmResource<{
  provisioningState?: string;
  virtualNetwork?: Reference;
  registrationEnabled?: boolean;
  virtualNetworkLinkState?: "InProgress" | "Completed";
}>;

/** The records of one name and type. Only the field of its type is set. */
export type PrivateRecordSet = ArmResource<{
  ttl?: number;
  metadata?: Record<string, string>;
  fqdn?: string;
  /** Made by the registration of virtual machines, and not ours to change. */
  isAutoRegistered?: boolean;
  aRecords?: { ipv4Address: string }[];
  aaaaRecords?: { ipv6Address: string }[];
  cnameRecord?: { cname: string };
  txtRecords?: { value: string[] }[];
  ptrRecords?: { ptrdname: string }[];
  mxRecords?: { preference: number; exchange: string }[];
  srvRecords?: { priority: number; weight: number; port: number; target: string }[];
  soaRecord?: { host?: string; email?: string; serialNumber?: number };
}>;

/** Private DNS zones, in a resource group or a subscription. */
export function privateDnsZones(arm: ArmClient): ResourceGateway<PrivateDnsZone> {
  return resourceGateway(arm, {
    apiVersion,
    collection: "providers/Microsoft.Network/privateDnsZones",
    listsWhole: true,
    scarceReads: true,
  });
}

/** The virtual network links of a private zone. */
export function virtualNetworkLinks(arm: ArmClient): ResourceGateway<VirtualNetworkLink> {
  return resourceGateway(arm, {
    apiVersion,
    collection: "virtualNetworkLinks",
    scarceReads: true,
  });
}

/** The record sets of a private zone, of all types; an id ends in `/A/api` or `/CNAME/www`. */
export function privateRecordSets(arm: ArmClient): ResourceGateway<PrivateRecordSet> {
  return resourceGateway(arm, { apiVersion, collection: "ALL" });
}
