import type { ResourceType } from "../../arm/resource-type.ts";
import { type RecordType, recordKind } from "../dns-records/record-kinds.ts";
import {
  acceptRecordSet,
  checkMayGo,
  missingRecordSet,
  patchRecordSet,
  type Spelling,
} from "../dns-records/record-set.ts";

/** The record types of private zones. */
export const privateRecordTypes = [
  "A",
  "AAAA",
  "CNAME",
  "MX",
  "PTR",
  "SOA",
  "SRV",
  "TXT",
] as const satisfies readonly RecordType[];

/** How many record sets a private zone may hold: told by the zone, and recorded. */
export const mostRecordSets = 25_000;

const spelling: Spelling = {
  ttl: "ttl",
  field: "field",
  most: 20,
  mostSets: mostRecordSets,
  types: privateRecordTypes,
};

/** Record sets of private zones, one type of resource for each type of record. */
export const privateDnsRecords: readonly ResourceType[] = privateRecordTypes.map(
  (type): ResourceType => {
    const kind = recordKind(type);
    return {
      type: `Microsoft.Network/privateDnsZones/${type}`,
      dialect: "privateDns",
      within: "parent",
      put: "sync",
      delete: "sync",
      patch: patchRecordSet,
      accept(writing) {
        return {
          properties: {
            ...acceptRecordSet(kind, spelling, writing),
            isAutoRegistered: writing.existing?.properties.isAutoRegistered ?? false,
          },
        };
      },
      show: () => ({ provisioningState: undefined }),
      mayDelete: ({ name }) => checkMayGo(kind, name),
      missing: missingRecordSet,
      differences: [
        "Machines of a linked network are not registered automatically (not done).",
        "The rules on names, the range of the TTL, 20 records in a set and CNAME beside others are Azure's [D]; the messages are not [?].",
        "A record set that does not exist: code and message from memory of public DNS [?].",
      ],
    };
  },
);
