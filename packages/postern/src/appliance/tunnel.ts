import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import type { ApplianceContext } from "./context.ts";
import { ApplianceError } from "./errors.ts";
import type { GWLBConfig, Tunnel } from "./gwlb-config.ts";

/** The interface on which the load balancer's VXLAN arrives. Azure makes none of its own: it is plain UDP to the primary one. */
export interface TunnelInterface {
  name: string;
  privateIP: string;
  /** Undefined where it cannot be read. */
  mtu?: number;
}

/** An interface of this machine with one of its addresses. */
export interface LocalInterface {
  name: string;
  mac: string;
  address: string;
  mtu?: number | undefined;
}

/** A packet of 1,500 bytes and its wrapping: Ethernet 14, VXLAN 8, UDP 8, IPv4 20. */
const neededMtu = 1_550;
const what = "find the interface that receives the tunnel";

/** Find the interface that receives the tunnel, and warn where large packets would not fit. */
export function findVXLANTunnelInterface(
  ctx: Pick<ApplianceContext, "log">,
  config: Pick<GWLBConfig, "macAddress" | "privateIP" | "tunnels">,
  interfaces: readonly LocalInterface[] = localInterfaces(),
): TunnelInterface {
  checkTunnels(config.tunnels);
  const { name, address, mtu } = chooseInterface(interfaces, config);
  if (mtu !== undefined && mtu < neededMtu)
    ctx.log.warn(
      { interface: name, mtu, needed: neededMtu },
      "the MTU is too small for packets of 1500 bytes in VXLAN: set it to 1550 or more",
    );
  return { name, privateIP: address, ...(mtu !== undefined && { mtu }) };
}

/**
 * Choose by the MAC and the address of the primary interface:
 *
 *   MAC    address   →
 *   same   same      this one
 *   other  same      this one: a bridge or a bond carries the address, and UDP goes where the address is
 *   same   other     not this one: with accelerated networking a second device has the same MAC and receives nothing by itself
 */
export function chooseInterface(
  interfaces: readonly LocalInterface[],
  { macAddress, privateIP }: Pick<GWLBConfig, "macAddress" | "privateIP">,
): LocalInterface {
  const addressed = interfaces.filter(({ address }) => address === privateIP);
  const plain = (mac: string) => mac.replace(/[^\da-f]/gi, "").toUpperCase();
  const selected = addressed.find(({ mac }) => plain(mac) === macAddress) ?? addressed[0];
  if (selected !== undefined) return selected;
  const listed = interfaces.map(({ name, address }) => `${name} ${address}`).join(", ");
  throw new ApplianceError({
    code: "TunnelInterfaceNotFound",
    what,
    detail: `${privateIP} is not among ${listed || "none"}`,
  });
}

/**
 * Two tunnels of one type, port or number could not be told apart, and what is out of range cannot be. Whether a program
 * holds the port is not looked at: it may well be the appliance, and a link that would need it is refused by the kernel.
 */
export function checkTunnels(tunnels: readonly Tunnel[]): void {
  const whole = (value: number, least: number, most: number) =>
    Number.isInteger(value) && value >= least && value <= most;
  const wrong = tunnels.find(
    ({ port, identifier }) => !whole(port, 1, 65_535) || !whole(identifier, 1, 2 ** 24 - 1),
  );
  const alike = (["type", "port", "identifier"] as const).some(
    (name) => new Set(tunnels.map((each) => each[name])).size < tunnels.length,
  );
  if (tunnels.length > 0 && wrong === undefined && !alike) return;
  const listed = tunnels.map(({ type, port, identifier }) => `${type} ${port}/${identifier}`);
  throw new ApplianceError({
    code: "TunnelPortsWrong",
    what,
    detail: listed.join(", ") || "none is of VXLAN",
  });
}

function localInterfaces(): LocalInterface[] {
  return Object.entries(networkInterfaces()).flatMap(([name, addresses = []]) => {
    const mtu = mtuOf(name);
    return addresses.map(({ mac, address }) => ({ name, mac, address, mtu }));
  });
}

function mtuOf(name: string): number | undefined {
  try {
    return Number(readFileSync(`/sys/class/net/${name}/mtu`, "utf8")) || undefined;
  } catch {
    return undefined;
  }
}
