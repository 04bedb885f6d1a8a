import { CidrError } from "./cidr-error.ts";
import { formatIp, type Ip, parseIp } from "./ip.ts";

/** A block of addresses. Made by `parseCidr`, its first address has no bits behind the prefix. */
export interface Cidr {
  version: 4 | 6;
  first: bigint;
  prefixLength: number;
}

/** Read a block such as `10.0.0.0/24`. Azure refuses bits behind the prefix, and so does this. */
export function parseCidr(text: string): Cidr {
  const [, address, length] = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  if (address === undefined || length === undefined) {
    throw new CidrError(text, "not a block of addresses", "write it as 10.0.0.0/24 or fd00::/64");
  }
  const { version, value } = parseIp(address);
  const prefixLength = Number(length);
  if (prefixLength > bits(version)) {
    throw new CidrError(
      text,
      "not a block of addresses",
      `the prefix is at most /${bits(version)}`,
    );
  }
  const block = { version, first: value, prefixLength };
  const first = value - (value % sizeOf(block));
  if (first === value) return block;
  const right = formatCidr({ version, first, prefixLength });
  throw new CidrError(text, "not the start of its block", `write it as ${right}`);
}

/** Write a block in its one canonical form. */
export function formatCidr({ version, first, prefixLength }: Cidr): string {
  return `${formatIp({ version, value: first })}/${prefixLength}`;
}

/** How many addresses a block has. */
export function sizeOf({ version, prefixLength }: Pick<Cidr, "version" | "prefixLength">): bigint {
  return 1n << BigInt(bits(version) - prefixLength);
}

/** Whether a block or an address lies whole in a block. */
export function contains(outer: Cidr, inner: Cidr | Ip): boolean {
  if (outer.version !== inner.version) return false;
  const first = "value" in inner ? inner.value : inner.first;
  const last = "value" in inner ? inner.value : lastOf(inner);
  return outer.first <= first && last <= lastOf(outer);
}

/** Whether two blocks have an address in common. */
export function overlaps(a: Cidr, b: Cidr): boolean {
  return a.version === b.version && a.first <= lastOf(b) && b.first <= lastOf(a);
}

/**
 * The lowest block of a size that lies in one of the spaces and overlaps nothing that is used; IPv4
 * comes before IPv6. It goes from one used block to the next and never through what lies between.
 */
export function nextFreeBlock(
  spaces: readonly Cidr[],
  used: readonly Cidr[],
  prefixLength: number,
): Cidr | undefined {
  const taken = used.toSorted(byPlace);
  // Blocks lie apart or one in the other, so the lowest space that has room has the lowest room.
  for (const space of spaces.toSorted(byPlace)) {
    if (prefixLength < space.prefixLength || prefixLength > bits(space.version)) continue;
    const first = firstGap(space, taken, prefixLength);
    if (first !== undefined) return { version: space.version, first, prefixLength };
  }
  return undefined;
}

function firstGap(space: Cidr, taken: readonly Cidr[], prefixLength: number): bigint | undefined {
  const size = sizeOf({ version: space.version, prefixLength });
  let at = space.first;
  for (const block of taken) {
    if (block.version !== space.version || lastOf(block) < at) continue;
    if (block.first >= at + size) break;
    at = roundUp(lastOf(block) + 1n, size);
  }
  return at + size - 1n <= lastOf(space) ? at : undefined;
}

/** Azure keeps the first four addresses of a subnet and the last one for itself. */
const reservedAtStart = 4n;
const reservedAtEnd = 1n;

/**
 * How many addresses of a subnet Azure leaves to use
 * (https://learn.microsoft.com/azure/virtual-network/virtual-networks-faq).
 */
export function usableAddresses(subnet: Cidr): bigint {
  const usable = sizeOf(subnet) - reservedAtStart - reservedAtEnd;
  return usable > 0n ? usable : 0n;
}

/** The first address of a subnet that Azure leaves to use. */
export function firstUsable(subnet: Cidr): Ip | undefined {
  if (usableAddresses(subnet) === 0n) return undefined;
  return { version: subnet.version, value: subnet.first + reservedAtStart };
}

function bits(version: 4 | 6): number {
  return version === 4 ? 32 : 128;
}

function lastOf(block: Cidr): bigint {
  return block.first + sizeOf(block) - 1n;
}

function roundUp(value: bigint, size: bigint): bigint {
  return ((value + size - 1n) / size) * size;
}

function byPlace(a: Cidr, b: Cidr): number {
  if (a.version !== b.version) return a.version - b.version;
  return a.first < b.first ? -1 : a.first > b.first ? 1 : a.prefixLength - b.prefixLength;
}
