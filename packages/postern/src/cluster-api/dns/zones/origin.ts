import { claimsIn, lastUserIn } from "@postern/core/claims.ts";
import { isSameCluster, ownerIn } from "@postern/core/ownership.ts";
import { sameValues } from "../../../private-dns/records/difference.ts";
import { foundRecords } from "../../../private-dns/records/observed.ts";
import type { Observed, ZoneInRole } from "../observed.ts";
import { baseRecords, delegationOf, isDelegationToUs } from "./name.ts";
import { isCapz, isOwned } from "./owner.ts";
import { originTag } from "./records.ts";

/**
 * Whether a zone that nobody claims may be adopted:
 *
 *   zone           proof
 *   any            a record set in it has our mark: somebody has replaced the tags of a zone of ours
 *   toManagement   none is needed: it lies with the cluster, and is reached by the cluster's own identity
 *   public         the same for an AzureCluster; for others, reached by a shared identity, a delegation with our mark
 *   toWorkload     a delegation that we adopted: the operator before us wrote both. It lies with the management cluster, so a
 *                  tenant must not get a zone there by the name of a cluster alone
 */
export function proofOf(observed: Observed, zone: ZoneInRole): "exists" | "pending" | "none" {
  if (hasOurRecords(observed, zone) || zone.role === "toManagement") return "exists";
  const delegation = delegationOf(observed);
  if (zone.role === "public")
    return observed.infrastructure?.is === "azure" || delegation !== undefined ? "exists" : "none";
  if (delegation?.metadata[originTag] === "adopted") return "exists";
  return baseRecords(observed).some((each) => isDelegationToUs(observed, each))
    ? "pending"
    : "none";
}

/**
 * Whether a zone that its last user left may be claimed: one that lies with the cluster by whichever cluster comes next, one in
 * the group of the management cluster, or reached by a shared identity, only by a cluster of the same namespace and name.
 */
export function isReleased(
  { us, infrastructure }: Observed,
  { role, observation }: ZoneInRole,
): boolean {
  const last = observation.state === "exists" ? lastUserIn(observation.resource.tags) : undefined;
  if (last === undefined) return false;
  const isWithCluster =
    role === "toManagement" || (role === "public" && infrastructure?.is === "azure");
  return isWithCluster || isSameCluster(last, us);
}

/** Whether the tags of a zone of ours were replaced. */
export function lacksTags(observed: Observed, zone: ZoneInRole): boolean {
  if (zone.observation.state !== "exists" || zone.role === "base") return false;
  const { tags } = zone.observation.resource;
  if (claimsIn(tags).length > 0 || isCapz(tags) || ownerIn(tags) !== undefined) return false;
  return lacksOwner(observed, zone) || hasOurRecords(observed, zone);
}

/** Whether a public zone that we created no longer says so. */
export function lacksOwner(observed: Observed, { role, observation }: ZoneInRole): boolean {
  if (role !== "public" || observation.state !== "exists") return false;
  const { tags, nameServers } = observation.resource;
  if (ownerIn(tags) !== undefined || isCapz(tags)) return false;
  const delegation = delegationOf(observed);
  return (
    delegation?.metadata[originTag] === "created" && sameValues(delegation.values, nameServers)
  );
}

function hasOurRecords(observed: Observed, zone: ZoneInRole): boolean {
  return foundRecords(zone).some(({ found }) => isOwned(found.metadata, observed));
}
