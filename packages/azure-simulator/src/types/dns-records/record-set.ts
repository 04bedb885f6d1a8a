import type { Address } from "../../arm/address.ts";
import { isObject } from "../../arm/fields.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { Writing } from "../../arm/resource-type.ts";
import type { Json, JsonObject, Resource, Store } from "../../state/store.ts";
import {
  badRequest,
  fieldOf,
  isDomain,
  type RecordKind,
  type RecordType,
  readRecord,
  recordFields,
} from "./record-kinds.ts";

/** How a provider writes record sets down. */
export interface Spelling {
  ttl: "ttl" | "TTL";
  field: "field" | "publicField";
  /** How many records a set may hold. */
  most: number;
  /** How many sets a zone may hold. */
  mostSets: number;
  /** The types that zones of this provider take. */
  types: readonly RecordType[];
}

const longestTtl = 2_147_483_647;

/** What is kept of a record set, in the spelling of its provider. */
export function acceptRecordSet(
  kind: RecordKind,
  spelling: Spelling,
  { properties, name, existing, parent, world }: Writing,
): JsonObject {
  const zone = parent?.name ?? "";
  checkName(kind, name, zone, existing);
  if (parent && !existing) checkRoom(parent, spelling, world.store);
  if (parent) checkNeighbours(kind, name, parent, spelling, world.store);
  checkOnlyOwn(kind, properties);
  const ttl = fieldOf(properties, "ttl");
  if (typeof ttl !== "number" || !Number.isInteger(ttl) || ttl < 0 || ttl > longestTtl)
    throw badRequest(
      `The TTL of the record set '${name}' is not valid: it must be a whole number from 0 to ${longestTtl}.`,
    );
  const metadata = fieldOf(properties, "metadata");
  if (metadata !== undefined && metadata !== null && !isObject(metadata))
    throw badRequest("The metadata of a record set must be an object of texts.");
  return {
    ...(isObject(metadata ?? undefined) && { metadata }),
    [spelling.ttl]: ttl,
    fqdn: name === "@" ? `${zone}.` : `${name}.${zone}.`,
    ...readRecords(kind, spelling, properties, existing),
  };
}

/** The records of a set; none where the body has none. Recorded: a CNAME without its record shows no field. */
function readRecords(
  kind: RecordKind,
  spelling: Spelling,
  properties: JsonObject,
  existing: Resource | undefined,
): JsonObject {
  const field = kind[spelling.field];
  const given = fieldOf(properties, kind.field);
  const before = existing?.properties[field];
  if (kind.single) {
    if (given !== undefined && given !== null)
      return { [field]: single(kind, spelling, given, before) };
    return kind.type === "SOA" && before !== undefined ? { [field]: before } : {};
  }
  if (given === undefined || given === null) return { [field]: [] };
  if (!Array.isArray(given))
    throw badRequest(`The record set of type '${kind.type}' must be a list.`);
  if (given.length > spelling.most)
    throw badRequest(
      `The record set of type '${kind.type}' has ${given.length} records; it cannot have more than ${spelling.most}.`,
    );
  const records = given.map((each) => readRecord(kind, each));
  const { unique } = kind;
  if (unique !== undefined) {
    const seen = new Set(records.map((each) => JSON.stringify(each[unique]).toLowerCase()));
    // The words are those of Azure/azure-cli#22886.
    if (seen.size < records.length)
      throw badRequest(
        `The list of record sets of type '${kind.type}' may not contain multiple entries with the same '${unique}'.`,
      );
  }
  return { [field]: records };
}

function single(
  kind: RecordKind,
  spelling: Spelling,
  given: Json,
  before: Json | undefined,
): JsonObject {
  const held = isObject(before) ? before : undefined;
  const record = readRecord(kind, given, held);
  if (kind.type !== "SOA" || !held) return record;
  // The server of a zone is Azure's to name; and public zones spell minimumTTL.
  const spelled = Object.keys(held).map((name) => [name, fieldOf(record, name)] as const);
  const made = { ...Object.fromEntries(spelled), host: held.host };
  // Recorded: private zones keep their serial number, whatever is sent.
  return spelling.field === "field" ? { ...made, serialNumber: held.serialNumber } : made;
}

