import type { ArmView } from "../../azure/arm.ts";
import type { Look } from "../../azure/gateway.ts";
import {
  privateDnsZones,
  privateRecordSets,
  virtualNetworkLinks,
} from "../../azure/gateways/private-dns.ts";
import { dnsRecordSets, dnsZones } from "../../azure/gateways/public-dns.ts";
import { type Failure, isExplained } from "../../model/failure.ts";
import {
  idKey,
  nameOf,
  parentOf,
  parseResourceId,
  type ResourceId,
} from "../../model/resource-id.ts";
import { fromPrivate, fromPublic } from "./record-form.ts";
import type { ZoneFound, ZoneSeen } from "./seen.ts";

/** How a pass looks: how old a sighting may be, and whether it only checks for drift. */
export interface Looking {
  maxAgeMs: number;
  drift: boolean;
}

/** Which zone to look at. Links and record sets that may be under way though no list tells of them are named. */
export interface ZoneAsked {
  role: ZoneSeen["role"];
  id: ResourceId;
  links?: readonly ResourceId[];
  /** Only the record sets of this name, and those below it, are of interest. */
  only?: string;
}

/** While the counts of a zone are right, what is in it is read whole this often. */
const countedAgeMs = 30 * 60_000;

/** What a read gave, or why there was none. What passes by itself is thrown on: the next pass reads again. */
export async function unlessRefused<T>(read: () => Promise<T>): Promise<T | { refused: Failure }> {
  try {
    return await read();
  } catch (error) {
    const failure = isExplained(error) ? error.explain() : undefined;
    if (failure === undefined || failure.passing) throw error;
    return { refused: failure };
  }
}

/** Look at a zone and at what is in it. */
export async function seeZone(asked: ZoneAsked, arm: ArmView, looking: Looking): Promise<ZoneSeen> {
  const { role, id } = asked;
  const empty = { role, id, links: [], records: [] } as const;
  const isPublic = role === "public" || role === "base";
  const seen = await unlessRefused(() =>
    isPublic ? seePublic(asked, arm, looking) : seePrivate(asked, arm, looking),
  );
  return "refused" in seen
    ? { ...empty, look: { state: "absent" }, unread: seen.refused }
    : { ...empty, ...seen };
}

type Inside = Pick<ZoneSeen, "look"> & Partial<Pick<ZoneSeen, "links" | "records">>;

async function seePublic({ id, only }: ZoneAsked, arm: ArmView, looking: Looking): Promise<Inside> {
  const zone = await dnsZones(arm).look(id, looking.maxAgeMs);
  const look = through(zone, ({ tags = {}, etag, properties }): ZoneFound => {
    return { tags, etag, nameServers: properties.nameServers ?? [] };
  });
  if (zone.state !== "there") return { look };
  const gateway = dnsRecordSets(arm);
  const count = zone.resource.properties.numberOfRecordSets;
  const age = await ageOf(() => gateway.list(id, ever), count, looking);
  const listed = await gateway.list(id, age);
  const wanted = only === undefined ? listed : listed.filter((each) => isCalled(each, only));
  return { look, records: await lookAtAll(gateway, wanted, [], age, fromPublic) };
}

async function seePrivate(
  { id, links = [] }: ZoneAsked,
  arm: ArmView,
  looking: Looking,
): Promise<Inside> {
  const zones = privateDnsZones(arm);
  // One list serves all clusters whose zones are in this group, and tells of those that are still to be made.
  await zones.list(parentOf(id) ?? id, looking.maxAgeMs);
  const zone = await zones.look(id, looking.maxAgeMs);
  const look = through(zone, ({ tags = {}, etag }): ZoneFound => ({ tags, etag, nameServers: [] }));
  if (zone.state !== "there") return { look };
  const { numberOfRecordSets, numberOfVirtualNetworkLinks } = zone.resource.properties;
  const networks = virtualNetworkLinks(arm);
  const names = privateRecordSets(arm);
  const [linkAge, recordAge] = await Promise.all([
    ageOf(() => networks.list(id, ever), numberOfVirtualNetworkLinks, looking),
    ageOf(() => names.list(id, ever), numberOfRecordSets, looking),
  ]);
  const [linked, records] = await Promise.all([
    networks.list(id, linkAge).then((all) => lookAtAll(networks, all, links, linkAge, same)),
    names.list(id, recordAge).then((all) => lookAtAll(names, all, [], recordAge, fromPrivate)),
  ]);
  const failed = linked.filter((each) => each.look.state === "failed");
  if (failed.length === 0) return { look, links: linked, records };
  // Azure may have refused it because another link leads to the same network already: the list tells.
  const fresh = await lookAtAll(networks, await networks.list(id, 0), [], looking.maxAgeMs, same);
  const others = fresh.filter((each) => !failed.some((one) => idKey(one.id) === idKey(each.id)));
  return { look, links: [...failed, ...others], records };
}

const ever = Number.POSITIVE_INFINITY;
const same = <T>(each: T): T => each;

/** How old what is known of the inside of a zone may be: in a drift check, older if the count is right. */
async function ageOf(
  known: () => Promise<readonly unknown[]>,
  count: number | undefined,
  { drift, maxAgeMs }: Looking,
): Promise<number> {
  if (!drift) return maxAgeMs;
  const right = count !== undefined && (await known()).length === count;
  return right ? countedAgeMs : maxAgeMs;
}

/** Everything listed and everything that may be under way, each once, with what is going on. */
async function lookAtAll<T extends { id?: string }, U>(
  gateway: { look(id: string, maxAgeMs: number): Promise<Look<T>> },
  listed: readonly T[],
  also: readonly ResourceId[],
  maxAgeMs: number,
  form: (found: T) => U,
): Promise<{ id: ResourceId; look: Look<U> }[]> {
  const ids = new Map<string, ResourceId>();
  for (const { id } of listed) if (id !== undefined) ids.set(idKey(id), parseResourceId(id));
  for (const id of also) ids.set(idKey(id), id);
  return Promise.all(
    [...ids.values()].map(async (id) => ({
      id,
      look: through(await gateway.look(id, maxAgeMs), form),
    })),
  );
}

function through<T, U>(look: Look<T>, form: (found: T) => U): Look<U> {
  return look.state === "there" ? { state: "there", resource: form(look.resource) } : look;
}

function isCalled({ id }: { id?: string }, name: string): boolean {
  const called = id === undefined ? "" : nameOf(parseResourceId(id)).toLowerCase();
  return called === name.toLowerCase() || called.endsWith(`.${name.toLowerCase()}`);
}
