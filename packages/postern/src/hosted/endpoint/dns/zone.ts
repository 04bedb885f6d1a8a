import { lastUserIn, mostClaims } from "@postern/core/claims.ts";
import { nameOf, sameId } from "@postern/core/resource-id.ts";
import { done, join, type Part, report, wait, waits } from "../../../kube/part.ts";
import { planLinks } from "../../../private-dns/links/plan.ts";
import { planRecords } from "../../../private-dns/records/plan.ts";
import type { PrivateDnsStep } from "../../../private-dns/steps.ts";
import { otherClaims } from "../../../private-dns/user.ts";
import type { Zone } from "../../../private-dns/zone/observed.ts";
import { type Adoption, planZone, type ZonePlan } from "../../../private-dns/zone/plan.ts";
import { annotations } from "../../names.ts";
import type { Observed, ZoneInRole } from "../observed.ts";
import { isHyperShifts, sharedTags, userOf } from "../ownership/owner.ts";
import { reasons } from "../reasons.ts";
import { linkPolicy } from "./links.ts";
import { isOwnPlace, lacksClaim } from "./missing-tags.ts";
import { addressesPending, misplacedName, recordPolicy } from "./records.ts";
import { failures, isPublished, namesPending, planFailed, whileChanging } from "./report.ts";

/** The zone in a sentence. */
export function zoneCalled({ id }: Pick<ZoneInRole, "id">): string {
  return `the private DNS zone ${nameOf(id)}`;
}

/** What to do about a desired zone. */
export function planDesiredZone(
  observed: Observed,
  zone: ZoneInRole,
  addresses: readonly string[] | undefined,
): ZonePlan<PrivateDnsStep> {
  const called = zoneCalled(zone);
  const { on = "zone" } = zone.unread ?? {};
  return planZone(zone, {
    user: userOf(observed),
    missing: zone.managed
      ? undefined
      : {
          reason: reasons.zoneMissing,
          message: `the zone ${zone.id} does not exist · an annotation names it · create it, or correct ${annotations.internalZone} and ${annotations.baseZone}`,
        },
    tags: sharedTags(observed, "private-dns-zone"),
    userTags: observed.choices.tags,
    adoptionOf: (found) => adoptionOf(observed, zone, found),
    planContents: () =>
      join<PrivateDnsStep>([
        planLinks(zone, linkPolicy(observed, zone)),
        planNames(observed, zone, addresses),
      ]),
    report: {
      creating: namesPending(observed),
      changing: whileChanging(observed),
      claimed: "this cluster uses it too",
      full: {
        reason: reasons.zoneFull,
        message: `${called} is not used · ${mostClaims} clusters use it and Azure has no room for more tags · ${useAsItIs}`,
      },
      fail: (failure) => planFailed(observed, failure, failures(zone.role)[on]),
      failed: (found, repairing) => planFailedZone(observed, zone, found, repairing),
    },
  });
}

const useAsItIs = `to use it as it is, name it on the HostedCluster: ${annotations.zones}: existing`;

/**
 * Whether a zone that we do not claim may be used:
 *
 *   claims                     →
 *   of our cluster, earlier    claim it: an earlier control plane left it
 *   others' only               base: claim it first; internal, host: it is another cluster's
 *   none, but a last user      claim it, in the place where we create our own: Postern managed it
 *   none                       HyperShift's, or its tags were removed, and our status names it: claim it; else OwnedByAnother
 */
function adoptionOf(observed: Observed, zone: ZoneInRole, { tags }: Zone): Adoption {
  const others = otherClaims(tags, userOf(observed));
  const isOwn =
    (isPublished(observed, zone) && isHyperShifts(tags, "private-dns-zone")) ||
    lacksClaim(observed, zone) ||
    (lastUserIn(tags) !== undefined && isOwnPlace(observed, zone));
  const refuse = (why: string): Adoption => {
    const message = `${zoneCalled(zone)} is not used · ${why}`;
    return { is: "leave", part: report({ reason: reasons.ownedByAnother, message }) };
  };
  if (others.length === 0 && !isOwn) return refuse(`it has no owner tag of Postern · ${useAsItIs}`);
  // A claim of our own cluster is that of an earlier control plane, which left without taking it off.
  const other = others.find(({ clusterID }) => !sameId(clusterID, observed.self.clusterID ?? ""));
  if (zone.role !== "base" && other !== undefined)
    return refuse(
      "it belongs to another cluster, which has the same name · use another name or another resource group",
    );
  return { is: "claim" };
}

function planFailedZone(
  observed: Observed,
  zone: ZoneInRole,
  { provisioningState }: Zone,
  repairing: boolean,
): Part<never> {
  if (repairing) return report(namesPending(observed));
  // One that may not be used is reported as such.
  if (zone.managed) return done;
  const message = `DNS names may not resolve · ${zoneCalled(zone)} is ${provisioningState} · ask its owner to update it`;
  return wait({ reason: failures(zone.role).zone, message }, waits.changeMs);
}

function planNames(
  observed: Observed,
  zone: ZoneInRole,
  addresses: readonly string[] | undefined,
): Part<PrivateDnsStep> {
  const misplaced = misplacedName(observed, zone);
  if (misplaced !== undefined) return report(misplaced);
  const records = planRecords(zone, recordPolicy(observed, zone, addresses));
  return addresses === undefined ? join([records, report(addressesPending(observed))]) : records;
}