function checkName(
  kind: RecordKind,
  name: string,
  zone: string,
  existing: Resource | undefined,
): void {
  if (kind.type === "SOA" && name !== "@")
    throw badRequest(`A record set of type 'SOA' must have the name '@', not '${name}'.`);
  if (kind.type === "SOA" && !existing)
    throw badRequest("A record set of type 'SOA' is made with its zone and cannot be created.");
  if (kind.type === "CNAME" && name === "@")
    throw badRequest("A record set of type 'CNAME' cannot have the name '@'.");
  if (name === "@") return;
  const [first = "", ...rest] = name.split(".");
  const valid =
    isDomain(name) &&
    !name.endsWith(".") &&
    !(first.includes("*") && first !== "*") &&
    !rest.some((label) => label.includes("*"));
  if (!valid || name.length + zone.length + 1 > 253)
    throw badRequest(
      `The relative record set name '${name.slice(0, 260)}' is not valid in the zone '${zone}'.`,
    );
}

function checkRoom(zone: Resource, { mostSets, types }: Spelling, store: Store): void {
  const held = recordSetCount(zone.key, types, store);
  if (held < mostSets) return;
  throw badRequest(
    `The zone '${zone.name}' has ${held} record sets; it cannot have more than ${mostSets}.`,
  );
}

/** How many record sets a zone has. */
export function recordSetCount(zone: string, types: readonly RecordType[], store: Store): number {
  return types.reduce((sum, type) => sum + store.count(`${zone}/${type.toLowerCase()}`), 0);
}

function checkNeighbours(
  kind: RecordKind,
  name: string,
  zone: Resource,
  { types }: Spelling,
  store: Store,
): void {
  for (const type of types) {
    if (type === kind.type || (kind.type !== "CNAME" && type !== "CNAME")) continue;
    if (!store.get(`${zone.key}/${type}/${name}`.toLowerCase())) continue;
    throw badRequest(
      kind.type === "CNAME"
        ? "The CNAME record could not be created because a record with the same name already exists in this zone."
        : "The record could not be created because a CNAME record with the same name already exists in this zone.",
    );
  }
}

function checkOnlyOwn(kind: RecordKind, properties: JsonObject): void {
  for (const name in properties) {
    const small = name.toLowerCase();
    if (small === kind.field.toLowerCase() || !recordFields.includes(small)) continue;
    if (properties[name] === null) continue;
    throw badRequest(`A record set of type '${kind.type}' cannot have the field '${name}'.`);
  }
}

/** Refuse to delete a record set that is there as long as its zone. */
export function checkMayGo({ type }: RecordKind, name: string): void {
  if (type === "SOA" || (type === "NS" && name === "@"))
    throw badRequest(`RecordSets of type '${type}' with name '${name}' cannot be deleted.`);
}

/** What is said of a record set that is not there. */
export function missingRecordSet({ names, resourceGroup, subscription }: Address): Refusal {
  return new Refusal(
    404,
    "NotFound",
    `The resource record '${names.at(-1)}' does not exist in resource group '${resourceGroup}' of subscription '${subscription}'.`,
    { by: "dns" },
  );
}

/** What a PATCH makes of a record set: what it names is replaced, the rest stays. */
export function patchRecordSet(body: JsonObject, { top, properties }: Resource): JsonObject {
  const given = isObject(body.properties) ? body.properties : {};
  const merged: JsonObject = { ...properties };
  for (const name in given) {
    const held = Object.keys(merged).find((each) => each.toLowerCase() === name.toLowerCase());
    merged[held ?? name] = given[name];
  }
  return { ...top, properties: merged };
}

/** The record sets of a zone by name, and at one name by type; `$recordsetnamesuffix` leaves out others. */
export function recordSetsOf(
  zone: Resource,
  types: readonly RecordType[],
  store: Store,
  query: URLSearchParams,
): Resource[] {
  const suffix = query.get("$recordsetnamesuffix")?.toLowerCase();
  return types
    .flatMap((type) => [...store.collection(`${zone.key}/${type.toLowerCase()}`)])
    .filter((each) => suffix === undefined || each.name.toLowerCase().endsWith(suffix))
    .sort((a, b) => compare(placeOf(a, zone), placeOf(b, zone)));
}

/** Recorded: names are sorted by their labels from the last to the first, and the apex of a public zone comes before all. */
function placeOf({ name }: Resource, zone: Resource): string {
  if (name === "@") return zone.type.toLowerCase() === "microsoft.network/dnszones" ? "" : "@";
  return name.toLowerCase().split(".").reverse().join(".");
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
