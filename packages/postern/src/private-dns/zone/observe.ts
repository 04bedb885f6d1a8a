import { provisioningStateIn } from "@postern/core/provisioning.ts";
import {
  idKey,
  nameOf,
  parentOf,
  parseResourceId,
  type ResourceId,
} from "@postern/core/resource-id.ts";
import type { ArmClient } from "../../azure/arm.ts";
import type { ArmResource, Observation, ResourceGateway } from "../../azure/gateway.ts";
import {
  type PrivateDnsZone,
  privateDnsZones,
  privateRecordSets,
  virtualNetworkLinks,
} from "../../azure/gateways/private-dns.ts";
import { type DnsZone, dnsRecordSets, dnsZones } from "../../azure/gateways/public-dns.ts";
import type { Reconcile } from "../../kube/reconcile.ts";
import { tryRead } from "../../kube/try-read.ts";
import { type ObservedLink, observeLink } from "../links/observed.ts";
import { fromPrivate, fromPublic, type ObservedRecord } from "../records/observed.ts";
import { isPublicZone, type ObservedZone, type Zone } from "./observed.ts";

/** How a reconcile reads zones. */
export interface ZoneReads {
  reconcile: Pick<Reconcile, "failedReads">;
  /** How old an observation may be. */
  maxAgeMs: number;
  /** It only checks for drift: what is in a zone need not be read while the counts of the zone are right. */
  drift: boolean;
  /** How old what is in a zone may be then. */
  countedAgeMs: number;
  /** Whether it is read all the same now: a count stays right when a link fails, or a record set changes. */
  isDue(what: "links" | "records", zone: ResourceId, arm: ArmClient): boolean;
  /** A zone whose counts say that it is empty is not listed. */
  trustsEmptyCounts?: true;
}

/** Which zone to read. Links and record sets that are of interest though no list may tell of them are named. */
export interface ZoneQuery {
  id: ResourceId;
  links?: readonly ResourceId[];
  records?: readonly ResourceId[];
  /** Only the record sets of this name, and those below it, are of interest. */
  only?: string;
}

/** A list is as new as it must be, and the least role does not allow to read single record sets. */
const listedMs = 60_000;
const ever = Number.POSITIVE_INFINITY;
/** Zones are not listed more often than this for drift: their contents need reads, too. */
const zonesListedMs = 30_000;
/** A zone that is shared by all clusters, such as that of their base domain, is read less often. */
const sharedZoneMs = 60_000;

/** Read a zone and what is in it. */
export async function observeZone(
  query: ZoneQuery,
  arm: ArmClient,
  reads: ZoneReads,
): Promise<ObservedZone> {
  const { id } = query;
  const isPublic = isPublicZone(id);
  const zone = await tryRead<Observation<DnsZone | PrivateDnsZone>>(reads.reconcile, () =>
    isPublic
      ? observeItself<DnsZone>(query, dnsZones(arm), arm, reads)
      : observeItself<PrivateDnsZone>(query, privateDnsZones(arm), arm, reads),
  );
  if ("failed" in zone) return unreadZone(id, { on: "zone", failure: zone.failed });
  const observation = mapObservation(zone, zoneFrom);
  const empty: ObservedZone = { id, observation, links: [], records: [] };
  if (zone.state !== "exists") return empty;
  const found = zone.resource;
  if (reads.trustsEmptyCounts) await learnEmptyLists(id, found.properties, arm);
  const [links, records] = await Promise.all([
    isPublic ? [] : tryRead(reads.reconcile, () => observeLinks(query, found, arm, reads)),
    tryRead(reads.reconcile, () => observeRecords(query, found, arm, reads)),
  ]);
  if ("failed" in links) return { ...empty, unread: { on: "link", failure: links.failed } };
  if ("failed" in records)
    return { ...empty, links, unread: { on: "record", failure: records.failed } };
  return { id, observation, links, records };
}

