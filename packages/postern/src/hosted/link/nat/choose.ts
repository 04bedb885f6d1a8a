import { formatCidr } from "@postern/core/cidr.ts";
import { provisioning } from "@postern/core/provisioning.ts";
import { sameRegion } from "@postern/core/region.ts";
import {
  childId,
  idKey,
  nameOf,
  parentOf,
  parseResourceId,
  type ResourceId,
  sameId,
} from "@postern/core/resource-id.ts";
import { waits } from "../../../kube/part.ts";
import {
  chooseShared,
  freeBlock,
  isBroken,
  type NatNetwork,
  type NatSubnet,
  nextShared,
  runsLow,
  smallestPrefixLength,
  unfitness,
} from "../../../private-link/nat-subnets/subnets.ts";
import { clusterNatSubnetName, isClusterNatSubnet } from "../../names.ts";
import type { Down, Up } from "../observed.ts";
import type { NatChoice, NatDeletionChoice, NatSnapshot } from "./observed.ts";

const subnetType = "Microsoft.Network/virtualNetworks/subnets";
/** A subnet that is being written is ready within seconds, and others wait for it too. */
const subnetWriteMs = 5_000;

/** Choose from where a link service that is to be created takes its address. */
export function chooseNat(observed: Up): NatChoice {
  const { nat } = observed;
  if (nat.is === "unknown network")
    return unfit(
      `the frontend ${observed.known.loadBalancerIP} of the load balancer names no subnet, so no NAT subnet can be created in its network · set natSubnetID of the HostedCluster`,
    );
  if (nat.is !== "observed") return nat;
  if (nat.natSubnets === "given") return chooseGiven(observed, nat);
  const { gate, network, claim } = nat;
  if (gate.is === "failed" && gate.removing !== true)
    return { is: "failed", failure: gate.failure };
  const choice = network && chooseIn(network, observed, nat);
  if (gate.is === "busy") {
    // Although it is being written to, there may be room in what is there; nothing more is created meanwhile.
    if (choice?.is !== "exists") return { is: "changing", retryAfterMs: gate.retryAfterMs };
    const { spare: _later, ...now } = choice;
    return now;
  }
  if (choice === undefined)
    return unfit(
      `network ${nameOf(nat.id)} of the load balancer cannot be found · check it in Azure`,
    );
  if (choice.is !== "to be made" || claim.is === "open") return choice;
  return claim.is === "busy" ? { is: "changing", retryAfterMs: claim.retryAfterMs } : claim;
}

function chooseIn(network: NatNetwork, observed: Up, nat: NatSnapshot): NatChoice {
  return nat.natSubnets === "shared"
    ? chooseAmongShared(network, observed, nat)
    : chooseOfCluster(network, observed, nat);
}

function chooseAmongShared(
  network: NatNetwork,
  { subject: { installation } }: Up,
  { uses, prefixLength }: NatSnapshot,
): NatChoice {
  const useOf = (subnet: NatSubnet) => uses.get(idKey(subnet.id));
  // An address reserved for this link counts as used for all others.
  const usedIn = (subnet: NatSubnet) => useOf(subnet)?.others ?? 0;
  const mayUse = (subnet: NatSubnet) => useOf(subnet)?.isClosed !== true;
  const reserved = network.subnets.find((each) => useOf(each)?.isReserved && mayUse(each));
  const keeps =
    reserved && unfitness(reserved) === undefined && usedIn(reserved) < reserved.capacity;
  const choice = chooseShared(network, installation, usedIn, mayUse);
  const next = () => nextShared(network, installation, prefixLength);
  if (choice.is === "changing") return { is: "changing", retryAfterMs: subnetWriteMs };
  if (choice.is === "exists") {
    const { id, capacity } = keeps ? reserved : choice.subnet;
    const spare = runsLow(choice.free, capacity) ? next() : undefined;
    return {
      is: "exists",
      subnet: id,
      isOwn: true,
      capacity,
      ...(spare && { spare: { id: spare.id, prefix: formatCidr(spare.block) } }),
    };
  }
  if (choice.is === "broken") return writeAgain(choice.subnet);
  const made = next();
  if (made === undefined) return noBlock(network);
  return { is: "to be made", subnet: { id: made.id, prefix: formatCidr(made.block) } };
}

/** The names that the subnet of a cluster may have: two clusters may say that they have the same infraID. */
export function clusterSubnets(
  network: ResourceId,
  { known: { infraID, clusterID }, subject }: Pick<Up, "known" | "subject">,
): ResourceId[] {
  if (infraID === undefined || infraID === "") return [];
  const own = subject.uid.slice(0, 8);
  return [infraID, `${infraID}-${clusterID}`, `${infraID}-${own}`].map((each) =>
    childId(network, "subnets", clusterNatSubnetName(each)),
  );
}

