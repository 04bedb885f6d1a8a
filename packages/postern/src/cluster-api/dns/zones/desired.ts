import { type ResourceId, resourceIn } from "@postern/core/resource-id.ts";
import {
  addressRecords,
  type DesiredRecords,
  ttlSeconds,
} from "../../../private-dns/records/desired.ts";
import { isClaimed } from "../../../private-dns/user.ts";
import type { ManagementLink } from "../../names.ts";
import type { Addresses, Observed, ZoneInRole } from "../observed.ts";
import { isOwned, isReleasedToUs, userOf } from "./owner.ts";

const delegationTtlSeconds = 3600;

const apiNames = ["api", "apiserver"];
/** The second is from when there could be several. */
const bastionNames = ["bastion", "bastion1"];
export const wildcard = "*";
/** Where a wildcard leads if nobody says otherwise. */
export const usualTarget = "ingress";

export interface Desired {
  records: readonly DesiredRecords[];
  /** Of these names it is not known what they should be: what is there stays. */
  unknown: (name: string) => boolean;
  /** An annotation that names no target for a wildcard. */
  badTarget?: string;
}

/** The id of a zone in a resource group. */
export function zoneIn(group: ResourceId, role: ZoneInRole["role"], name: string): ResourceId {
  const type = role === "public" || role === "base" ? "dnsZones" : "privateDnsZones";
  return resourceIn(group, `Microsoft.Network/${type}`, name.toLowerCase());
}

/** The zone that is the cluster's own: the one it has, wherever that is, else the one it is to have. */
export function publicZone(observed: Observed): ZoneInRole | undefined {
  const zones = observed.zones.filter(({ role }) => role === "public");
  const there = zones.filter(({ observation, unread }) => observation.state !== "absent" || unread);
  const owned = there.find(
    ({ observation }) =>
      observation.state === "exists" && isClaimed(observation.resource.tags, userOf(observed)),
  );
  return owned ?? there[0] ?? zones.find(({ id }) => id === observed.publicZoneId);
}

/** Everything that a zone should hold of ours. */
export function desiredIn(observed: Observed, zone: ZoneInRole): Desired {
  switch (zone.role) {
    case "base":
      return delegation(observed);
    case "public":
      return withWildcard(observed, zone, observed.wildcards.cluster, ownNames(observed));
    case "toWorkload":
      return withWildcard(
        observed,
        zone,
        observed.wildcards.cluster,
        named(apiNames, observed.toWorkload),
      );
    case "toManagement":
      return withWildcard(observed, zone, observed.wildcards.management, managementNames(observed));
  }
}

/**
 * What is delegated is a zone with our claim: that proves that the identity of the cluster may write it, and the delegation
 * is written by the operator's own. Where the zone is another cluster's, so is the delegation.
 */
function delegation(observed: Observed): Desired {
  const observation = publicZone(observed)?.observation;
  const values = observation?.state === "exists" ? observation.resource.nameServers : [];
  if (observation?.state !== "exists" || values.length === 0)
    return { records: [], unknown: () => true };
  if (!isClaimed(observation.resource.tags, userOf(observed))) {
    const unsettled = isReleasedToUs(observation.resource);
    return { records: [], unknown: () => unsettled };
  }
  const { name } = observed.cluster;
  return {
    records: [{ type: "NS", name, ttlSeconds: delegationTtlSeconds, values }],
    unknown: () => false,
  };
}

function ownNames(observed: Observed): Desired {
  const fixed = both(named(apiNames, observed.api), named(bastionNames, observed.bastion));
  const { services } = observed;
  if (services === undefined) {
    const known = new Set([...apiNames, ...bastionNames, wildcard]);
    return { ...fixed, unknown: (name) => fixed.unknown(name) || !known.has(name) };
  }
  const taken = new Set(fixed.records.map(({ name }) => name));
  const ofServices = services
    .filter(({ name }) => !taken.has(name))
    .flatMap(({ name, addresses }) => addressRecords(name, addresses));
  return { ...fixed, records: [...fixed.records, ...ofServices] };
}

/** The present name and the one before version 0.5, and whatever the wildcard leads to, so that it leads somewhere. */
function managementNames({ toManagement, wildcards }: Observed): Desired {
  const of = (link: ManagementLink): Addresses => toManagement[link] ?? { state: "none" };
  const ingress = of("ingress").state === "none" ? of("gateway") : of("ingress");
  const names: Desired[] = [named(["ingress"], ingress), named(["gateway"], of("gateway"))];
  const target = wildcards.management;
  if (target !== undefined && isName(target) && !["ingress", "gateway"].includes(target))
    names.push(named([target], ingress));
  return names.reduce(both);
}

/** The fixed names that may be written in a private zone; a public one also has those of Services. */
export function recordNames({ wildcards }: Observed, role: ZoneInRole["role"]): string[] {
  switch (role) {
    case "base":
      return [];
    case "public":
      return [...apiNames, ...bastionNames, wildcard];
    case "toWorkload":
      return [...apiNames, wildcard];
    case "toManagement":
      return ["ingress", "gateway", wildcards.management ?? usualTarget, wildcard];
  }
}

/** A wildcard whose target has no record in the zone would answer every name with a failure. */
function withWildcard(
  observed: Observed,
  zone: ZoneInRole,
  annotated: string | undefined,
  names: Desired,
): Desired {
  const target = (annotated ?? usualTarget).toLowerCase();
  if (!isName(target)) return { ...names, badTarget: target };
  const exists =
    names.records.some(({ name }) => name === target) ||
    zone.records.some(({ observation }) => {
      if (observation.state !== "exists" || observation.resource.name.toLowerCase() !== target)
        return false;
      const hasTarget = ["A", "AAAA", "CNAME"].includes(observation.resource.type);
      return (
        hasTarget && (!isOwned(observation.resource.metadata, observed) || names.unknown(target))
      );
    });
  if (!exists) return names;
  const zoneName = zone.id.slice(zone.id.lastIndexOf("/") + 1);
  const record = { type: "CNAME", name: wildcard, ttlSeconds, values: [`${target}.${zoneName}`] };
  return { ...names, records: [...names.records, record] };
}

function named(names: readonly string[], addresses: Addresses): Desired {
  if (addresses.state !== "known") {
    const unknown = addresses.state === "unknown";
    return { records: [], unknown: (name) => unknown && names.includes(name) };
  }
  return {
    records: names.flatMap((name) => addressRecords(name, addresses.values)),
    unknown: () => false,
  };
}

function both(a: Desired, b: Desired): Desired {
  return {
    records: [...a.records, ...b.records],
    unknown: (name) => a.unknown(name) || b.unknown(name),
  };
}

/** Whether a text can stand before the name of a zone. */
export function isName(text: string): boolean {
  const labels = text.split(".");
  return (
    text.length <= 200 &&
    labels.every((label) => /^[a-z0-9_]([-a-z0-9_]{0,61}[a-z0-9_])?$/i.test(label))
  );
}
