import {
  type Cidr,
  contains,
  formatCidr,
  nextFreeBlock,
  parseCidr,
  sizeOf,
} from "@postern/core/cidr.ts";
import { formatIp, type Ip, isIp, parseIp } from "@postern/core/ip.ts";
import { invalid } from "../../arm/fields.ts";
import { badReference } from "../../arm/links.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { World } from "../../arm/resource-type.ts";
import type { Resource } from "../../state/store.ts";
import { type AddressUses, addressIndexOf, valuesOf } from "./address-index.ts";

/** What is asked of a subnet. */
export interface Wish {
  /** The id of the subnet, in any case. */
  subnet: string;
  /** 4 where nothing is said. */
  version?: 4 | 6 | undefined;
  /** A static address: this one or none. */
  wanted?: string | undefined;
  /** The address that was given before: kept where it can be. */
  held?: string | undefined;
  /** A block of this size, and not one address. */
  prefixLength?: number | undefined;
  /** The id of the ip configuration that asks, for the refusal. */
  asker: string;
}

/** Addresses for one write. Nothing is taken until the write is kept; the draft gives none of them twice. */
export interface AddressDraft {
  take(wish: Wish): string;
}

/**
 * Begin to take addresses for a write. What the owners named here hold counts as free: they are what the write
 * replaces, such as an interface that is written again.
 */
export function draftAddresses(world: World, owners: readonly string[]): AddressDraft {
  const index = addressIndexOf(world.store);
  const own = new Set(owners.map((each) => each.toLowerCase()));
  const drafted = new Set<bigint>();
  const holdings = (subnet: string) => [...own].flatMap((each) => index.holdings(each, subnet));
  return {
    take(wish) {
      const { subnet, prefixes } = subnetOf(world, wish);
      const uses = index.uses(subnet.key);
      const blocked = (ip: Ip) =>
        drafted.has(ip.value) ? wish.asker : uses?.holder(ip.value, own);
      if (wish.prefixLength !== undefined) {
        const block =
          heldBlock(wish, prefixes, blocked) ??
          freeBlock(wish.prefixLength, prefixes, [...drafted, ...(uses?.values() ?? [])]);
        if (block === undefined) throw full(subnet, prefixes);
        for (const value of valuesOf(block)) drafted.add(value);
        return block;
      }
      const found =
        wish.wanted === undefined
          ? (stillFree(wish.held, prefixes, blocked) ??
            lowest(prefixes, uses, drafted, holdings(subnet.key)))
          : checked(wish.wanted, wish, prefixes, blocked, world);
      if (found === undefined) throw full(subnet, prefixes);
      drafted.add(found.value);
      return formatIp(found);
    },
  };
}

/** The resource that uses an address of a subnet. */
export function userOfAddress(world: World, subnet: string, address: string): string | undefined {
  return addressIndexOf(world.store)
    .uses(subnet.toLowerCase())
    ?.holder(parseIp(address).value, new Set());
}

/** How many addresses of a subnet are in use. */
export function usedAddressCount(world: World, subnet: string): number {
  return addressIndexOf(world.store).uses(subnet.toLowerCase())?.size ?? 0;
}

function subnetOf(world: World, { subnet: id, version = 4, asker }: Wish) {
  const subnet = world.store.get(id);
  if (subnet?.type !== "Microsoft.Network/virtualNetworks/subnets")
    throw badReference(id, asker.split("/").slice(0, 9).join("/"));
  const { addressPrefix, addressPrefixes } = subnet.properties;
  const given = Array.isArray(addressPrefixes) ? addressPrefixes : [addressPrefix];
  const prefixes = given
    .filter((each) => typeof each === "string")
    .map((each) => parseCidr(each))
    .filter((each) => each.version === version);
  return { subnet, prefixes };
}

type Blocked = (ip: Ip) => string | undefined;

function stillFree(
  held: string | undefined,
  prefixes: readonly Cidr[],
  blocked: Blocked,
): Ip | undefined {
  if (held === undefined || !isIp(held)) return undefined;
  const ip = parseIp(held);
  return prefixes.some((each) => contains(each, ip)) && blocked(ip) === undefined ? ip : undefined;
}