function chooseOfCluster(
  network: NatNetwork,
  { subject: { recordedSubnet = "" } }: Up,
  { candidates, uses, prefixLength }: NatSnapshot,
): NatChoice {
  const recorded = candidates.find(({ id }) => sameId(id, recordedSubnet));
  const subnet = recorded ?? candidates.find(({ isAnothers }) => !isAnothers) ?? candidates.at(-1);
  if (subnet === undefined)
    return unfit(
      "the HostedCluster has no spec.infraID · the NAT subnet of a cluster is named after it · set it, or share subnets",
    );
  const { id, hasSiblings } = subnet;
  const found = network.subnets.find((each) => sameId(each.id, id));
  if (found === undefined) {
    const block = freeBlock(network, prefixLength);
    if (block === undefined) return noBlock(network);
    return { is: "to be made", subnet: { id, prefix: formatCidr(block) } };
  }
  if (provisioning(found.state) === "changing" || uses.get(idKey(id))?.isClosed)
    return { is: "changing", retryAfterMs: subnetWriteMs };
  // One that is not recorded was there before Postern: it is used, and never deleted.
  const isOwn = recorded !== undefined || hasSiblings;
  if (isOwn && isBroken(found)) return writeAgain(found);
  const why = unfitness(found);
  if (why !== undefined) return unfit(`NAT subnet ${found.name} cannot be used: ${why}`);
  return { is: "exists", subnet: found.id, isOwn };
}

function chooseGiven(observed: Up, { network, candidates, uses }: NatSnapshot): NatChoice {
  const { natSubnetID = "", frontend, known } = observed;
  const id = parseResourceId(natSubnetID, subnetType);
  const called = `NAT subnet ${nameOf(id)} of natSubnetID`;
  const balancer = frontend.is === "found" ? frontend.frontend : undefined;
  const own = balancer?.subnet === undefined ? undefined : networkOf(balancer.subnet);
  if (own !== undefined && !sameId(own, networkOf(id)))
    return unfit(
      `${called} is in network ${nameOf(networkOf(id))} · the load balancer with ${known.loadBalancerIP} is in ${nameOf(own)} and both must be in one · specify a subnet of that network, or remove natSubnetID`,
    );
  const found = network?.subnets.find((each) => sameId(each.id, id));
  if (network === undefined || found === undefined)
    return unfit(
      `${called} does not exist · link services take their addresses from it · create it, or remove natSubnetID`,
    );
  const location = balancer?.location ?? "";
  if (!sameRegion(network.location, location))
    return unfit(
      `${called} is in region ${network.location} · the load balancer is in ${location} · specify a subnet in that region`,
    );
  if (isClusterNatSubnet(found.name) && candidates.some(({ isAnothers }) => isAnothers))
    return unfit(
      `${called} belongs to another cluster · clusters do not take addresses from each other's subnets · specify another subnet, or remove natSubnetID`,
    );
  const why = unfitness(found);
  if (why !== undefined) return unfit(`${called} cannot be used: ${why}`);
  const { others = 0, isReserved = false } = uses.get(idKey(id)) ?? {};
  if (others + (isReserved ? 1 : 0) >= found.capacity)
    return unfit(
      `${called} has no free IP address · a link service needs one · enlarge it, or specify another subnet`,
    );
  return { is: "exists", subnet: found.id, isOwn: false };
}

/** Choose what becomes of the subnet that a link leaves: the last one deletes it. */
export function chooseNatDeletion({ nat, services }: Down): NatDeletionChoice {
  if (nat.is !== "observed") return nat;
  const { gate, candidates } = nat;
  if (gate.is === "failed") return gate;
  if (gate.is === "busy") return { is: "changing", retryAfterMs: gate.retryAfterMs };
  const ownNames = new Set(services.map(({ id }) => nameOf(id).toLowerCase()));
  for (const { id, isOwn, isTaken, state, holders } of candidates) {
    if (!isOwn && isTaken) continue;
    // An interface may outlive its service for a moment.
    const isChanging =
      provisioning(state) === "changing" || holders.some((service) => ownNames.has(service ?? ""));
    if (isChanging) return { is: "changing", retryAfterMs: waits.progressMs };
    if (holders.length === 0) return { is: "to be removed", subnet: id };
  }
  return { is: "nothing" };
}

/** The network of a subnet. */
export function networkOf(subnet: string): ResourceId {
  const parent = parentOf(parseResourceId(subnet, subnetType));
  if (parent === undefined) throw new Error(`${subnet} is in no network`);
  return parent;
}

function writeAgain({ id, prefix }: NatSubnet & { prefix: string }): NatChoice {
  return { is: "to be made", subnet: { id, prefix, broken: true } };
}

function noBlock(network: NatNetwork): NatChoice {
  return unfit(
    `network ${nameOf(network.id)} has no free block of /${smallestPrefixLength} or larger for a NAT subnet · add an address space to it, or set natSubnetID of the HostedCluster`,
  );
}

function unfit(message: string): NatChoice {
  return { is: "unfit", message };
}
