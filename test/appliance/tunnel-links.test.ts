import { execFileSync, spawnSync } from "node:child_process";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Tunnel } from "../../src/appliance/gwlb-config.ts";
import { makeTunnelLinks } from "../../src/appliance/tunnel-links.ts";

const ip = (...args: string[]) => execFileSync("ip", args, { encoding: "utf8", stdio: "pipe" });

/** Why no tunnel can be made here; undefined where one can. */
function obstacle(): string | undefined {
  const name = `pn-try-${process.pid}`;
  const tried = spawnSync("ip", ["netns", "add", name], { encoding: "utf8" });
  if (tried.status !== 0) return tried.error?.message ?? tried.stderr.trim();
  const add = ["-n", name, "link", "add", "x", "type", "vxlan", "id", "1", "dstport", "4789"];
  const made = spawnSync("ip", add, { encoding: "utf8" });
  ip("netns", "del", name);
  return made.status === 0 ? undefined : made.stderr.trim();
}

const why = obstacle();
const tunnels: Tunnel[] = [
  { type: "Internal", port: 10800, identifier: 800 },
  { type: "External", port: 10801, identifier: 801 },
];
const config = { tunnels, privateIP: "10.77.0.4", frontendIPs: ["10.77.0.5"] };
let made = 0;

/** Two namespaces with a cable between them: the appliance, and what stands for the load balancer. */
function cable(): { appliance: string; balancer: string } {
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
    [appliance, config.privateIP],
    [balancer, config.frontendIPs[0]],
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

function through(balancer: string, way: [string, string, string, string], size = 1514): unknown {
  const node = [process.execPath, "-e", roundTrip, ...way, config.privateIP, String(size)];
  const ran = spawnSync("ip", ["netns", "exec", balancer, ...node], { encoding: "utf8" });
  return ran.status === 0 ? JSON.parse(ran.stdout) : `nothing came back: ${ran.stderr}`;
}

const linksIn = (namespace: string) =>
  (JSON.parse(ip("-n", namespace, "-j", "link", "show")) as { ifname: string }[])
    .map(({ ifname }) => ifname)
    .filter((name) => name.startsWith("gwlb"))
    .sort();

describe.skipIf(why !== undefined)(
  `tunnel links in network namespaces${why ? `: ${why}` : ""}`,
  () => {
    test("a full packet that comes in by one tunnel goes out by the other, both ways, and is counted", async () => {
      const { appliance, balancer } = cable();
      const links = await makeTunnelLinks(config, "eth0", { namespace: appliance });
      const whole = { from: config.privateIP, bytes: 1522 };
      expect(through(balancer, ["10801", "10800", "801", "800"])).toEqual(whole);
      expect(through(balancer, ["10800", "10801", "800", "801"])).toEqual(whole);
      const packets = await links.packets();
      expect(packets.map(({ link }) => link).sort()).toEqual(["gwlb-external", "gwlb-internal"]);
      for (const { received, sent } of packets) {
        expect(received).toBeGreaterThan(0);
        expect(sent).toBeGreaterThan(0);
      }
      await links.remove();
      expect(linksIn(appliance)).toEqual([]);
      await links.remove();
    });

    test("what a killed agent left is made anew", async () => {
      const { appliance, balancer } = cable();
      await makeTunnelLinks(config, "eth0", { namespace: appliance });
      await makeTunnelLinks(config, "eth0", { namespace: appliance });
      expect(linksIn(appliance)).toEqual(["gwlb-bridge", "gwlb-external", "gwlb-internal"]);
      expect(through(balancer, ["10801", "10800", "801", "800"])).toMatchObject({ bytes: 1522 });
    });

    test("somebody else's link of the same name stays as it is", async () => {
      const { appliance } = cable();
      ip("-n", appliance, "link", "add", "gwlb-external", "type", "bridge");
      const links = makeTunnelLinks(config, "eth0", { namespace: appliance });
      await expect(links).rejects.toThrow(/gwlb-external \(TunnelLinkTaken\)/);
      expect(linksIn(appliance)).toEqual(["gwlb-external"]);
    });

    test("where one link cannot be made, none is left", async () => {
      const { appliance } = cable();
      // The second tunnel's port and number are those of a link that is there already.
      const same = ["id", "801", "dstport", "10801", "remote", "10.77.0.5", "dev", "eth0"];
      ip("-n", appliance, "link", "add", "mine", "type", "vxlan", ...same);
      const links = makeTunnelLinks(config, "eth0", { namespace: appliance });
      await expect(links).rejects.toThrow(/ip link add gwlb-external .*\(TunnelLinksRefused\)/);
      expect(linksIn(appliance)).toEqual([]);
    });
  },
);

test("a load balancer without an address is refused before anything is made", async () => {
  // A namespace that is not there: were it not refused, it still could not reach this machine's own links.
  const nowhere = { namespace: "pn-nowhere" };
  const links = makeTunnelLinks({ ...config, frontendIPs: [] }, "eth0", nowhere);
  await expect(links).rejects.toThrow(/FrontendMissing/);
});
