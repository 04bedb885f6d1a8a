import { ownerTag } from "@postern/core/ownership.ts";
import { nameOf } from "@postern/core/resource-id.ts";
import { shellWord } from "@postern/core/shell.ts";
import { checkedTags, withTags } from "@postern/core/tags.ts";
import { act, done, type Part, report, retry, wait } from "../../../kube/part.ts";
import type { Observed } from "../observed.ts";
import { reasons } from "../reasons.ts";
import type { DnsStep } from "../steps.ts";
import { publicZone } from "./desired.ts";
import { isOwned, withOwner } from "./owner.ts";
import { pending } from "./report.ts";

/**
 * The resource group of a cluster that has nothing else in Azure:
 *
 *   group    marked as ours  may be adopted, or our zone is in it  →
 *   absent                                                         made, with our mark and the tags that the annotations name
 *   there    yes                                                   its tags are corrected; those of others stay
 *   there    no              yes                                   used as it is, and never deleted
 *   there    no              no                                    OwnedByAnother: the tenant chose its name, and a shared
 *                                                                  identity would act in it
 */
export function planGroup(observed: Observed): Part<DnsStep> {
  const { group } = observed;
  if (group === undefined) return done;
  const { id, observation } = group;
  if (observation.state === "changing") return wait(pending, observation.retryAfterMs);
  if (observation.state === "failed") return retry(observation.failure);
  if (observation.state === "absent") {
    if (group.location === undefined)
      return report({
        reason: reasons.placeUnknown,
        message: `the resource group ${nameOf(id)} is not created · its region is unknown · set CLUSTER_AZURE_LOCATION for the operator`,
      });
    const tags = checkedTags(withOwner(group.tags, observed));
    const create: DnsStep = {
      on: "group",
      do: "create resource group",
      name: nameOf(id),
      role: "public",
      id,
      body: { location: group.location, tags, properties: {} },
      why: "it does not exist",
      event: true,
    };
    return act([create], pending);
  }
  const { tags = {}, location } = observation.resource;
  // A zone that is there is judged by its own marks.
  if (
    !isOwned(tags, observed) &&
    !group.mayAdopt &&
    publicZone(observed)?.observation.state === "absent"
  )
    return report({
      reason: reasons.ownedByAnother,
      message: `the zone ${observed.domains.cluster} is not created · the resource group ${nameOf(id)} exists and Postern did not create it · give the cluster another name, or tag the group ${ownerTag}=${observed.us.clusterID}/${observed.us.uid} to hand it over`,
    });
  const desired = checkedTags(withTags(tags, group.tags));
  if (!isOwned(tags, observed) || desired === tags) return done;
  const retag: DnsStep = {
    on: "group",
    do: "update resource group",
    name: nameOf(id),
    role: "public",
    id,
    body: { ...(location && { location }), tags: desired, properties: {} },
    why: "its tags differ from the annotations",
  };
  return act([retag], pending);
}

/**
 * The group stays when the cluster is deleted: to delete it, an identity would need the right to delete every resource group of
 * the subscription. What is in it of ours is deleted, and an event says that the group is left.
 */
export function remainingGroupEvents({
  group,
  ...observed
}: Observed): { reason: string; note: string }[] {
  if (group?.observation.state !== "exists" || !isOwned(group.observation.resource.tags, observed))
    return [];
  const name = nameOf(group.id);
  const note = `resource group ${name} is not deleted · Postern created it for this cluster, but deletes no resource groups · delete it if it is empty: az group delete --name ${shellWord(name)}`;
  return [{ reason: reasons.groupLeft, note }];
}
