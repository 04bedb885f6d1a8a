import {
  type Cidr,
  formatCidr,
  nextFreeBlock,
  parseCidr,
  usableAddresses,
} from "@postern/core/cidr.ts";
import { CidrError } from "@postern/core/cidr-error.ts";
import { provisioning } from "@postern/core/provisioning.ts";
import { childId, parseResourceId, type ResourceId } from "@postern/core/resource-id.ts";
import type { VirtualNetwork } from "../../azure/gateways/virtual-networks.ts";

/** A subnet, as far as a link service that takes its addresses from it is concerned. */
export interface NatSubnet {
  id: ResourceId;
  name: string;
  /** Its first block of IPv4. */
  prefix: string | undefined;
  /** How many addresses of IPv4 it has for use. */
  capacity: number;
  state: string;
  policies: string;
  delegated: boolean;
  /** The ids of all that holds an address of it. */
  configurations: readonly string[];
}

/** A virtual network, as far as its subnets are concerned. */
export interface NatNetwork {
  id: ResourceId;
  location: string;
  spaces: readonly Cidr[];
  taken: readonly Cidr[];
  subnets: readonly NatSubnet[];
}

/** Azure has subnets down to /29; one with fewer than 11 addresses is not worth a write to the network. */
export const smallestPrefixLength = 28;

const networkType = "Microsoft.Network/virtualNetworks";

/** Read a network into plain data. IPv6 is left out: link services translate to IPv4. */
export function natNetwork(id: ResourceId, { location, properties }: VirtualNetwork): NatNetwork {
  const found = properties.subnets ?? [];
  return {
    id: parseResourceId(id, networkType),
    location: location ?? "",
    spaces: blocks(properties.addressSpace?.addressPrefixes ?? []),
    taken: found.flatMap((each) => blocks(prefixesOf(each.properties))),
    subnets: found.flatMap((each): NatSubnet[] => {
      if (each.name === undefined) return [];
      const own = blocks(prefixesOf(each.properties));
      const usable = own.map(usableAddresses);
      return [
        {
          id: childId(parseResourceId(id, networkType), "subnets", each.name),
          name: each.name,
          prefix: own[0] && formatCidr(own[0]),
          capacity: Number(usable.reduce((sum, one) => sum + one, 0n)),
          state: each.properties.provisioningState ?? "Succeeded",
          policies: each.properties.privateLinkServiceNetworkPolicies ?? "Enabled",
          delegated: (each.properties.delegations?.length ?? 0) > 0,
          configurations: (each.properties.ipConfigurations ?? []).map((one) => one.id),
        },
      ];
    }),
  };
}

/** Azure fills one of two fields, or both. */
function prefixesOf(subnet: { addressPrefix?: string; addressPrefixes?: string[] }): string[] {
  const { addressPrefix, addressPrefixes = [] } = subnet;
  return addressPrefix === undefined ? addressPrefixes : [addressPrefix, ...addressPrefixes];
}

function blocks(prefixes: readonly string[]): Cidr[] {
  return [...new Set(prefixes)].flatMap((text) => {
    try {
      const block = parseCidr(text);
      return block.version === 4 ? [block] : [];
    } catch (error) {
      if (error instanceof CidrError) return [];
      throw error;
    }
  });
}

/** What keeps a link service from taking addresses from a subnet, and what to do about it; undefined where nothing does. */
export function unfitness(subnet: NatSubnet): string | undefined {
  if (provisioning(subnet.state) !== "succeeded")
    return `its provisioning state is ${subnet.state} · repair it in Azure, or use another subnet`;
  if (!/^disabled$/i.test(subnet.policies))
    return "its privateLinkServiceNetworkPolicies are not Disabled · set them to Disabled, or use another subnet";
  if (subnet.delegated)
    return "it is delegated to an Azure service · remove the delegation, or use another subnet";
  if (subnet.capacity === 0)
    return "it has no IPv4 addresses · add an IPv4 prefix, or use another subnet";
  return undefined;
}

