import type { ResourceType } from "../../arm/resource-type.ts";
import { since } from "../../arm/show.ts";
import type { JsonObject } from "../../state/store.ts";
import { badRequest, type RecordType, recordKind } from "./record-kinds.ts";
import {
  acceptRecordSet,
  checkMayGo,
  missingRecordSet,
  patchRecordSet,
  type Spelling,
} from "./record-set.ts";

/** The record types of public zones. */
export const publicRecordTypes = [
  "A",
  "AAAA",
  "CAA",
  "CNAME",
  "DS",
  "MX",
  "NAPTR",
  "NS",
  "PTR",
  "SOA",
  "SRV",
  "TLSA",
  "TXT",
] as const satisfies readonly RecordType[];

/** How many record sets a public zone may hold, as it says itself. */
export const mostPublicRecordSets = 10_000;

const spelling: Spelling = {
  ttl: "TTL",
  field: "publicField",
  most: 400,
  mostSets: mostPublicRecordSets,
  types: publicRecordTypes,
};

/** Record sets of public zones, one type of resource for each type of record. */
export const dnsRecords: readonly ResourceType[] = publicRecordTypes.map((type): ResourceType => {
  const kind = recordKind(type);
  return {
    type: `Microsoft.Network/dnszones/${type}`,
    dialect: "publicDns",
    within: "parent",
    put: "sync",
    delete: "sync",
    patch: patchRecordSet,
    accept(writing) {
      if (type === "NS" && writing.name === "@" && !writing.existing)
        throw badRequest("The record set of type 'NS' with name '@' is made with its zone.");
      return {
        properties: { ...acceptRecordSet(kind, spelling, writing), targetResource: {} },
      };
    },
    show: (_record, _world, query) => withTrafficManagement(query),
    mayDelete: ({ name }) => checkMayGo(kind, name),
    missing: missingRecordSet,
    differences: [
      "Alias targets and traffic management profiles (not done).",
      "The serial number of the SOA record does not change [?].",
      "Codes and messages of errors [?], except for duplicate and missing records.",
    ],
  };
});

/** Recorded with 2023-07-01-preview; older versions do not show it. */
function withTrafficManagement(query: URLSearchParams): JsonObject {
  return since(query, "2023-07-01-preview") ? { trafficManagementProfile: {} } : {};
}
