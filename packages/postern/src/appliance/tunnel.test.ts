import { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { ApplianceError } from "./errors.ts";
import type { Tunnel } from "./gwlb-config.ts";
import { checkTunnels, findVXLANTunnelInterface, type LocalInterface } from "./tunnel.ts";

const tunnels: Tunnel[] = [
  { type: "Internal", port: 10800, identifier: 800 },
  { type: "External", port: 10801, identifier: 801 },
];
const config = { macAddress: "000D3A010203", privateIP: "10.0.0.4", tunnels };
const lo: LocalInterface = { name: "lo", mac: "00:00:00:00:00:00", address: "127.0.0.1" };
const eth0: LocalInterface = { name: "eth0", mac: "00:0d:3a:01:02:03", address: "10.0.0.4" };

function find(interfaces: LocalInterface[]) {
  const warnings: unknown[] = [];
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (f: object) => warnings.push(f),
  };
  return { found: findVXLANTunnelInterface({ log }, config, interfaces), warnings };
}

test("the interface with the primary MAC and address receives the tunnel", () => {
  const other = { ...eth0, name: "eth1", mac: "00:0d:3a:ff:ff:ff", address: "10.0.1.4" };
  const twin = { ...other, name: "lan", address: "10.0.0.4" };
  expect(find([lo, other, twin, eth0]).found).toEqual({ name: "eth0", privateIP: "10.0.0.4" });
});

test("a bridge that carries the address receives it, and a second device with the MAC alone does not", () => {
  const bridge = { ...eth0, name: "br0", mac: "02:00:00:00:00:01" };
  const virtual = { ...eth0, name: "enP1", address: "fe80::1" };
  expect(find([virtual, bridge]).found.name).toBe("br0");
});

test.each([
  [1500, 1],
  [1549, 1],
  [1550, 0],
  [4000, 0],
  [undefined, 0],
])("an MTU of %s warns %i times", (mtu, times) => {
  expect(find([{ ...eth0, mtu }]).warnings).toHaveLength(times);
});

test("where no interface has the address, the error lists what was seen", () => {
  expect(() => find([lo])).toThrow(
    /10\.0\.0\.4 is not among lo 127\.0\.0\.1 \(TunnelInterfaceNotFound\)/,
  );
});

test("the interfaces of this machine are read with their MTU", () => {
  const [name = "", [first] = []] = Object.entries(networkInterfaces())[0] ?? [];
  const { address: privateIP = "", mac = "" } = first ?? {};
  const macAddress = mac.replaceAll(":", "").toUpperCase();
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined };
  const found = findVXLANTunnelInterface({ log }, { macAddress, privateIP, tunnels });
  expect(found).toMatchObject({ name, privateIP });
  if (process.platform === "linux") expect(found.mtu).toBeGreaterThan(0);
});

test.each<[string, Partial<Tunnel>]>([
  ["of the same type", { type: "Internal" }],
  ["of the same port", { port: 10800 }],
  ["of the same identifier", { identifier: 800 }],
  ["of port 0", { port: 0 }],
  ["of a port that is none", { port: 65_536 }],
  ["of an identifier of more than 24 bits", { identifier: 2 ** 24 }],
])("a second tunnel %s is refused", (_name, over) => {
  const [internal, external] = tunnels as [Tunnel, Tunnel];
  expect(() => checkTunnels([internal, { ...external, ...over }])).toThrow(ApplianceError);
  expect(() => checkTunnels([internal, external])).not.toThrow();
});
