import { CidrError } from "./cidr-error.ts";

/** An address as a number: comparing and adding need no case for each version. */
export interface Ip {
  version: 4 | 6;
  value: bigint;
}

const mapped = { first: 0xffff_0000_0000n, last: 0xffff_ffff_ffffn };

/**
 * Read an address. What Kubernetes refuses is refused here too: zones, leading zeros, and IPv4 addresses
 * written as IPv6 (https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-ip-address-library).
 */
export function parseIp(text: string): Ip {
  const ip = readIp(text);
  if (ip !== undefined) return ip;
  throw new CidrError(text, "not an IPv4 or IPv6 address", "write it as 10.0.0.4 or fd00::4");
}

/** Whether a text is an address, and of the version if one is given. */
export function isIp(text: string, version?: 4 | 6): boolean {
  const ip = readIp(text);
  return ip !== undefined && (version === undefined || ip.version === version);
}

/** Write an address in its one canonical form; for IPv6 that of RFC 5952. */
export function formatIp({ version, value }: Ip): string {
  if (version === 4) return [24n, 16n, 8n, 0n].map((by) => (value >> by) & 0xffn).join(".");
  const groups = Array.from({ length: 8 }, (_, at) =>
    ((value >> BigInt(112 - 16 * at)) & 0xffffn).toString(16),
  );
  const zeros = longestZeros(groups);
  if (zeros.length < 2) return groups.join(":");
  const before = groups.slice(0, zeros.start).join(":");
  return `${before}::${groups.slice(zeros.start + zeros.length).join(":")}`;
}

/** `0000:0000:0000:0000:0000:ffff:255.255.255.255` */
const longestIp = 45;

function readIp(text: string): Ip | undefined {
  if (text.length > longestIp) return undefined;
  if (!text.includes(":")) {
    const value = readIpv4(text);
    return value === undefined ? undefined : { version: 4, value };
  }
  const value = readIpv6(text);
  if (value === undefined || (value >= mapped.first && value <= mapped.last)) return undefined;
  return { version: 6, value };
}

function readIpv4(text: string): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  if (!parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256))
    return undefined;
  return parts.reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
}

function readIpv6(text: string): bigint | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half, at) => readGroups(half, at === halves.length - 1));
  if (head === undefined) return undefined;
  if (halves.length === 1) return head.length === 8 ? joinGroups(head) : undefined;
  if (tail === undefined || head.length + tail.length > 7) return undefined;
  const gap = Array<bigint>(8 - head.length - tail.length).fill(0n);
  return joinGroups([...head, ...gap, ...tail]);
}

/** The groups of one side of a `::`. Only the end of an address may be written as IPv4. */
function readGroups(text: string, atEnd: boolean): bigint[] | undefined {
  if (text === "") return [];
  const groups: bigint[] = [];
  const words = text.split(":");
  for (const [at, word] of words.entries()) {
    const dotted = atEnd && at === words.length - 1 ? readIpv4(word) : undefined;
    if (dotted !== undefined) groups.push(dotted >> 16n, dotted & 0xffffn);
    else if (/^[0-9a-f]{1,4}$/i.test(word)) groups.push(BigInt(`0x${word}`));
    else return undefined;
  }
  return groups;
}

function joinGroups(groups: bigint[]): bigint {
  return groups.reduce((sum, group) => (sum << 16n) | group, 0n);
}

/** The first of the longest runs of zeros. */
function longestZeros(groups: string[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === "0") length++;
    if (length > best.length) best = { start, length };
  }
  return best;
}