/** Azure allows few reads of DNS, and one list of zones shows what is missing in all of them. */
async function observeItself<T extends ArmResource>(
  { id, only }: ZoneQuery,
  gateway: ResourceGateway<T>,
  arm: ArmClient,
  { drift, maxAgeMs }: ZoneReads,
): Promise<Observation<T>> {
  const group = parentOf(id);
  if (!drift || group === undefined) return gateway.observe(id, maxAgeMs);
  // The least role for a zone that all clusters share is on that zone alone, and does not list.
  if (only !== undefined) return gateway.observe(id, sharedZoneAgeMs(id, arm, maxAgeMs));
  const ageMs = zonesAgeMs(group, arm, maxAgeMs, isPublicZone(id) ? "dnsZones" : undefined);
  await gateway.list(group, ageMs);
  return gateway.observe(id, ageMs);
}

function sharedZoneAgeMs(zone: ResourceId, arm: ArmClient, maxAgeMs: number): number {
  const ageMs = Math.max(maxAgeMs, sharedZoneMs);
  const collection = zone.slice(0, zone.lastIndexOf("/"));
  const isRecent = arm.readCache.of(collection, zone, ageMs) !== undefined;
  return isRecent || arm.takeSpareDnsRead(zone, { of: "zones", key: idKey(zone) }) ? ageMs : ever;
}

/**
 * How old what is known of the zones of a resource group may be when drift is checked: what was observed before is good enough,
 * unless a read is spare.
 */
export function zonesAgeMs(
  group: ResourceId,
  arm: ArmClient,
  maxAgeMs: number,
  type: "privateDnsZones" | "dnsZones" = "privateDnsZones",
): number {
  const ageMs = Math.max(maxAgeMs, zonesListedMs);
  const zones = `${group}/providers/Microsoft.Network/${type}`;
  const read = { of: "zones", key: idKey(zones) } as const;
  return arm.readCache.isListed(zones, ageMs) || arm.takeSpareDnsRead(group, read) ? ageMs : ever;
}

/** A link changes rarely without a change of its zone's counts: where Azure fails it later, or somebody replaces its tags. */
const linksEveryMs = 5 * 60_000;

/** Whether the links or record sets of a zone are read for drift although its counts are right: where a DNS read is spare. */
export function isDueByBudget(
  what: "links" | "records",
  zone: ResourceId,
  arm: ArmClient,
): boolean {
  const everyMs = what === "links" ? linksEveryMs : 0;
  return arm.takeSpareDnsRead(zone, { of: "contents", key: `${idKey(zone)} ${what}`, everyMs });
}

/** A zone of which nothing is known. */
export function unreadZone(
  id: ResourceId,
  unread: NonNullable<ObservedZone["unread"]>,
): ObservedZone {
  return { id, observation: { state: "absent" }, links: [], records: [], unread };
}

function zoneFrom(found: DnsZone | PrivateDnsZone): Zone {
  const { tags = {}, etag, properties } = found;
  const nameServers = ("nameServers" in properties && properties.nameServers) || [];
  const { numberOfRecordSets: recordSets } = properties;
  return { tags, etag, nameServers, recordSets, provisioningState: provisioningStateIn(found) };
}

interface Counts {
  numberOfRecordSets?: number;
  numberOfVirtualNetworkLinks?: number;
}

/** A zone that has just been seen without links, or with nothing but its SOA record, need not be listed. */
async function learnEmptyLists(id: ResourceId, counts: Counts, { readCache }: ArmClient) {
  // Only where nothing is known yet: the counts are as old as the sighting of the zone.
  const list = `${parentOf(id)}/providers/Microsoft.Network/privateDnsZones`;
  if (readCache.of(list, id, listedMs) === undefined) return;
  if (counts.numberOfVirtualNetworkLinks === 0)
    await readCache.list(`${id}/virtualNetworkLinks`, ever, async () => []);
  if (counts.numberOfRecordSets === 1)
    await readCache.list(`${id}/ALL`, ever, async () => [{ id: `${id}/SOA/@`, properties: {} }]);
}

