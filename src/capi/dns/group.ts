import { ownerTag } from "../../model/ownership.ts";
import { nameOf } from "../../model/resource-id.ts";
import { shellWord } from "../../model/shell.ts";
import { checkedTags, withTags } from "../../model/tags.ts";
import { reasons } from "./reasons.ts";
import type { Seen } from "./seen.ts";
import { doing, nothing, type Part, waiting, wrong } from "./steps.ts";
import { publicZone } from "./wanted.ts";
import { isOurs, withOwner } from "./whose.ts";

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
export function planGroup(seen: Seen): Part {
  const { group } = seen;
  if (group === undefined) return nothing;
  const { id, look } = group;
  const step = { on: "group", role: "public", id } as const;
  if (look.state === "changing") return waiting(look.retryAfterMs);
  if (look.state === "failed")
    return wrong(look.failure.reason, look.failure.message, look.failure.requeueAfterMs ?? 30_000);
  if (look.state === "absent") {
    if (group.location === undefined)
      return wrong(
        reasons.placeUnknown,
        `the resource group ${nameOf(id)} is not made · it is not known in which region · set CLUSTER_AZURE_LOCATION for the operator`,
      );
    const tags = checkedTags(withOwner(group.tags, seen));
    return doing({
      ...step,
      do: "make group",
      body: { location: group.location, tags, properties: {} },
      why: `the resource group ${nameOf(id)} does not exist`,
      event: "CreatingResourceGroup",
    });
  }
  const { tags = {}, location } = look.resource;
  // A zone that is there is judged by its own marks.
  if (!isOurs(tags, seen) && !group.mayAdopt && publicZone(seen)?.look.state === "absent")
    return wrong(
      reasons.ownedByAnother,
      `the zone ${seen.domains.cluster} is not created · the resource group ${nameOf(id)} exists and Postern did not create it · give the cluster another name, or tag the group ${ownerTag}=${seen.us.clusterID}/${seen.us.uid} to hand it over`,
    );
  const wanted = checkedTags(withTags(tags, group.tags));
  if (!isOurs(tags, seen) || wanted === tags) return nothing;
  return doing({
    ...step,
    do: "tag group",
    body: { ...(location && { location }), tags: wanted, properties: {} },
    why: `the tags of the resource group ${nameOf(id)} are not as annotated`,
  });
}

/**
 * The group stays when the cluster goes: to delete it, an identity would need the right to delete every resource group of
 * the subscription. What is in it of ours is deleted, and an event says that the group is left.
 */
export function leftGroup({ group, ...seen }: Seen): { reason: string; note: string }[] {
  if (group?.look.state !== "there" || !isOurs(group.look.resource.tags, seen)) return [];
  const name = nameOf(group.id);
  const note = `resource group ${name} is left · Postern created it for this cluster and deletes no resource groups · delete it if it is empty: az group delete --name ${shellWord(name)}`;
  return [{ reason: reasons.groupLeft, note }];
}
