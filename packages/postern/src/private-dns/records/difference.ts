import { plainName } from "@postern/core/dns-name.ts";
import { formatIp, isIp, parseIp } from "@postern/core/ip.ts";
import type { DesiredRecords } from "./desired.ts";
import type { RecordSet } from "./observed.ts";

/** Whether a record set answers as it should. */
export function isAsDesired(found: RecordSet, desired: DesiredRecords): boolean {
  return found.ttlSeconds === desired.ttlSeconds && sameValues(found.values, desired.values);
}

/** Whether two lists hold the same addresses or names, in whatever order and spelling. */
export function sameValues(a: readonly string[], b: readonly string[]): boolean {
  const sorted = (all: readonly string[]) => all.map(plainValue).sort().join();
  return sorted(a) === sorted(b);
}

/** Addresses in one spelling; names without case and without the dot at their end. */
export function plainValue(value: string): string {
  return isIp(value) ? formatIp(parseIp(value)) : plainName(value);
}

/** Whether a record set keeps another from being written: a CNAME has no neighbours of its name. */
export function isInTheWay(found: RecordSet, desired: DesiredRecords): boolean {
  return (
    found.name.toLowerCase() === desired.name.toLowerCase() &&
    found.type !== desired.type &&
    (found.type === "CNAME" || desired.type === "CNAME")
  );
}
