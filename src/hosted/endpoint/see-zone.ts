import type { ArmView } from "../../azure/arm.ts";
import type { Look } from "../../azure/gateway.ts";
import {
  type PrivateDnsZone,
  privateDnsZones,
  privateRecordSets,
  type VirtualNetworkLink,
  virtualNetworkLinks,
} from "../../azure/gateways/private-dns.ts";
import { type Failure, isExplained } from "../../model/failure.ts";
import { idKey, parentOf, parseResourceId, type ResourceId } from "../../model/resource-id.ts";
import type { ZoneSeen } from "./seen.ts";
import type { ZoneTurns } from "./zone-turns.ts";

/** How a pass looks: how old a sighting may be, and whether it only checks for drift. */
export interface Looking {
  arm: ArmView;
  maxAgeMs: number;
  drift: boolean;
  now: number;
  turns: ZoneTurns;
}

/** Which zone to look at, and which links and record sets in it are of interest though they may not exist. */
export interface ZoneAsked {
  role: ZoneSeen["role"];
  id: ResourceId;
  managed: boolean;
  wanted: boolean;
  links: readonly ResourceId[];
  records: readonly ResourceId[];
}

/** Counts of a zone that were seen this long ago still say that it is empty. */
const freshMs = 60_000;
/** A link that does not resolve yet is read anew, but not by every pass that something else causes. */
const comingMs = 5_000;

/** What a read gave, or why there was none. What passes by itself is thrown on: the next pass reads again. */
export async function unlessRefused<T>(read: Promise<T>): Promise<T | { refused: Failure }> {
  try {
    return await read;
  } catch (error) {
    const failure = isExplained(error) ? error.explain() : undefined;
    if (failure === undefined || failure.passing) throw error;
    return { refused: failure };
  }
}

/** Look at a zone and at what is in it. */
export async function seeZone(asked: ZoneAsked, looking: Looking): Promise<ZoneSeen> {
  const { links: linkIds, records: recordIds, ...zone } = asked;
  const none = { links: [], records: [] } as const;
  const absent = { state: "absent" } as const;
  const look = await unlessRefused(privateDnsZones(looking.arm).look(zone.id, looking.maxAgeMs));
  if ("refused" in look)
    return { ...zone, ...none, look: absent, unread: { on: "zone", failure: look.refused } };
  if (look.state !== "there") return { ...zone, ...none, look };
  await knowEmpty(zone.id, look.resource, looking);
  const turn = lazy(() => looking.turns.take(looking.arm.sightings, looking.now));
  const [links, records] = await Promise.all([
    unlessRefused(seeLinks(zone.id, look.resource, linkIds, turn, looking)),
    unlessRefused(seeRecords(zone.id, look.resource, recordIds, turn, looking)),
  ]);
  if ("refused" in links)
    return { ...zone, ...none, look, unread: { on: "link", failure: links.refused } };
  if ("refused" in records)
    return {
      ...zone,
      look,
      links,
      records: [],
      unread: { on: "record", failure: records.refused },
    };
  return { ...zone, look, links, records };
}

/** A zone that has just been seen without links, or with nothing but its SOA record, need not be listed. */
async function knowEmpty(id: ResourceId, zone: PrivateDnsZone, { arm }: Looking) {
  const { sightings } = arm;
  // Only where nothing is known yet: the counts are as old as the sighting of the zone.
  const ever = Number.POSITIVE_INFINITY;
  const list = `${parentOf(id)}/providers/Microsoft.Network/privateDnsZones`;
  if (sightings.of(list, id, freshMs) === undefined) return;
  const { numberOfVirtualNetworkLinks, numberOfRecordSets } = zone.properties;
  if (numberOfVirtualNetworkLinks === 0)
    await sightings.list(`${id}/virtualNetworkLinks`, ever, async () => []);
  if (numberOfRecordSets === 1)
    await sightings.list(`${id}/ALL`, ever, async () => [{ id: `${id}/SOA/@`, properties: {} }]);
}

/** How old what is known of a zone's children may be: in a drift check any age, if the count is right. */
async function ageOf(
  known: () => Promise<readonly unknown[]>,
  count: number | undefined,
  turn: () => boolean,
  { drift, maxAgeMs }: Looking,
): Promise<number> {
  if (!drift) return maxAgeMs;
  if (count === undefined || (await known()).length !== count) return maxAgeMs;
  return turn() ? maxAgeMs : Number.POSITIVE_INFINITY;
}

async function seeLinks(
  id: ResourceId,
  zone: PrivateDnsZone,
  wanted: readonly ResourceId[],
  turn: () => boolean,
  looking: Looking,
) {
  const gateway = virtualNetworkLinks(looking.arm);
  const count = zone.properties.numberOfVirtualNetworkLinks;
  const known = () => gateway.list(id, Number.POSITIVE_INFINITY);
  const age = await ageOf(known, count, turn, looking);
  const seen = await Promise.all(
    (await lookAtAll(gateway, await gateway.list(id, age), wanted, age)).map(async (each) =>
      isComing(each.look) ? { ...each, look: await gateway.look(each.id, comingMs) } : each,
    ),
  );
  if (!seen.some(({ look }) => look.state === "failed")) return seen;
  // A link that Azure refused may be refused because another leads to the same network: whatever it answered, the
  // list tells.
  const failed = seen.filter(({ look }) => look.state === "failed");
  const listed = await lookAtAll(gateway, await gateway.list(id, 0), [], freshMs);
  const others = listed.filter((each) => !failed.some((one) => idKey(one.id) === idKey(each.id)));
  return [...failed, ...others];
}

/** Azure is done with writing it, and it does not resolve yet: nothing else tells when it does. */
function isComing(look: Look<VirtualNetworkLink>): boolean {
  return (
    look.state === "there" && look.resource.properties.virtualNetworkLinkState === "InProgress"
  );
}

async function seeRecords(
  id: ResourceId,
  zone: PrivateDnsZone,
  wanted: readonly ResourceId[],
  turn: () => boolean,
  looking: Looking,
) {
  const gateway = privateRecordSets(looking.arm);
  const known = () => gateway.list(id, Number.POSITIVE_INFINITY);
  const age = await ageOf(known, zone.properties.numberOfRecordSets, turn, looking);
  return lookAtAll(gateway, await gateway.list(id, age), wanted, age);
}

/** Everything listed and everything wanted, each once, with what is going on. */
async function lookAtAll<T extends { id?: string }>(
  gateway: { look(id: string, maxAgeMs: number): Promise<Look<T>> },
  listed: readonly T[],
  wanted: readonly ResourceId[],
  maxAgeMs: number,
): Promise<{ id: ResourceId; look: Look<T> }[]> {
  const ids = new Map<string, ResourceId>();
  for (const { id } of listed) if (id !== undefined) ids.set(idKey(id), parseResourceId(id));
  for (const id of wanted) ids.set(idKey(id), id);
  return Promise.all(
    [...ids.values()].map(async (id) => ({ id, look: await gateway.look(id, maxAgeMs) })),
  );
}

function lazy(make: () => boolean): () => boolean {
  let made: boolean | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
