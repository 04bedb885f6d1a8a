import { sameId } from "../../model/resource-id.ts";
import { conditions } from "../names.ts";
import { type Reason, reasons } from "./reasons.ts";
import type { OwnStatus, Seen, ZoneSeen } from "./seen.ts";
import { isFalse, type Part, rest, type Verdict } from "./steps.ts";

const condition = conditions.dns;

/** HyperShift's reasons for what failed in a zone: those of the base domain have a word before. */
export function failures(role: ZoneSeen["role"]): { zone: Reason; link: Reason; record: Reason } {
  return role === "internal"
    ? {
        zone: reasons.zoneCreationFailed,
        link: reasons.linkCreationFailed,
        record: reasons.recordCreationFailed,
      }
    : {
        zone: reasons.baseZoneCreationFailed,
        link: reasons.baseLinkCreationFailed,
        record: reasons.baseRecordCreationFailed,
      };
}

/** What is said while names are on their way. A failure stays told while it is tried again. */
export function namesPending(seen: Seen): Verdict {
  const held = seen.conditions.find(({ type }) => type === condition);
  const failed = [failures("internal"), failures("base")].flatMap((each) => Object.values(each));
  return held !== undefined && failed.some((reason) => reason === held.reason)
    ? held
    : isFalse(reasons.namesPending, "the zones, their links and the names are being made");
}

/** What is said of a zone that is just being changed: what worked goes on working. */
export function whileChanging(seen: Seen): Verdict {
  const held = seen.conditions.find(({ type }) => type === condition);
  return held?.status === "True" ? held : namesPending(seen);
}

/** Several parts as one: what is wrong first is told. */
export function joined(parts: readonly Part[]): Part {
  const waits = parts.flatMap(({ waitMs }) => waitMs ?? []);
  return {
    steps: parts.flatMap(({ steps }) => steps),
    verdict:
      parts.find(({ verdict }) => verdict !== undefined && verdict.status !== "True")?.verdict ??
      parts.find(({ verdict }) => verdict !== undefined)?.verdict,
    waitMs: waits.length > 0 ? Math.min(...waits) : undefined,
    events: parts.flatMap(({ events }) => events ?? []),
    status: Object.assign({}, ...parts.map(({ status }) => status)),
  };
}

/** What is told of something that failed, and when to look again. */
export function failed(
  seen: Seen,
  failure: { message: string; passing?: boolean; requeueAfterMs?: number; terminal?: boolean },
  reason: Reason,
): Part {
  const verdict = failure.passing ? whileChanging(seen) : isFalse(reason, failure.message);
  if (failure.terminal) return rest(verdict);
  return rest(verdict, { waitMs: failure.requeueAfterMs ?? 30_000 });
}

/** The status fields that name a zone. */
export function published({ role, id }: Pick<ZoneSeen, "role" | "id">): OwnStatus {
  return role === "internal" ? { privateDNSZoneID: id } : { baseDomainDNSZoneID: id };
}

/** Whether our status names a zone. */
export function isPublished({ status }: Seen, { id }: Pick<ZoneSeen, "id">): boolean {
  return [status.privateDNSZoneID, status.baseDomainDNSZoneID].some(
    (each) => each !== undefined && sameId(each, id),
  );
}
