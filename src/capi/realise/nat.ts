import type { Subnet } from "../../azure/gateways/subnets.ts";
import type { VirtualNetwork } from "../../azure/gateways/virtual-networks.ts";
import { idKey, nameOf, parentOf, type ResourceId, sameId } from "../../model/resource-id.ts";
import { tagOf } from "../../model/tags.ts";
import { capzTagPrefix } from "./place.ts";
import { reasons } from "./reasons.ts";
import type { LinksSeen, Subject } from "./seen.ts";
import { conditionOfSide } from "./sides.ts";
import { type RealiseStep, type Verdict, waiting } from "./steps.ts";
import type { WantedLink } from "./wanted.ts";
import { otherCluster } from "./whose.ts";

const soonMs = 30_000;
const personMs = 60_000;
const unsettledMs = 10_000;

/**
 * What keeps a link from taking addresses from its subnets. A subnet that is closed to link services is opened, if its
 * network is the cluster's own; Azure takes one write to a network at a time, so `opened` has the networks of this plan.
 */
export function natProblem(
  link: WantedLink,
  { networks }: LinksSeen,
  subject: Subject,
  opened: Set<string>,
): Verdict | undefined {
  for (const { subnet } of link.nat) {
    const network = parentOf(subnet) as ResourceId;
    const found = networks.find(({ id }) => sameId(id, network));
    const [net, sub] = [nameOf(network), nameOf(subnet)];
    const unfit = (why: string, todo: string, afterMs: number) =>
      waiting(reasons.subnetUnfit, `private link ${link.name} waits · ${why} · ${todo}`, afterMs);
    if (found === undefined || found.look.state === "absent")
      return unfit(`network ${net} is not there`, "Cluster API Provider Azure makes it", soonMs);
    const { look } = found;
    if (look.state === "failed")
      return waiting(
        reasons.subnetUnfit,
        look.failure.message,
        look.failure.requeueAfterMs ?? soonMs,
      );
    if (look.state === "changing")
      return unfit(`network ${net} is being written`, "nothing to do", look.retryAfterMs);
    const held = look.resource.properties.subnets?.find((each) => sameId(each.id ?? "", subnet));
    if (held === undefined)
      return unfit(
        `network ${net} has no subnet ${sub}`,
        "Cluster API Provider Azure makes it",
        soonMs,
      );
    // What refers to a subnet that is being written is refused.
    if (/^(updating|creating)$/i.test(held.properties.provisioningState ?? ""))
      return waiting(reasons.subnetChanging, beingOpened(link, sub), unsettledMs);
    if (isOpen(held)) continue;
    if (!isClusters(look.resource, found.isInGroup, subject))
      return unfit(
        `subnet ${sub} has network policies for link services, and network ${net} is not this cluster's own`,
        "have its owner set privateLinkServiceNetworkPolicies of the subnet to Disabled",
        personMs,
      );
    return opening(link, subnet, held, opened);
  }
  return undefined;
}

function opening(link: WantedLink, subnet: ResourceId, held: Subnet, opened: Set<string>): Verdict {
  const name = nameOf(subnet);
  const trouble = { reason: reasons.subnetChanging, message: beingOpened(link, name) };
  const network = idKey(parentOf(subnet) ?? "");
  if (opened.has(network)) return { trouble, steps: [], afterMs: soonMs };
  opened.add(network);
  const users = held.properties.ipConfigurations?.length ?? 0;
  const others = users === 0 ? "" : `; ${users} addresses of others in it are not affected`;
  const step: RealiseStep = {
    ...{ do: "open a NAT subnet", id: subnet },
    why: `link services need privateLinkServiceNetworkPolicies Disabled on ${name}${others}`,
    ...{ event: "OpeningNATSubnet", condition: conditionOfSide.links },
    failsAs: reasons.subnetNotChanged,
  };
  return { trouble, steps: [step] };
}

function beingOpened({ name }: WantedLink, subnet: string): string {
  return `private link ${name} waits · subnet ${subnet} is being opened for link services · nothing to do`;
}

/** Whether a subnet lets link services take addresses. */
export function isOpen({ properties }: Subnet): boolean {
  return /^disabled$/i.test(properties.privateLinkServiceNetworkPolicies ?? "");
}

/** Subnets have no tags: whose one is, its network tells. One in the cluster's group that names nobody is the cluster's. */
function isClusters({ tags }: VirtualNetwork, isInGroup: boolean, { cluster }: Subject): boolean {
  if (tagOf(tags, capzTagPrefix + cluster) === "owned") return true;
  return isInGroup && otherCluster(tags) === undefined;
}
