import type { PrivateRecordSet, VirtualNetworkLink } from "../../azure/gateways/private-dns.ts";
import { parseResourceId, type ResourceId, sameId } from "../../model/resource-id.ts";
import type { Seen, ZoneSeen } from "./seen.ts";

/** A record set that exists. */
export interface FoundRecord {
  id: ResourceId;
  found: PrivateRecordSet;
}

/** The record sets of a zone that exist. */
export function foundRecords({ records }: ZoneSeen): FoundRecord[] {
  return records.flatMap(({ id, look }) =>
    look.state === "there" ? [{ id, found: look.resource }] : [],
  );
}

/** The type of a record set, as its id tells it. */
export function recordType(id: string): string {
  return (id.split("/").at(-2) ?? "").toUpperCase();
}

/** A link that exists. */
export interface FoundLink {
  id: ResourceId;
  found: VirtualNetworkLink;
}

/** The networks in which the names are to resolve: the guest's first. */
export function wantedNetworks({ object, choices }: Seen): ResourceId[] {
  const guest = parseResourceId(object.spec.guestVNetID);
  return [guest, ...choices.networks.filter((each) => !sameId(each, guest))];
}

/** The links of a zone that exist and are not being changed. */
export function foundLinks({ links }: ZoneSeen): FoundLink[] {
  return links.flatMap(({ id, look }) =>
    look.state === "there" ? [{ id, found: look.resource }] : [],
  );
}
