import { lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { KubeError } from "./errors.ts";

/** A tenant's kubeconfig may name any of these, and the operator would reach what only this machine or Azure should. */
const never = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  // Link-local, with the instance metadata service of Azure at 169.254.169.254.
  ["169.254.0.0", 16],
  // Azure's wire server: https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
  ["168.63.129.16", 32],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const)
  never.addSubnet(network, prefix, "ipv4");
for (const [network, prefix] of [
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
  // Metadata services of other clouds.
  ["fd00:ec2::254", 128],
  // IPv4 in another form: IPv4-compatible, NAT64 with a local prefix, Teredo and 6to4.
  ["64:ff9b:1::", 48],
  ["2001::", 32],
  ["2002::", 16],
] as const)
  never.addSubnet(network, prefix, "ipv6");

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** IPv4-compatible addresses, with the unspecified address among them; the loopback address is looked at before. */
const compatible = new BlockList();
compatible.addSubnet("::", 96, "ipv6");

/** NAT64, https://www.rfc-editor.org/rfc/rfc6052: the last 32 bits are an IPv4 address. */
const translated = new BlockList();
translated.addSubnet("64:ff9b::", 96, "ipv6");

/** Which addresses a tenant's kubeconfig may lead to. */
export interface AddressRules {
  allows(address: string): boolean;
}

/**
 * The rules for an operator that reaches its own API server at this address. Loopback is allowed only where that is on
 * loopback too: then everything runs on one machine.
 */
export function addressRules(ownServer: URL): AddressRules {
  const host = plainHost(ownServer);
  const onOneMachine = host === "localhost" || isIn(loopback, host);
  const allows = (text: string): boolean => {
    // A zone says by which interface, and changes nothing else.
    const [address = ""] = text.split("%");
    if (isIP(address) === 0) return false;
    if (isIn(loopback, address)) return onOneMachine;
    if (isIn(translated, address)) {
      const inner = lastIpv4(address);
      return !isIn(loopback, inner) && allows(inner);
    }
    return !isIn(never, address) && !isIn(compatible, address);
  };
  return { allows };
}

/** The host of an address, without the brackets of IPv6. */
export function plainHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

/**
 * Resolves names for sockets and fails where a name leads to an address that is not allowed. The socket connects to what is
 * answered here, so it does not help to answer something else later.
 */
export function guardedLookup(
  rules: AddressRules,
  resolve: LookupFunction = lookup as LookupFunction,
): LookupFunction {
  return (hostname, options, callback) =>
    resolve(hostname, options, (error, address, family) => {
      if (error) return callback(error, address, family);
      const all = Array.isArray(address) ? address.map((each) => each.address) : [address];
      const bad = all.find((each) => !rules.allows(each));
      if (bad === undefined) return callback(null, address, family);
      callback(notAllowed(`${hostname} resolves to ${bad}`), "", 0);
    });
}

/** The error for a server that may not be reached. */
export function notAllowed(why: string): KubeError {
  return new KubeError("AddressNotAllowed", `the API server is not contacted · ${why}`);
}

function isIn(list: BlockList, address: string): boolean {
  const version = isIP(address);
  // An IPv4 address in IPv6 form (::ffff:127.0.0.1) is compared as IPv4.
  return version !== 0 && list.check(address, version === 4 ? "ipv4" : "ipv6");
}

/** The IPv4 address at the end of an IPv6 address. */
function lastIpv4(address: string): string {
  const { hostname } = new URL(`http://[${address}]`);
  const [high = "", low = ""] = hostname.slice(1, -1).split(":").slice(-2);
  const number = (Number.parseInt(high || "0", 16) << 16) | Number.parseInt(low || "0", 16);
  return [24, 16, 8, 0].map((by) => (number >>> by) & 0xff).join(".");
}
