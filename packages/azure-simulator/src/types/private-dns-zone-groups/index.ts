import { invalid, object, objects, reference, text } from "../../arm/fields.ts";
import { checkNetworkName } from "../../arm/links.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { ResourceType, Writing } from "../../arm/resource-type.ts";
import { type JsonObject, parentOf } from "../../state/store.ts";
import { clearRecords, writeRecords } from "./records.ts";

const type = "Microsoft.Network/privateEndpoints/privateDnsZoneGroups";
/** learn.microsoft.com/azure/private-link/private-endpoint-dns: one group for an endpoint, five zones for a group. */
const mostZones = 5;

/** The zones that follow an endpoint: its names are written into them. */
export const privateDnsZoneGroups: ResourceType = {
  type,
  dialect: "network",
  within: "parent",
  put: "async",
  delete: "async",
  joins: ({ properties }) =>
    zonesIn(properties).map((id) => ({
      id,
      action: "Microsoft.Network/privateDnsZones/join/action",
    })),
  accept(writing) {
    const { name, id, existing, parent, world } = writing;
    checkNetworkName(name);
    const [other] = [...world.store.collection(`${parent?.key}/privatednszonegroups`)].filter(
      (each) => each.key !== id.toLowerCase(),
    );
    if (other)
      throw new Refusal(
        400,
        "MoreThanOnePrivateDnsZoneGroupPerPrivateEndpointNotAllowed",
        `Cannot create more than one private dns zone groups in the private endpoint ${parent?.id}. Existing group: ${other.id}.`,
      );
    const held = new Map(
      (existing ? objects(existing.properties, "privateDnsZoneConfigs") : []).map((each) => [
        String(object(each, "properties")?.privateDnsZoneId).toLowerCase(),
        object(each, "properties")?.recordSets,
      ]),
    );
    return {
      properties: {
        privateDnsZoneConfigs: acceptConfigs(writing).map(({ name: config, zone }) => ({
          name: config,
          id: `${id}/privateDnsZoneConfigs/${config}`,
          type: `${type}/privateDnsZoneConfigs`,
          properties: { privateDnsZoneId: zone, recordSets: held.get(zone.toLowerCase()) ?? [] },
        })),
      },
    };
  },
  afterWrite(group, before, world) {
    if (!before) return;
    const now = new Set(zonesIn(group.properties).map((each) => each.toLowerCase()));
    const gone = objects(before.properties, "privateDnsZoneConfigs").filter(
      (each) => !now.has(String(object(each, "properties")?.privateDnsZoneId).toLowerCase()),
    );
    clearRecords({ ...before, properties: { privateDnsZoneConfigs: gone } }, world);
  },
  afterProvision(group, world) {
    const endpoint = world.store.get(parentOf(group.key));
    if (endpoint) writeRecords(group, endpoint, world);
  },
  show: ({ state, etag, properties, key }, { store }) => ({
    privateDnsZoneConfigs: objects(properties, "privateDnsZoneConfigs").map((each) => ({
      ...each,
      etag: `W/"${store.get(parentOf(key))?.etag ?? etag}"`,
      properties: { provisioningState: state, ...object(each, "properties") },
    })),
  }),
  afterDelete(group, world) {
    clearRecords(group, world);
  },
  // Recorded: this one child is told by its name and not by its id.
  missing: ({ names }) => new Refusal(404, "NotFound", `Resource ${names.at(-1)} not found.`),
  differences: [
    "Records are of type A with a TTL of 10, for the names of the service that end with the zone [?]; recorded: none for a service without names.",
    "A second group, and more than five zones: rules [D], codes and messages [?].",
  ],
};

function acceptConfigs({ properties, id, world }: Writing): { name: string; zone: string }[] {
  const given = objects(properties, "privateDnsZoneConfigs");
  if (given.length > mostZones)
    throw new Refusal(
      400,
      "PrivateDnsZoneConfigCountExceedsLimit",
      `Private Dns Zone group ${id} has ${given.length} private dns zone configs. It cannot have more than ${mostZones}.`,
    );
  const named = new Set<string>();
  return given.map((each) => {
    const name = text(each, "name", "");
    checkNetworkName(name);
    // hashicorp/terraform-provider-azurerm#28966
    if (named.has(name.toLowerCase()))
      throw invalid(
        "InvalidRequestFormat",
        "Cannot parse the request.",
        "DuplicateResourceName",
        `Resource ${id} has two child resources with the same name (${name}).`,
      );
    named.add(name.toLowerCase());
    const zone = text(object(each, "properties") ?? {}, "privateDnsZoneId", "");
    // Azure/missionlz#1029
    if (world.store.get(zone)?.type !== "Microsoft.Network/privateDnsZones")
      throw new Refusal(
        400,
        "InvalidPrivateDnsZoneIds",
        `Private Dns Zone group ${id} has invalid private dns zone ids ${zone}.`,
      );
    return { name, zone };
  });
}

function zonesIn(properties: JsonObject): string[] {
  return objects(properties, "privateDnsZoneConfigs").flatMap((each) => {
    const id = text(object(each, "properties") ?? {}, "privateDnsZoneId", undefined);
    const zone = id === undefined ? undefined : reference({ zone: { id } }, "zone");
    return zone === undefined ? [] : [zone];
  });
}
