import { object, objects, text } from "../../arm/fields.ts";
import type { World } from "../../arm/resource-type.ts";
import type { JsonObject, Resource } from "../../state/store.ts";
import { makeRecordSet } from "../dns-records/made.ts";
import { dnsConfigsOf } from "../private-endpoints/endpoint.ts";

const ttl = 10;

/** Write the names of an endpoint into the zones of its groups, and take away those that it no longer has. */
export function followEndpoint(endpoint: Resource, world: World): void {
  for (const group of world.store.collection(`${endpoint.key}/privatednszonegroups`))
    writeRecords(group, endpoint, world);
}

/** Write what a group should have written. */
export function writeRecords(group: Resource, endpoint: Resource, world: World): void {
  const { store } = world;
  const configs = dnsConfigsOf(endpoint, store);
  let changed = false;
  const next = objects(group.properties, "privateDnsZoneConfigs").map((config): JsonObject => {
    const fields = object(config, "properties") ?? {};
    const zone = store.get(text(fields, "privateDnsZoneId", ""));
    const recordSets = zone ? recordsFor(zone, configs) : [];
    if (JSON.stringify(recordSets) === JSON.stringify(fields.recordSets)) return config;
    changed = true;
    if (zone) {
      removeRecords(zone, objects(fields, "recordSets"), world);
      for (const { recordSetName, fqdn, ipAddresses } of recordSets) {
        const aRecords = ipAddresses.map((ipv4Address) => ({ ipv4Address }));
        const properties = { ttl, fqdn: `${fqdn}.`, aRecords, isAutoRegistered: false };
        makeRecordSet(zone, "A", recordSetName, properties, store);
      }
    }
    return { ...config, properties: { ...fields, recordSets } };
  });
  if (!changed) return;
  group.properties = { ...group.properties, privateDnsZoneConfigs: next };
  store.put(group);
}

/** Take away what a group wrote. */
export function clearRecords(group: Resource, world: World): void {
  for (const config of objects(group.properties, "privateDnsZoneConfigs")) {
    const fields = object(config, "properties") ?? {};
    const zone = world.store.get(text(fields, "privateDnsZoneId", ""));
    if (zone) removeRecords(zone, objects(fields, "recordSets"), world);
  }
}

function recordsFor(zone: Resource, configs: readonly { fqdn: string; ipAddresses: string[] }[]) {
  return configs
    .filter(({ fqdn }) => fqdn.toLowerCase().endsWith(`.${zone.name}`))
    .map(({ fqdn, ipAddresses }) => ({
      recordType: "A",
      recordSetName: fqdn.toLowerCase().slice(0, -zone.name.length - 1),
      fqdn: fqdn.toLowerCase(),
      ttl,
      provisioningState: "Succeeded",
      ipAddresses,
    }));
}

function removeRecords(zone: Resource, records: readonly JsonObject[], { store }: World): void {
  for (const each of records)
    store.remove(`${zone.key}/a/${text(each, "recordSetName", "")}`.toLowerCase());
}
