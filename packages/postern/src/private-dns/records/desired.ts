import { isIp } from "@postern/core/ip.ts";
import { childId, type ResourceId } from "@postern/core/resource-id.ts";
import type { RecordSet } from "./observed.ts";

/** How long answers with addresses may be kept. */
export const ttlSeconds = 300;

/** A record set as it should be. */
export type DesiredRecords = Pick<RecordSet, "type" | "name" | "ttlSeconds" | "values">;

/** The id of a record set in a zone. */
export function recordId(
  zone: ResourceId,
  { type, name }: Pick<RecordSet, "type" | "name">,
): ResourceId {
  return childId(zone, type, name);
}

/** The record sets of a name: one for each version of addresses. */
export function addressRecords(name: string, addresses: readonly string[]): DesiredRecords[] {
  const v4 = addresses.filter((each) => isIp(each, 4));
  const v6 = addresses.filter((each) => isIp(each, 6));
  return [
    ...(v4.length > 0 ? [{ type: "A", name, ttlSeconds, values: v4 }] : []),
    ...(v6.length > 0 ? [{ type: "AAAA", name, ttlSeconds, values: v6 }] : []),
  ];
}
