import type { ArmView } from "../../azure/arm.ts";
import { formatCidr } from "../../model/cidr.ts";
import {
  childId,
  idKey,
  nameOf,
  parentOf,
  parseResourceId,
  type ResourceId,
  sameId,
} from "../../model/resource-id.ts";
import {
  clusterNatSubnetName,
  isClusterNatSubnet,
  linkServiceName,
  oauthServer,
  privateRouter,
} from "../names.ts";
import { fresherMs } from "./frontends.ts";
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
} from "./nat-subnets.ts";
import { serviceBehind } from "./nat-users.ts";
import type { LinkParts } from "./parts.ts";
import type { NatSeen, Up } from "./seen.ts";

/** What a pass knows of the time, and through whom it asks Azure. */
export interface Asking {
  view: ArmView;
  now: number;
  maxAgeMs: number;
  /** Another HostedCluster says that it has the same clusterID. */
  sharesClusterID: boolean;
}

const subnetType = "Microsoft.Network/virtualNetworks/subnets";
const unsettledMs = 5_000;

/**
 * From where a service that is to be made takes its address. The address is promised here and now, so that a thousand
 * objects that are planned at once spread over as many subnets as they need.
 */
export async function seeNat(
  seen: Omit<Up, "nat">,
  asking: Asking,
  parts: LinkParts,
): Promise<NatSeen> {
  if (seen.frontend.is !== "found") return { is: "not needed" };
  const { subnet } = seen.frontend.frontend;
  const own = subnet === undefined ? undefined : networkOf(subnet);
  if (seen.natSubnetID !== undefined) return seeGiven(seen, own, asking, parts);
  if (own === undefined)
    return unfit(
      `the frontend ${seen.known.loadBalancerIP} of the load balancer names no subnet, so no NAT subnet can be made beside it · set natSubnetID of the HostedCluster`,
    );
  const choose = parts.natSubnets === "shared" ? chooseAmongShared : chooseOfCluster;
  const gate = await parts.networks.gate(asking.view, own, asking.now);
  if (gate.is === "failed" && gate.removing !== true)
    return { is: "failed", failure: gate.failure };
  const first = await parts.networks.read(asking.view, own, asking.maxAgeMs, asking.now);
  const choice = first && choose(first, seen, asking, parts);
  if (gate.is === "busy") {
    // Although it is being written to, there may be room in what is there; nothing more is made meanwhile.
    if (choice?.is !== "there") return { is: "changing", retryAfterMs: gate.retryAfterMs };
    const { spare: _later, ...now } = choice;
    return now;
  }
  if (choice?.is === "there") return choice;
  // What is not as it should be may have been put right meanwhile.
  const fresh = await parts.networks.read(asking.view, own, fresherMs, asking.now);
  if (fresh === undefined)
    return unfit(`network ${nameOf(own)} of the load balancer cannot be found · check it in Azure`);
  const decided = choose(fresh, seen, asking, parts);
  if (decided.is !== "to be made") return decided;
  const claim = parts.networks.claim(own, seen.subject.uid, asking.now);
  if (claim.is === "failed") return { is: "failed", failure: claim.failure };
  if (claim.is === "busy") return { is: "changing", retryAfterMs: claim.retryAfterMs };
  // Whoever makes it has the first address.
  parts.natUsers.reserve(seen.subject, decided.subnet.id, seen.known.serviceName);
  return decided;
}

function chooseAmongShared(
  network: NatNetwork,
  { subject, known }: Omit<Up, "nat">,
  { now }: Asking,
  { natUsers, installation, natPrefixLength }: LinkParts,
): NatSeen {
  const { uid } = subject;
  const isMine = (subnet: NatSubnet) => natUsers.subnetOf(uid) === idKey(subnet.id);
  // Who was promised an address has it: it counts for everybody else only.
  const usedIn = (subnet: NatSubnet) => natUsers.usedIn(subnet) - (isMine(subnet) ? 1 : 0);
  const mayUse = (subnet: NatSubnet) => !natUsers.isClosed(subnet.id, now);
  const promised = network.subnets.find((each) => isMine(each) && mayUse(each));
  const keeps =
    promised && unfitness(promised) === undefined && usedIn(promised) < promised.capacity;
  const choice = chooseShared(network, installation, usedIn, mayUse);
  const next = () => nextShared(network, installation, natPrefixLength);
  if (choice.is === "changing") return { is: "changing", retryAfterMs: unsettledMs };
  if (choice.is === "there") {
    const subnet = keeps ? promised : choice.subnet;
    natUsers.reserve(subject, subnet.id, known.serviceName);
    const spare = runsLow(choice.left, subnet.capacity) ? next() : undefined;
    return {
      ...{ is: "there", subnet: subnet.id, ours: true },
      ...(spare && { spare: { id: spare.id, prefix: formatCidr(spare.block) } }),
    };
  }
  if (choice.is === "broken") return again(choice.subnet);
  const made = next();
  if (made === undefined) return noBlock(network);
  return { is: "to be made", subnet: { id: made.id, prefix: formatCidr(made.block) } };
}

