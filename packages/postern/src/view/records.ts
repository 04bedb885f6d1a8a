import { plainName } from "@postern/core/dns-name.ts";
import { lastSegment } from "@postern/core/resource-id.ts";
import type { PrivateRecordSet, VirtualNetworkLink } from "../azure/gateways/private-dns.ts";
import { networkOf } from "./index-of.ts";
import type { World, Zone } from "./world.ts";

/** The zones that could have a name, the most specific first. */
export function zonesFor({ azure }: World, name: string): Zone[] {
  return azure.zones
    .filter(({ zone }) => covers(zoneName(zone), name))
    .sort((a, b) => zoneName(b.zone).length - zoneName(a.zone).length);
}

/** The networks that ask a zone. */
export function networksOf({ links }: Zone): string[] {
  return links.flatMap(({ properties }) => networkOf(properties.virtualNetwork?.id) ?? []);
}

/** The links of a zone to a network. */
export function linksTo({ links }: Zone, network: string | undefined): VirtualNetworkLink[] {
  return links.filter(
    ({ properties }) =>
      properties.virtualNetwork && networkOf(properties.virtualNetwork.id) === network,
  );
}

/**
 * The record of a name in a zone: its own, or that of a wildcard. A wildcard answers only below the nearest name that exists
 * (https://www.rfc-editor.org/rfc/rfc4592#section-3.3.1).
 */
export function recordFor({ zone, records }: Zone, name: string): PrivateRecordSet | undefined {
  const within = zoneName(zone);
  const label = name === within ? "@" : name.slice(0, -within.length - 1);
  const nameOf = (record: PrivateRecordSet) => lastSegment(record.id ?? "").toLowerCase();
  const named = (wanted: string) =>
    records.find(
      (record) =>
        nameOf(record) === wanted &&
        (addressesIn(record).length > 0 || record.properties.cnameRecord !== undefined),
    );
  const exists = (wanted: string) =>
    records.some((record) => nameOf(record) === wanted || nameOf(record).endsWith(`.${wanted}`));
  const own = named(label);
  if (own !== undefined || label === "@" || exists(label)) return own;
  const labels = label.split(".");
  for (let at = 1; at <= labels.length; at++) {
    const found = named(["*", ...labels.slice(at)].join("."));
    if (found !== undefined || exists(labels.slice(at).join("."))) return found;
  }
  return undefined;
}

/** The name that a record stands for, where it is another name. */
export function aliasIn(record: PrivateRecordSet | undefined): string | undefined {
  const cname = record?.properties.cnameRecord?.cname;
  return cname === undefined ? undefined : plainName(cname);
}

/** The addresses of a record. */
export function addressesIn({ properties }: PrivateRecordSet): string[] {
  return [
    ...(properties.aRecords ?? []).map((each) => each.ipv4Address),
    ...(properties.aaaaRecords ?? []).map((each) => each.ipv6Address),
  ];
}

/** The domain of a zone. */
export function zoneName({ id = "", name }: { id?: string; name?: string }): string {
  return (name ?? lastSegment(id)).toLowerCase();
}

/** Whether a zone could have a name. */
export function covers(zone: string, name: string): boolean {
  return name === zone || name.endsWith(`.${zone}`);
}
