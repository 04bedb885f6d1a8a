import { regionName } from "@postern/core/region.ts";
import { tags } from "../../arm/fields.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { ResourceType } from "../../arm/resource-type.ts";
import { since } from "../../arm/show.ts";
import type { JsonObject, Resource } from "../../state/store.ts";
import { makeRecordSet } from "../dns-records/made.ts";
import { badRequest, isDomain } from "../dns-records/record-kinds.ts";
import { recordSetCount, recordSetsOf } from "../dns-records/record-set.ts";
import { mostRecordSets, privateRecordTypes } from "../private-dns-records/index.ts";

/** Names that Azure keeps for itself (learn.microsoft.com/azure/dns/private-dns-privatednszone). */
const reserved = new Set([
  "azclient.ms",
  "azure.com",
  "cloudapp.net",
  "core.windows.net",
  "microsoft.com",
  "msidentity.com",
  "trafficmanager.net",
  "windows.net",
]);

/** How many networks a private zone may be linked to, and how many with registration: both recorded. */
export const mostLinks = { all: 1000, registering: 100 } as const;

/** Private DNS zones. A zone is made with its SOA record. */
export const privateDnsZones: ResourceType = {
  type: "Microsoft.Network/privateDnsZones",
  dialect: "privateDns",
  within: "resourceGroup",
  put: "async",
  delete: "async",
  patch: (body, { top, properties }) => ({ ...top, ...tags(body), properties }),
  accept({ body, name, existing, world }) {
    checkZoneName(name);
    checkGlobal(body, this.type);
    return {
      top: { location: "global", ...tags(body) },
      properties: {
        internalId: existing?.properties.internalId ?? internalId(world.guid()),
        maxNumberOfRecordSets: mostRecordSets,
        maxNumberOfVirtualNetworkLinks: mostLinks.all,
        maxNumberOfVirtualNetworkLinksWithRegistration: mostLinks.registering,
      },
    };
  },
  show({ key, properties }, { store }, query) {
    const links = [...store.collection(`${key}/virtualnetworklinks`)];
    return {
      // Recorded: 2018-09-01 does not show it.
      internalId: since(query, "2020-06-01") ? properties.internalId : undefined,
      numberOfRecordSets: recordSetCount(key, privateRecordTypes, store),
      numberOfVirtualNetworkLinks: links.length,
      numberOfVirtualNetworkLinksWithRegistration: links.filter(
        (each) => each.properties.registrationEnabled === true,
      ).length,
    };
  },
  afterWrite(zone, before, { store }) {
    if (before) return;
    const soaRecord = {
      host: "azureprivatedns.net",
      email: "azureprivatedns-host.microsoft.com",
      serialNumber: 1,
      refreshTime: 3600,
      retryTime: 300,
      expireTime: 2_419_200,
      minimumTtl: 10,
    };
    const properties = { ttl: 3600, fqdn: `${zone.name}.`, soaRecord, isAutoRegistered: false };
    makeRecordSet(zone, "SOA", "@", properties, store);
  },
  mayDelete(zone, { store }) {
    const [link] = store.collection(`${zone.key}/virtualnetworklinks`);
    if (link) throw nested(zone, link);
  },
  lists: {
    ALL: ({ resource, world, query }) =>
      resource ? recordSetsOf(resource, privateRecordTypes, world.store, query) : [],
  },
  differences: [
    "The order of a list of record sets is by name [?].",
    "The messages for invalid names are [?]; that names have at least two labels, and the reserved names, are documented.",
    "SOA values as az prints them, not as in Microsoft's examples [P].",
  ],
};

/** Zones are everywhere. */
export function checkGlobal(body: JsonObject, type: string): void {
  const { location } = body;
  if (typeof location !== "string" || regionName(location) === "global") return;
  throw new Refusal(
    400,
    "LocationNotAvailableForResourceType",
    `The provided location '${location}' is not available for resource type '${type}'. List of available regions for the resource type is 'global'.`,
    { by: "gateway" },
  );
}

function checkZoneName(name: string): void {
  const labels = name.split(".");
  if (!isDomain(name) || name.includes("*") || labels.length < 2 || labels.length > 34)
    throw badRequest(
      `The zone name '${name.slice(0, 260)}' is not valid: it must have 2 to 34 labels of 1 to 63 letters, digits, hyphens or underscores.`,
    );
  if (reserved.has(name.toLowerCase()))
    throw badRequest(`The zone name '${name}' is reserved and cannot be created.`);
}

function internalId(guid: string): string {
  return Buffer.from(`ImmutableZoneIdentity;${guid};0`).toString("base64");
}

/** The words are those of learntocloud/networking-lab#8; Azure/azure-cli#15010 shows the older ones. */
function nested(zone: Resource, link: Resource): Refusal {
  return new Refusal(
    409,
    "CannotDeleteResource",
    `Cannot delete resource while nested resources exist. Some existing nested resource IDs include: 'Microsoft.Network/privateDnsZones/${zone.name}/virtualNetworkLinks/${link.name}'. Please delete all nested resources before deleting this resource.`,
    { by: "gateway" },
  );
}