function chooseOfCluster(
  network: NatNetwork,
  seen: Omit<Up, "nat">,
  asking: Asking,
  parts: LinkParts,
): NatSeen {
  const { subject, known } = seen;
  const { natUsers, natPrefixLength } = parts;
  if (known.infraID === undefined || known.infraID === "")
    return unfit(
      "the HostedCluster has no spec.infraID · the NAT subnet of a cluster is named after it · set it, or share subnets",
    );
  const { infraID } = known;
  // Two clusters may say that they have the same infraID: each has a subnet of its own nevertheless.
  const own = subject.uid.slice(0, 8);
  const ids = [infraID, `${infraID}-${known.clusterID}`, `${infraID}-${own}`].map((each) =>
    childId(network.id, "subnets", clusterNatSubnetName(each)),
  );
  const isFree = (each: ResourceId) => !isAnothers(each, network, seen, asking, parts);
  const noted = ids.find((each) => sameId(each, subject.notedSubnet ?? ""));
  const id = noted ?? ids.find(isFree) ?? (ids.at(-1) as ResourceId);
  const found = network.subnets.find((each) => sameId(each.id, id));
  if (found === undefined) {
    const block = freeBlock(network, natPrefixLength);
    if (block === undefined) return noBlock(network);
    return { is: "to be made", subnet: { id, prefix: formatCidr(block) } };
  }
  if (/^(updating|creating|deleting)$/i.test(found.state) || natUsers.isClosed(id, asking.now))
    return { is: "changing", retryAfterMs: unsettledMs };
  // One that nobody has noted was there before us: it is used, and left behind as it was found.
  const ours = sameId(subject.notedSubnet ?? "", id) || natUsers.siblingsIn(id, subject);
  if (ours && isBroken(found)) return again(found);
  const why = unfitness(found);
  if (why !== undefined) return unfit(`NAT subnet ${found.name} cannot be used: ${why}`);
  if (ours) natUsers.reserve(subject, id, known.serviceName);
  return { is: "there", subnet: found.id, ours };
}

/**
 * Whether a link of another control plane takes addresses from a subnet: as was noted, or as Azure shows, because what
 * HyperShift created is not noted. A link service without an owner tag is HyperShift's, and its name tells whose it is.
 */
function isAnothers(
  id: ResourceId,
  network: NatNetwork | undefined,
  { subject, known }: Omit<Up, "nat">,
  { sharesClusterID }: Asking,
  { natUsers, serviceList, namespaceOf }: LinkParts,
): boolean {
  if (natUsers.strangersIn(id, subject)) return true;
  const names = [privateRouter, oauthServer].map((link) =>
    linkServiceName(link, known.clusterID).toLowerCase(),
  );
  const found = network?.subnets.find((each) => sameId(each.id, id));
  return (found?.configurations ?? []).some((each) => {
    const service = serviceBehind(each);
    if (service === undefined) return false;
    const owner = serviceList.ownerOf(service);
    if (owner === undefined) return sharesClusterID || !names.includes(service);
    return owner !== subject.uid && namespaceOf(owner) !== subject.namespace;
  });
}

async function seeGiven(
  seen: Omit<Up, "nat">,
  own: ResourceId | undefined,
  asking: Asking,
  parts: LinkParts,
): Promise<NatSeen> {
  const { natSubnetID = "", frontend, known } = seen;
  const { view, now, maxAgeMs } = asking;
  const { networks, natUsers } = parts;
  const id = parseResourceId(natSubnetID, subnetType);
  const network = networkOf(id);
  const called = `NAT subnet ${nameOf(id)} of natSubnetID`;
  if (own !== undefined && !sameId(own, network))
    return unfit(
      `${called} is in network ${nameOf(network)} · the load balancer with ${known.loadBalancerIP} is in ${nameOf(own)} and both must be in one · name a subnet of that network, or none`,
    );
  const location = frontend.is === "found" ? frontend.frontend.location : "";
  const judge = (there: NatNetwork | undefined): NatSeen => {
    const found = there?.subnets.find((each) => sameId(each.id, id));
    if (there === undefined || found === undefined)
      return unfit(
        `${called} does not exist · link services take their addresses from it · make it, or leave natSubnetID out`,
      );
    if (plain(there.location) !== plain(location))
      return unfit(
        `${called} is in region ${there.location} · the load balancer is in ${location} · name a subnet of that region`,
      );
    if (isClusterNatSubnet(found.name) && isAnothers(id, there, seen, asking, parts))
      return unfit(
        `${called} is another cluster's · clusters do not take addresses from each other's subnets · name another subnet, or none`,
      );
    const why = unfitness(found);
    if (why !== undefined) return unfit(`${called} cannot be used: ${why}`);
    if (natUsers.usedIn(found) >= found.capacity)
      return unfit(
        `${called} has no address left · a link service needs one · make it larger, or name another subnet`,
      );
    return { is: "there", subnet: found.id, ours: false };
  };
  const first = judge(await networks.read(view, network, maxAgeMs, now));
  if (first.is === "there") return first;
  return judge(await networks.read(view, network, fresherMs, now));
}

function networkOf(subnet: string): ResourceId {
  const parent = parentOf(parseResourceId(subnet, subnetType));
  if (parent === undefined) throw new Error(`${subnet} is in no network`);
  return parent;
}

function again({ id, prefix }: NatSubnet & { prefix: string }): NatSeen {
  return { is: "to be made", subnet: { id, prefix, broken: true } };
}

function noBlock(network: NatNetwork): NatSeen {
  return unfit(
    `network ${nameOf(network.id)} has no free block of /${smallestPrefixLength} or larger for a NAT subnet · add an address space to it, or set natSubnetID of the HostedCluster`,
  );
}

function unfit(message: string): NatSeen {
  return { is: "unfit", message };
}

function plain(location: string): string {
  return location.toLowerCase().replaceAll(" ", "");
}
