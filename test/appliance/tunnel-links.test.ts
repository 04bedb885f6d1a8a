import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Tunnel } from "postern/appliance/gwlb-config.ts";
import { linkCommands, makeTunnelLinks } from "postern/appliance/tunnel-links.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { cable, ip, linksIn, obstacle, through } from "./network-cable.ts";

const why = obstacle();
const tunnels: Tunnel[] = [
  { type: "Internal", port: 10800, identifier: 800 },
  { type: "External", port: 10801, identifier: 801 },
];
const config = { tunnels, privateIP: "10.77.0.4", frontendIPs: ["10.77.0.5"] };
const [internal, external] = tunnels as [Tunnel, Tunnel];
const addresses = { appliance: config.privateIP, balancer: config.frontendIPs[0] ?? "" };

describe.skipIf(why !== undefined)(
  `tunnel links in network namespaces${why ? `: ${why}` : ""}`,
  () => {
    test("a full packet that comes in by one tunnel goes out by the other, both ways, and is counted", async () => {
      const { appliance, balancer } = cable(addresses);
      const links = await makeTunnelLinks(config, "eth0", { namespace: appliance });
      const whole = { from: config.privateIP, bytes: 1522 };
      expect(through(balancer, config.privateIP, [external, internal])).toEqual(whole);
      expect(through(balancer, config.privateIP, [internal, external])).toEqual(whole);
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

    test("what a killed agent left is recreated", async () => {
      const { appliance, balancer } = cable(addresses);
      await makeTunnelLinks(config, "eth0", { namespace: appliance });
      await makeTunnelLinks(config, "eth0", { namespace: appliance });
      expect(linksIn(appliance)).toEqual(["gwlb-bridge", "gwlb-external", "gwlb-internal"]);
      expect(through(balancer, config.privateIP, [external, internal])).toMatchObject({
        bytes: 1522,
      });
    });

    test("an agent that was killed after any of its commands is followed by one that makes all of them", async () => {
      const commands = linkCommands(config, "eth0");
      for (let done = 1; done <= commands.length; done++) {
        const { appliance } = cable(addresses);
        for (const command of commands.slice(0, done)) ip("-n", appliance, ...command);
        const links = await makeTunnelLinks(config, "eth0", { namespace: appliance });
        expect(linksIn(appliance)).toEqual(["gwlb-bridge", "gwlb-external", "gwlb-internal"]);
        await links.remove();
        expect(linksIn(appliance)).toEqual([]);
      }
    });

    test("a link that somebody made in the place of the agent's stays when it leaves", async () => {
      const { appliance } = cable(addresses);
      const links = await makeTunnelLinks(config, "eth0", { namespace: appliance });
      ip("-n", appliance, "link", "del", "gwlb-external");
      ip("-n", appliance, "link", "add", "gwlb-external", "type", "bridge");
      await links.remove();
      expect(linksIn(appliance)).toEqual(["gwlb-external"]);
    });

    test("somebody else's link of the same name stays as it is", async () => {
      const { appliance } = cable(addresses);
      ip("-n", appliance, "link", "add", "gwlb-external", "type", "bridge");
      const links = makeTunnelLinks(config, "eth0", { namespace: appliance });
      await expect(links).rejects.toThrow(/gwlb-external \(TunnelLinkTaken\)/);
      expect(linksIn(appliance)).toEqual(["gwlb-external"]);
    });

    test("where a program holds the port of a tunnel, that is said and no link is left", async () => {
      const { appliance } = cable(addresses);
      const hold = `const s = require("node:dgram").createSocket("udp4"); s.bind(10801, () => console.log("held"))`;
      const holder = spawn("ip", ["netns", "exec", appliance, process.execPath, "-e", hold], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      onTestFinished(() => void holder.kill("SIGKILL"));
      await once(holder.stdout, "data");
      const links = makeTunnelLinks(config, "eth0", { namespace: appliance });
      await expect(links).rejects.toThrow(/gwlb-external up: .*in use \(TunnelLinksRefused\)/);
      expect(linksIn(appliance)).toEqual([]);
    });

    test("where one link cannot be made, none is left", async () => {
      const { appliance } = cable(addresses);
      // The second tunnel's port and number are those of a link that is there already.
      const same = ["id", "801", "dstport", "10801", "remote", "10.77.0.5", "dev", "eth0"];
      ip("-n", appliance, "link", "add", "mine", "type", "vxlan", ...same);
      const links = makeTunnelLinks(config, "eth0", { namespace: appliance });
      await expect(links).rejects.toThrow(
        /ip link add postern-new type vxlan id 801 .*\(TunnelLinksRefused\)/,
      );
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