function heldBlock(
  { held = "", prefixLength }: Wish,
  prefixes: readonly Cidr[],
  blocked: Blocked,
): string | undefined {
  const [version] = prefixes.map((each) => each.version);
  const isFree = (value: bigint) =>
    version !== undefined &&
    prefixes.some((each) => contains(each, { version, value })) &&
    blocked({ version, value }) === undefined;
  return held.endsWith(`/${prefixLength}`) && valuesOf(held).every(isFree) ? held : undefined;
}

/** The first block that has no address that Azure keeps or anyone uses. */
function freeBlock(
  length: number,
  prefixes: readonly Cidr[],
  used: readonly bigint[],
): string | undefined {
  const taken = prefixes.flatMap((prefix) => {
    const { version, first } = prefix;
    const values = [...used, first, usable(prefix).last + 1n];
    return values.map((value) => ({
      version,
      first: value,
      prefixLength: version === 4 ? 32 : 128,
    }));
  });
  const block = nextFreeBlock(prefixes, taken, length);
  return block && formatCidr(block);
}

/** Azure keeps the first four addresses of a subnet and the last one for itself (virtual-networks-faq). */
function usable(prefix: Cidr): { first: bigint; last: bigint } {
  return { first: prefix.first + 4n, last: prefix.first + sizeOf(prefix) - 2n };
}

function lowest(
  prefixes: readonly Cidr[],
  uses: AddressUses | undefined,
  drafted: ReadonlySet<bigint>,
  own: readonly bigint[],
): Ip | undefined {
  for (const prefix of prefixes) {
    const { first, last } = usable(prefix);
    let value = uses ? uses.firstFree(first, last) : first;
    while (value !== undefined && value <= last && drafted.has(value))
      value = uses ? uses.firstFree(first, last, value + 1n) : value + 1n;
    if (value !== undefined && value <= last) return { version: prefix.version, value };
  }
  // What the write gives up by being kept is the last resort.
  for (const prefix of prefixes)
    for (const value of own) {
      const ip = { version: prefix.version, value };
      if (contains(prefix, ip) && !drafted.has(value)) return ip;
    }
  return undefined;
}

function checked(
  wanted: string,
  { asker }: Wish,
  prefixes: readonly Cidr[],
  blocked: Blocked,
  world: World,
): Ip {
  if (!isIp(wanted))
    throw invalid(
      "InvalidRequestFormat",
      "Cannot parse the request.",
      "InvalidIPAddress",
      `The value '${wanted.slice(0, 60)}' is not an IP address.`,
    );
  const ip = parseIp(wanted);
  const prefix = prefixes.find((each) => contains(each, ip));
  // hashicorp/terraform-provider-azurerm#4225 and openshift/installer#9144 show these two.
  if (!prefix)
    throw new Refusal(
      400,
      "PrivateIPAddressNotInSubnet",
      `Private static IP address ${wanted} does not belong to the range of subnet prefix ${prefixes.map(formatCidr).join(", ")}.`,
    );
  const { first, last } = usable(prefix);
  if (ip.value < first || ip.value > last)
    throw new Refusal(
      400,
      "PrivateIPAddressInReservedRange",
      `Private static IP address ${wanted} falls within reserved IP range of subnet prefix ${formatCidr(prefix)}.`,
    );
  const by = blocked(ip);
  if (by === undefined) return ip;
  // daniel-rhoades/acs-engine-terraform#10 shows this one.
  throw new Refusal(
    400,
    "PrivateIPAddressIsAllocated",
    `IP configuration ${asker} is using the private IP address ${wanted} which is already allocated to resource ${world.store.get(by)?.id ?? by}.`,
  );
}

/** The words are those of MicrosoftDocs/azure-docs#88211. */
function full(subnet: Resource, prefixes: readonly Cidr[]): Refusal {
  return new Refusal(
    400,
    "SubnetIsFull",
    `Subnet ${subnet.name} with address prefix ${prefixes.map(formatCidr).join(", ")} does not have enough capacity for 1 IP addresses.`,
  );
}
