import { idKey } from "@postern/core/resource-id.ts";
import type { ArmClient } from "./arm.ts";
import type { ArmResource, ResourceGateway } from "./gateway.ts";
import { privateRecordSets, virtualNetworkLinks } from "./gateways/private-dns.ts";
import { dnsRecordSets } from "./gateways/public-dns.ts";

/**
 * Whether the record sets and links of a zone differ from what was last observed. The etag of a zone says nothing of what is in
 * it, so they are listed again before a decision that cannot be taken back; where they differ, the next reconcile decides anew.
 */
export async function hasZoneChanged(arm: ArmClient, zone: string): Promise<boolean> {
  const isPublic = /\/dnsZones\//i.test(zone);
  const changes = isPublic
    ? [hasChanged(zone, dnsRecordSets(arm))]
    : [hasChanged(zone, privateRecordSets(arm)), hasChanged(zone, virtualNetworkLinks(arm))];
  return (await Promise.all(changes)).includes(true);
}

async function hasChanged<T extends ArmResource>(
  zone: string,
  { list }: Pick<ResourceGateway<T>, "list">,
): Promise<boolean> {
  const before = versionsOf(await list(zone, Number.POSITIVE_INFINITY));
  const now = versionsOf(await list(zone, 0));
  return now.size !== before.size || [...now].some((each) => !before.has(each));
}

/** Every other write to a zone changes its SOA record. */
function versionsOf(all: readonly ArmResource[]): Set<string> {
  const otherRecords = all.filter(({ id = "" }) => !/\/SOA\/[^/]*$/i.test(id));
  return new Set(otherRecords.map(({ id = "", etag }) => `${idKey(id)} ${etag}`));
}
