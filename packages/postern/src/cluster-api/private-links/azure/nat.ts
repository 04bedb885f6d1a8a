import { provisioningOf } from "@postern/core/provisioning.ts";
import { idKey, nameOf, parentOf, type ResourceId, sameId } from "@postern/core/resource-id.ts";
import { tagOf } from "@postern/core/tags.ts";
import type { Subnet } from "../../../azure/gateways/subnets.ts";
import type { VirtualNetwork } from "../../../azure/gateways/virtual-networks.ts";
import { act, type Part, type Problem, retry, wait, waits } from "../../../kube/part.ts";
import { capzTagPrefix } from "../../names.ts";
import type { ObservedLinks, Subject } from "../observed.ts";
import { reasons } from "../reasons.ts";
import type { DesiredPrivateLink } from "../spec/desired.ts";
import { conditionOfScope } from "../spec/managed.ts";
import type { UpdateSubnetStep } from "../steps.ts";
import { otherCluster } from "./owner.ts";

/**
 * What keeps a link from taking addresses from its subnets. A subnet that is closed to link services is opened, if its
 * network is the cluster's own; Azure takes one write to a network at a time, so `opened` has the networks of this plan.
 */
export function planNat(
  link: DesiredPrivateLink,
  { networks }: ObservedLinks,
  subject: Subject,
  opened: Set<string>,
): Part<UpdateSubnetStep> | undefined {
  for (const { subnet } of link.nat) {
    const network = parentOf(subnet) as ResourceId;
    const found = networks.find(({ id }) => sameId(id, network));
    const [net, sub] = [nameOf(network), nameOf(subnet)];
    const unfit = (why: string, todo: string, requeueMs: number) => {
      const message = `private link ${link.name} is pending · ${why} · ${todo}`;
      return wait({ reason: reasons.subnetUnfit, message }, requeueMs);
    };
    if (found === undefined || found.observation.state === "absent")
      return unfit(
        `network ${net} does not exist`,
        "Cluster API Provider Azure creates it",
        waits.failureMs,
      );
    const { observation } = found;
    if (observation.state === "failed")
      return retry(observation.failure, { reason: reasons.subnetUnfit });
    if (observation.state === "changing")
      return unfit(
        `network ${net} is being updated`,
        "Postern continues when that is done",
        observation.retryAfterMs,
      );
    const present = observation.resource.properties.subnets?.find((each) =>
      sameId(each.id ?? "", subnet),
    );
    if (present === undefined)
      return unfit(
        `network ${net} has no subnet ${sub}`,
        "Cluster API Provider Azure creates it",
        waits.failureMs,
      );
    // What refers to a subnet that is being written is refused.
    if (provisioningOf(present) === "changing")
      return wait(beingOpened(link, sub), waits.progressMs);
    const isFailed = provisioningOf(present) === "failed";
    if (isOpen(present) && !isFailed) continue;
    if (isFailed && !isClusters(observation.resource, found.isInGroup, subject))
      return unfit(
        `subnet ${sub} is ${present.properties.provisioningState}, and network ${net} is not this cluster's own`,
        "ask its owner to update the subnet",
        waits.changeMs,
      );
    if (!isClusters(observation.resource, found.isInGroup, subject))
      return unfit(
        `subnet ${sub} has network policies for link services, and network ${net} is not this cluster's own`,
        "ask its owner to set privateLinkServiceNetworkPolicies of the subnet to Disabled",
        waits.changeMs,
      );
    return opening(link, subnet, present, opened);
  }
  return undefined;
}

function opening(
  link: DesiredPrivateLink,
  subnet: ResourceId,
  present: Subnet,
  opened: Set<string>,
): Part<UpdateSubnetStep> {
  const name = nameOf(subnet);
  const network = idKey(parentOf(subnet) ?? "");
  if (opened.has(network)) return wait(beingOpened(link, name), waits.failureMs);
  opened.add(network);
  const users = present.properties.ipConfigurations?.length ?? 0;
  const suffix = users === 0 ? "" : `; ${users} addresses of others in it are not affected`;
  const step: UpdateSubnetStep = {
    on: "subnet",
    do: "update NAT subnet",
    name,
    id: subnet,
    why: `link services need privateLinkServiceNetworkPolicies Disabled${suffix}`,
    event: true,
    condition: conditionOfScope.links,
    failsAs: reasons.subnetNotChanged,
  };
  return act([step], beingOpened(link, name));
}

function beingOpened({ name }: DesiredPrivateLink, subnet: string): Problem {
  const message = `private link ${name} is pending · subnet ${subnet} is being configured for link services`;
  return { reason: reasons.subnetChanging, message, progress: true };
}

/** Whether a subnet lets link services take addresses. */
export function isOpen({ properties }: Subnet): boolean {
  return /^disabled$/i.test(properties.privateLinkServiceNetworkPolicies ?? "");
}

/** Subnets have no tags: the network names the owner. One without owner in the cluster's group is the cluster's. */
function isClusters({ tags }: VirtualNetwork, isInGroup: boolean, { cluster }: Subject): boolean {
  if (tagOf(tags, capzTagPrefix + cluster) === "owned") return true;
  return isInGroup && otherCluster(tags) === undefined;
}
