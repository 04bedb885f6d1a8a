import { isIp } from "@postern/core/ip.ts";
import { isObject } from "../../arm/fields.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { Json, JsonObject } from "../../state/store.ts";

/** The types of records that private or public zones take. */
export type RecordType =
  | "A"
  | "AAAA"
  | "CAA"
  | "CNAME"
  | "DS"
  | "MX"
  | "NAPTR"
  | "NS"
  | "PTR"
  | "SOA"
  | "SRV"
  | "TLSA"
  | "TXT";

type Part = "ipv4" | "ipv6" | "domain" | "uint16" | "uint32" | "byte" | "text" | "texts" | "digest";

/** One type of record: where a record set keeps it, and what a record is made of. */
export interface RecordKind {
  type: RecordType;
  /** The field of a private zone's record set. */
  field: string;
  /** The field of a public zone's record set: the same word, otherwise spelled. */
  publicField: string;
  /** A set holds one record at most. */
  single: boolean;
  parts: Readonly<Record<string, Part>>;
  /** Two records of a set must differ in this. */
  unique?: string;
}

const soa = {
  host: "domain",
  email: "domain",
  serialNumber: "uint32",
  refreshTime: "uint32",
  retryTime: "uint32",
  expireTime: "uint32",
  minimumTtl: "uint32",
} as const;

const all: Readonly<Record<RecordType, Omit<RecordKind, "type">>> = {
  A: list("aRecords", "ARecords", { ipv4Address: "ipv4" }, "ipv4Address"),
  AAAA: list("aaaaRecords", "AAAARecords", { ipv6Address: "ipv6" }, "ipv6Address"),
  CAA: list("caaRecords", "caaRecords", { flags: "byte", tag: "text", value: "text" }),
  CNAME: one("cnameRecord", "CNAMERecord", { cname: "domain" }),
  DS: list("dsRecords", "DSRecords", {
    keyTag: "uint16",
    algorithm: "byte",
    digest: "digest",
  }),
  MX: list("mxRecords", "MXRecords", { preference: "uint16", exchange: "domain" }),
  NAPTR: list("naptrRecords", "NAPTRRecords", {
    order: "uint16",
    preference: "uint16",
    flags: "text",
    services: "text",
    regexp: "text",
    replacement: "text",
  }),
  NS: list("nsRecords", "NSRecords", { nsdname: "domain" }, "nsdname"),
  PTR: list("ptrRecords", "PTRRecords", { ptrdname: "domain" }, "ptrdname"),
  SOA: one("soaRecord", "SOARecord", soa),
  SRV: list("srvRecords", "SRVRecords", {
    priority: "uint16",
    weight: "uint16",
    port: "uint16",
    target: "domain",
  }),
  TLSA: list("tlsaRecords", "TLSARecords", {
    usage: "byte",
    selector: "byte",
    matchingType: "byte",
    certAssociationData: "text",
  }),
  TXT: list("txtRecords", "TXTRecords", { value: "texts" }, "value"),
};

function list(
  field: string,
  publicField: string,
  parts: RecordKind["parts"],
  unique?: string,
): Omit<RecordKind, "type"> {
  return { field, publicField, single: false, parts, ...(unique !== undefined && { unique }) };
}

function one(field: string, publicField: string, parts: RecordKind["parts"]) {
  return { field, publicField, single: true, parts };
}

/** What there is to know of a type of record. */
export function recordKind(type: RecordType): RecordKind {
  return { type, ...all[type] };
}

/** Every field that holds records: a set of one type has no other. */
export const recordFields: readonly string[] = Object.values(all).map((each) =>
  each.field.toLowerCase(),
);

/** A refusal of DNS: no details, one code for all that is wrong with a request. */
export function badRequest(message: string): Refusal {
  return new Refusal(400, "BadRequest", message, { by: "dns" });
}

/** The parser of DNS does not tell upper case from lower in names of fields. */
export function fieldOf(from: JsonObject, name: string): Json | undefined {
  if (name in from) return from[name];
  const small = name.toLowerCase();
  const found = Object.keys(from).find((each) => each.toLowerCase() === small);
  return found === undefined ? undefined : from[found];
}

/** Read one record; what is not part of it is left out. */
export function readRecord(kind: RecordKind, given: Json, before?: JsonObject): JsonObject {
  if (!isObject(given))
    throw badRequest(`A record of type '${kind.type}' must be an object with its values.`);
  const record: JsonObject = {};
  for (const [name, part] of Object.entries(kind.parts)) {
    const value = fieldOf(given, name) ?? (before && fieldOf(before, name));
    if (value === undefined || value === null || !fits(value, part))
      throw badRequest(
        `The value of '${name}' of a record of type '${kind.type}' is not valid: ${wanted[part]} is required.`,
      );
    record[name] = value;
  }
  return record;
}

const wanted: Readonly<Record<Part, string>> = {
  ipv4: "an IPv4 address",
  ipv6: "an IPv6 address",
  domain: "a domain name",
  uint16: "a whole number from 0 to 65535",
  uint32: "a whole number from 0 to 4294967295",
  byte: "a whole number from 0 to 255",
  text: "a text",
  texts: "a list of texts of at most 1024 characters together",
  digest: "an algorithm type and a value",
};

function fits(value: Json, part: Part): boolean {
  switch (part) {
    case "ipv4":
      return typeof value === "string" && isIp(value, 4);
    case "ipv6":
      return typeof value === "string" && isIp(value, 6);
    case "domain":
      return typeof value === "string" && isDomain(value);
    case "uint16":
      return isWhole(value, 0xffff);
    case "uint32":
      return isWhole(value, 0xffff_ffff);
    case "byte":
      return isWhole(value, 0xff);
    case "text":
      return typeof value === "string";
    case "texts":
      return (
        Array.isArray(value) &&
        value.every((each) => typeof each === "string") &&
        value.join("").length <= 1024
      );
    case "digest":
      return (
        isObject(value) &&
        isWhole(value.algorithmType ?? null, 0xff) &&
        typeof value.value === "string"
      );
  }
}

function isWhole(value: Json, most: number): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= most;
}

/** Whether a text can be a domain name, with or without the dot at its end. */
export function isDomain(text: string): boolean {
  const plain = text.endsWith(".") ? text.slice(0, -1) : text;
  return (
    plain.length > 0 &&
    plain.length <= 253 &&
    plain.split(".").every((label) => /^[a-z0-9_*]([-\w]{0,61}[a-z0-9_])?$/i.test(label))
  );
}
