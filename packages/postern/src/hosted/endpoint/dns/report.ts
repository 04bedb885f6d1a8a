import type { Failure } from "@postern/core/failure.ts";
import { sameId } from "@postern/core/resource-id.ts";
import { fail, type Part, type Problem } from "../../../kube/part.ts";
import type { PrivateDnsStep } from "../../../private-dns/steps.ts";
import { conditions, privateRouter } from "../../names.ts";
import { hostZoneIds, isHostZone } from "../desired/desired.ts";
import type { Observed, OwnStatus, ZoneInRole } from "../observed.ts";
import { type Reason, reasons } from "../reasons.ts";
import type { EndpointStep } from "../steps.ts";

/** HyperShift's reasons for what failed in a zone: those of the base domain have a word before. */
export function failures(role: ZoneInRole["role"]): { zone: Reason; link: Reason; record: Reason } {
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

/** The condition of zones, links and records, as it is. */
export function presentCondition({ conditions: present }: Observed) {
  return present.find(({ type }) => type === conditions.dns);
}

/** The problem until the records exist. A failure is reported until it is known how the next try ends. */
export function namesPending(observed: Observed): Problem {
  const present = presentCondition(observed);
  const failed = [failures("internal"), failures("base")].flatMap((each) => Object.values(each));
  if (present !== undefined && failed.some((reason) => reason === present.reason))
    return { reason: present.reason, message: present.message };
  const message = "the DNS zones, their links and records are being created";
  return { reason: reasons.namesPending, message };
}

/** The problem while something is being changed: what works is not affected. */
export function whileChanging(observed: Observed): Problem {
  return { ...namesPending(observed), harmless: true };
}

/** A read or an operation failed. */
export function planFailed(observed: Observed, failure: Failure, reason: Reason): Part<never> {
  const part = fail(failure, reason);
  return failure.passing ? { ...part, problems: [whileChanging(observed)] } : part;
}

/** Steps in a zone with the condition that reports their failure. A deletion has no reason of its own. */
export function reportedSteps(
  steps: readonly PrivateDnsStep[],
  { role }: Pick<ZoneInRole, "role">,
): EndpointStep[] {
  const condition = conditions.dns;
  return steps.map((step) =>
    step.verb === "delete" || step.verb === "unclaim"
      ? { ...step, condition }
      : { ...step, condition, failsAs: failures(role)[step.on] },
  );
}

/** The status fields that name a zone. */
export function published(
  observed: Observed,
  { role, id }: Pick<ZoneInRole, "role" | "id">,
): OwnStatus {
  if (role === "internal") return { privateDNSZoneID: id };
  // Of zones for single hostnames the status has room for one: it shows that there are such zones.
  const [api, oauth] = hostZoneIds(observed);
  const first = observed.object.name === privateRouter ? api : oauth;
  return role === "base" || sameId(first ?? "", id) ? { baseDomainDNSZoneID: id } : {};
}

/** Whether our status names a zone, or another of the zones for single hostnames. */
export function isPublished(observed: Observed, { id }: Pick<ZoneInRole, "id">): boolean {
  const { status } = observed;
  if (isHostZone(observed, id)) return isHostZone(observed, status.baseDomainDNSZoneID);
  return [status.privateDNSZoneID, status.baseDomainDNSZoneID].some(
    (each) => each !== undefined && sameId(each, id),
  );
}
