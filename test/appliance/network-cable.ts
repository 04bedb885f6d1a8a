import { execFileSync, spawnSync } from "node:child_process";
import { onTestFinished } from "vitest";

/** Run `ip`; gives what it prints. */
export const ip = (...args: string[]) =>
  execFileSync("ip", args, { encoding: "utf8", stdio: "pipe" });

/** Why no tunnel can be made here; undefined where one can. */
export function obstacle(): string | undefined {
  const name = `pn-try-${process.pid}`;
  const tried = spawnSync("ip", ["netns", "add", name], { encoding: "utf8" });
  if (tried.status !== 0) return tried.error?.message ?? tried.stderr.trim();
  const add = ["-n", name, "link", "add", "x", "type", "vxlan", "id", "1", "dstport", "4789"];
  const made = spawnSync("ip", add, { encoding: "utf8" });
  ip("netns", "del", name);
  return made.status === 0 ? undefined : made.stderr.trim();
}

let made = 0;

/** Two namespaces with a cable between them: the appliance, and what stands for the load balancer. */
export function cable(addresses: { appliance: string; balancer: string }): {
  appliance: string;
  balancer: string;
} {
  const id = `${process.pid}-${made++}`;
  const [appliance, balancer] = [`pn-app-${id}`, `pn-lb-${id}`];
  for (const name of [appliance, balancer]) {
    ip("netns", "add", name);
    onTestFinished(() => void ip("netns", "del", name));
  }
  const peer = ["type", "veth", "peer", "name", "eth0", "netns", balancer];
  ip("-n", appliance, "link", "add", "eth0", "mtu", "1600", ...peer);
  ip("-n", balancer, "link", "set", "eth0", "mtu", "1600");
  for (const [name, address] of [
    [appliance, addresses.appliance],
    [balancer, addresses.balancer],
  ] as const) {
    ip("-n", name, "addr", "add", `${address}/24`, "dev", "eth0");
    ip("-n", name, "link", "set", "eth0", "up");
    ip("-n", name, "link", "set", "lo", "up");
  }
  return { appliance, balancer };
}

/** Sends one frame in VXLAN into a tunnel, as the load balancer does, and prints what comes back by the other. */
const roundTrip = `
const [from, to, vniIn, vniOut, peer, size] = process.argv.slice(1);
const socket = require("node:dgram").createSocket("udp4");
const frame = Buffer.alloc(Number(size), 0x5a);
Buffer.from("02000000000202000000000188b5", "hex").copy(frame);
const header = Buffer.alloc(8);
header[0] = 8;
header.writeUIntBE(Number(vniIn), 4, 3);
let tries = 0;
const send = () => { if (++tries > 50) process.exit(1); socket.send(Buffer.concat([header, frame]), Number(from), peer); };
socket.on("message", (packet, sender) => {
  if (packet.readUIntBE(4, 3) !== Number(vniOut) || !packet.subarray(8).equals(frame)) return;
  console.log(JSON.stringify({ from: sender.address, bytes: packet.length }));
  process.exit(0);
});
socket.bind(Number(to), () => { send(); setInterval(send, 100); });
`;

/** One end of a tunnel. */
interface End {
  port: number;
  identifier: number;
}

/** What comes back to the load balancer by one tunnel when it has sent a frame into another. */
export function through(
  balancer: string,
  appliance: string,
  [from, to]: readonly [End, End],
  size = 1514,
): unknown {
  const way = [from.port, to.port, from.identifier, to.identifier, appliance, size].map(String);
  const node = [process.execPath, "-e", roundTrip, ...way];
  const ran = spawnSync("ip", ["netns", "exec", balancer, ...node], { encoding: "utf8" });
  return ran.status === 0 ? JSON.parse(ran.stdout) : `nothing came back: ${ran.stderr}`;
}

/** The agent's links in a namespace. */
export function linksIn(namespace: string): string[] {
  return (JSON.parse(ip("-n", namespace, "-j", "link", "show")) as { ifname: string }[])
    .map(({ ifname }) => ifname)
    .filter((name) => /^(gwlb|postern)/.test(name))
    .sort();
}