/** The name of the n-th subnet that the link services of an installation share. */
export function sharedSubnetName(installation: string, n: number): string {
  return `postern-nat-${installation}-${n}`;
}

/** Whether a subnet is one of those that an installation shares. Subnets have no tags: the name is the mark. */
export function isSharedSubnet(name: string, installation: string): boolean {
  const prefix = sharedSubnetName(installation, 0).slice(0, -1).toLowerCase();
  return name.toLowerCase().startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length));
}

/** From where a new link service takes its address. */
export type SharedChoice =
  /** From this subnet; `left` are those that remain in all subnets together. */
  | { is: "exists"; subnet: NatSubnet; free: number }
  /** One of ours is just being written; who waits will see whether it has room. */
  | { is: "changing" }
  /** From this one, when it is written again: what made it failed, or somebody changed it. */
  | { is: "broken"; subnet: NatSubnet & { prefix: string } }
  | { is: "none" };

/** Choose among the shared subnets of a network: the first that is fit and has an address left. */
export function chooseShared(
  network: NatNetwork,
  installation: string,
  usedIn: (subnet: NatSubnet) => number,
  mayUse: (subnet: NatSubnet) => boolean = () => true,
): SharedChoice {
  let selected: NatSubnet | undefined;
  let changing = false;
  let broken: (NatSubnet & { prefix: string }) | undefined;
  let free = -1;
  for (const subnet of network.subnets) {
    if (!isSharedSubnet(subnet.name, installation) || !mayUse(subnet)) continue;
    if (provisioning(subnet.state) === "changing") changing = true;
    if (isBroken(subnet)) broken ??= subnet;
    if (unfitness(subnet) !== undefined) continue;
    const room = subnet.capacity - usedIn(subnet);
    if (room <= 0) continue;
    free += room;
    if (selected === undefined || byNumber(subnet, selected) < 0) selected = subnet;
  }
  if (selected !== undefined) return { is: "exists", subnet: selected, free };
  if (changing) return { is: "changing" };
  return broken === undefined ? { is: "none" } : { is: "broken", subnet: broken };
}

/** Whether a subnet of ours can be put right by writing it again: nobody is in it, and it is not just being written. */
export function isBroken(subnet: NatSubnet): subnet is NatSubnet & { prefix: string } {
  return (
    unfitness(subnet) !== undefined &&
    subnet.prefix !== undefined &&
    subnet.configurations.length === 0 &&
    provisioning(subnet.state) !== "changing"
  );
}

/** The id and block of the next subnet to make; undefined where the network has no block left. */
export function nextShared(
  network: NatNetwork,
  installation: string,
  prefixLength: number,
): { id: ResourceId; block: Cidr } | undefined {
  const block = freeBlock(network, prefixLength);
  if (block === undefined) return undefined;
  const names = new Set(network.subnets.map(({ name }) => name.toLowerCase()));
  let n = 0;
  while (names.has(sharedSubnetName(installation, n).toLowerCase())) n++;
  return { id: childId(network.id, "subnets", sharedSubnetName(installation, n)), block };
}

/** The lowest free block of the wanted size, or of the largest smaller size that is left. */
export function freeBlock(network: NatNetwork, prefixLength: number): Cidr | undefined {
  for (let length = prefixLength; length <= smallestPrefixLength; length++) {
    const block = nextFreeBlock(network.spaces, network.taken, length);
    if (block !== undefined) return block;
  }
  return undefined;
}

/** Whether so little is left in all subnets together that the next one should be made now. */
export function runsLow(free: number, capacity: number): boolean {
  return free < Math.min(16, Math.floor(capacity / 4));
}

function byNumber(a: NatSubnet, b: NatSubnet): number {
  const [m, n] = [a, b].map(({ name }) => Number(name.slice(name.lastIndexOf("-") + 1)));
  return (m ?? 0) - (n ?? 0);
}