/** How old what is known of a zone's links or record sets may be. */
async function ageOf(
  known: () => Promise<readonly unknown[]>,
  count: number | undefined,
  isDue: () => boolean,
  { drift, maxAgeMs, countedAgeMs }: ZoneReads,
): Promise<number> {
  if (!drift) return maxAgeMs;
  if (count === undefined || (await known()).length !== count) return maxAgeMs;
  return isDue() ? 0 : countedAgeMs;
}

async function observeLinks(
  { id, links = [] }: ZoneQuery,
  { properties }: PrivateDnsZone,
  arm: ArmClient,
  reads: ZoneReads,
): Promise<ObservedLink[]> {
  const gateway = virtualNetworkLinks(arm);
  const age = await ageOf(
    () => gateway.list(id, ever),
    properties.numberOfVirtualNetworkLinks,
    () => reads.isDue("links", id, arm),
    reads,
  );
  const observe = (one: string, maxAgeMs: number) => observeLink(gateway, one, maxAgeMs);
  // What was listed right now is not read again one by one.
  const eachAgeMs = age === 0 ? listedMs : age;
  const observed = await observeAll({ observe }, await gateway.list(id, age), links, eachAgeMs);
  const failed = observed.filter((each) => each.observation.state === "failed");
  if (failed.length === 0) return observed;
  // Azure may have refused it because another link leads to the same network already: whatever it answered, the list tells.
  const fresh = await observeAll(gateway, await gateway.list(id, 0), [], listedMs);
  const otherLinks = fresh.filter(
    (each) => !failed.some((one) => idKey(one.id) === idKey(each.id)),
  );
  return [...failed, ...otherLinks];
}

async function observeRecords(
  { id, records = [], only }: ZoneQuery,
  { properties }: { properties: Counts },
  arm: ArmClient,
  reads: ZoneReads,
): Promise<ObservedRecord[]> {
  const readAll = async <T extends { id?: string }>(
    gateway: Lister<T>,
    form: (found: T) => ReturnType<typeof fromPrivate>,
  ) => {
    const known = () => gateway.list(id, ever);
    const isDue = () => reads.isDue("records", id, arm);
    const age = await ageOf(known, properties.numberOfRecordSets, isDue, reads);
    const listed = await gateway.list(id, age);
    const included = only === undefined ? listed : listed.filter((each) => isNamed(each, only));
    const observations = await observeAll(gateway, included, records, Math.max(age, listedMs));
    return observations.map((each) => ({
      id: each.id,
      observation: mapObservation(each.observation, form),
    }));
  };
  return isPublicZone(id)
    ? readAll(dnsRecordSets(arm), fromPublic)
    : readAll(privateRecordSets(arm), fromPrivate);
}

interface Lister<T> {
  list(scope: string, maxAgeMs: number): Promise<T[]>;
  observe(id: string, maxAgeMs: number): Promise<Observation<T>>;
}

/** Everything listed and everything that is of interest beside it, each once. */
async function observeAll<T extends { id?: string }>(
  gateway: Pick<Lister<T>, "observe">,
  listed: readonly T[],
  also: readonly ResourceId[],
  maxAgeMs: number,
): Promise<{ id: ResourceId; observation: Observation<T> }[]> {
  const ids = new Map<string, ResourceId>();
  for (const { id } of listed) if (id !== undefined) ids.set(idKey(id), parseResourceId(id));
  for (const id of also) ids.set(idKey(id), id);
  return Promise.all(
    [...ids.values()].map(async (id) => ({ id, observation: await gateway.observe(id, maxAgeMs) })),
  );
}

function mapObservation<T, U>(observation: Observation<T>, form: (found: T) => U): Observation<U> {
  return observation.state === "exists"
    ? { state: "exists", resource: form(observation.resource) }
    : observation;
}

function isNamed({ id }: { id?: string }, name: string): boolean {
  const called = id === undefined ? "" : nameOf(parseResourceId(id)).toLowerCase();
  return called === name.toLowerCase() || called.endsWith(`.${name.toLowerCase()}`);
}
