import type { Environment } from "@marcbachmann/cel-js";
import { formatIp, isIp, parseIp } from "@postern/core/ip.ts";
import { type Functions, register, registerNamespace } from "./register.ts";

/** An address. */
class IpValue {
  readonly version: 4 | 6;
  readonly value: bigint;

  constructor(version: 4 | 6, value: bigint) {
    this.version = version;
    this.value = value;
  }

  equals(other: unknown): boolean {
    return other instanceof IpValue && other.version === this.version && other.value === this.value;
  }

  toString(): string {
    return formatIp(this);
  }
}

/** A block of addresses; the address may have bits behind the prefix. */
class CidrValue {
  readonly ip: IpValue;
  readonly length: number;

  constructor(ip: IpValue, length: number) {
    this.ip = ip;
    this.length = length;
  }

  equals(other: unknown): boolean {
    return other instanceof CidrValue && other.length === this.length && this.ip.equals(other.ip);
  }

  masked(): CidrValue {
    const by = BigInt(bitsOf(this.ip) - this.length);
    return new CidrValue(new IpValue(this.ip.version, (this.ip.value >> by) << by), this.length);
  }

  holds(ip: IpValue): boolean {
    const by = BigInt(bitsOf(this.ip) - this.length);
    return ip.version === this.ip.version && ip.value >> by === this.ip.value >> by;
  }

  toString(): string {
    return `${this.ip}/${this.length}`;
  }
}

function bitsOf({ version }: IpValue): number {
  return version === 4 ? 32 : 128;
}

/** Kubernetes takes neither zones nor IPv4 addresses in the clothes of IPv6. */
function ipOf(text: string): IpValue {
  if (!isIp(text) || text.includes("%")) {
    throw new Error(
      `IP Address "${text}" parse error during conversion from string: ParseAddr("${text}"): unable to parse IP`,
    );
  }
  const { version, value } = parseIp(text);
  if (version === 6 && value >> 32n === 0xffffn) {
    throw new Error(`IPv4-mapped IPv6 address "${text}" is not allowed`);
  }
  if (version === 4 && text.includes(":")) {
    throw new Error(`IPv4-mapped IPv6 address "${text}" is not allowed`);
  }
  return new IpValue(version, value);
}

function cidrOf(text: string): CidrValue {
  const [, address = "", length = ""] = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const fault = `network address parse error during conversion from string: netip.ParsePrefix("${text}"): no '/'`;
  if (length === "" || !isIp(address)) throw new Error(fault);
  const ip = ipOf(address);
  if (Number(length) > bitsOf(ip)) throw new Error(fault);
  return new CidrValue(ip, Number(length));
}

function does(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

function inBlock(ip: IpValue, ...blocks: string[]): boolean {
  return blocks.some((block) => cidrOf(block).holds(ip));
}

const isLoopback = (ip: IpValue) => inBlock(ip, "127.0.0.0/8", "::1/128");
const isLinkLocalUnicast = (ip: IpValue) => inBlock(ip, "169.254.0.0/16", "fe80::/10");
const isUnspecified = (ip: IpValue) => ip.value === 0n;
const isMulticast = (ip: IpValue) => inBlock(ip, "224.0.0.0/4", "ff00::/8");

function isGlobalUnicast(ip: IpValue): boolean {
  const special = [isLoopback, isLinkLocalUnicast, isUnspecified, isMulticast];
  return !special.some((is) => is(ip)) && !inBlock(ip, "255.255.255.255/32");
}

function isLinkLocalMulticast(ip: IpValue): boolean {
  if (ip.version === 4) return inBlock(ip, "224.0.0.0/24");
  return ((ip.value >> 112n) & 0xff0fn) === 0xff02n;
}

const functions: Functions = {
  "ip(string): net.IP": ipOf,
  "isIP(string): bool": (text: string) => does(() => ipOf(text)),
  "IpNamespace.isCanonical(string): bool": (_: unknown, text: string) =>
    String(ipOf(text)) === text,
  "net.IP.family(): int": (ip: IpValue) => BigInt(ip.version),
  "net.IP.isUnspecified(): bool": isUnspecified,
  "net.IP.isLoopback(): bool": isLoopback,
  "net.IP.isLinkLocalMulticast(): bool": isLinkLocalMulticast,
  "net.IP.isLinkLocalUnicast(): bool": isLinkLocalUnicast,
  "net.IP.isGlobalUnicast(): bool": isGlobalUnicast,
  "string(net.IP): string": String,
  "cidr(string): net.CIDR": cidrOf,
  "isCIDR(string): bool": (text: string) => does(() => cidrOf(text)),
  "net.CIDR.containsIP(string): bool": (cidr: CidrValue, text: string) => cidr.holds(ipOf(text)),
  "net.CIDR.containsIP(net.IP): bool": (cidr: CidrValue, ip: IpValue) => cidr.holds(ip),
  "net.CIDR.containsCIDR(string): bool": (cidr: CidrValue, text: string) =>
    containsCidr(cidr, cidrOf(text)),
  "net.CIDR.containsCIDR(net.CIDR): bool": containsCidr,
  "net.CIDR.ip(): net.IP": (cidr: CidrValue) => cidr.ip,
  "net.CIDR.prefixLength(): int": (cidr: CidrValue) => BigInt(cidr.length),
  "net.CIDR.masked(): net.CIDR": (cidr: CidrValue) => cidr.masked(),
  "string(net.CIDR): string": String,
};

function containsCidr(outer: CidrValue, inner: CidrValue): boolean {
  return outer.length <= inner.length && outer.holds(inner.ip);
}

/** Addresses and blocks of them. */
export function registerNetworks(environment: Environment): void {
  environment.registerType("net.IP", IpValue);
  environment.registerType("net.CIDR", CidrValue);
  environment.registerOperator("net.IP == net.IP", (one: IpValue, other) => one.equals(other));
  environment.registerOperator("net.CIDR == net.CIDR", (one: CidrValue, other) =>
    one.equals(other),
  );
  registerNamespace(environment, "ip", "IpNamespace");
  register(environment, functions);
}
