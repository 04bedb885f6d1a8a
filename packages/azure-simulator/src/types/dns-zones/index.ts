import { oneOf, tags } from "../../arm/fields.ts";
import type { ResourceType } from "../../arm/resource-type.ts";
import { mostPublicRecordSets, publicRecordTypes } from "../dns-records/index.ts";
import { makeRecordSet } from "../dns-records/made.ts";
import { badRequest, isDomain } from "../dns-records/record-kinds.ts";
import { recordSetCount, recordSetsOf } from "../dns-records/record-set.ts";
import { checkGlobal } from "../private-dns-zones/index.ts";

const endings = ["com", "net", "org", "info"] as const;

/** Public DNS zones. A zone is made with its SOA and NS records. */
export const dnsZones: ResourceType = {
  // In lower case as Azure spells it, though the documents write dnsZones.
  type: "Microsoft.Network/dnszones",
  dialect: "publicDns",
  within: "resourceGroup",
  put: "sync",
  delete: "async",
  patchTags: true,
  accept({ body, properties, name, existing, world, address }) {
    if (!isDomain(name) || name.includes("*") || name.split(".").length < 2)
      throw badRequest(`The zone name '${name.slice(0, 260)}' is not valid.`);
    checkGlobal(body, this.type);
    const zoneType = oneOf(properties, "zoneType", ["Public", "Private"], "Public");
    if (zoneType === "Private")
      throw badRequest("Private zones are no longer made here, but as privateDnsZones.");
    return {
      top: { location: "global", tags: {}, ...tags(body) },
      properties: {
        maxNumberOfRecordSets: mostPublicRecordSets,
        maxNumberOfRecordsPerRecordSet: null,
        nameServers:
          existing?.properties.nameServers ??
          nameServers(world.store.collection(address.key.slice(0, address.key.lastIndexOf("/")))),
        zoneType,
      },
    };
  },
  show: ({ key }, { store }) => ({
    provisioningState: undefined,
    numberOfRecordSets: recordSetCount(key, publicRecordTypes, store),
  }),
  afterWrite(zone, before, { store }) {
    if (before) return;
    const servers = zone.properties.nameServers as string[];
    const shared = { fqdn: `${zone.name}.`, targetResource: {} };
    const NSRecords = servers.map((nsdname) => ({ nsdname }));
    makeRecordSet(zone, "NS", "@", { TTL: 172_800, ...shared, NSRecords }, store);
    const SOARecord = {
      email: "azuredns-hostmaster.microsoft.com",
      expireTime: 2_419_200,
      host: servers[0] ?? "",
      minimumTTL: 300,
      refreshTime: 3600,
      retryTime: 300,
      serialNumber: 1,
    };
    makeRecordSet(zone, "SOA", "@", { TTL: 3600, ...shared, SOARecord }, store);
  },
  lists: {
    ALL: ({ resource, world, query }) =>
      resource ? recordSetsOf(resource, publicRecordTypes, world.store, query) : [],
    recordsets: ({ resource, world, query }) =>
      resource ? recordSetsOf(resource, publicRecordTypes, world.store, query) : [],
  },
  differences: [
    "Whether the same name servers already have a zone of that name is not checked (not done).",
    "DNSSEC and getDnsResourceReference (not done).",
  ],
};

/** Zones of one group get one set of servers each, so that the same name can be in several groups. */
function nameServers(zones: Iterable<unknown>): string[] {
  const number = String(([...zones].length % 9) + 1).padStart(2, "0");
  return endings.map((ending, at) => `ns${at + 1}-${number}.azure-dns.${ending}.`);
}
