import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GWLBConfig } from "postern/appliance/gwlb-config.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { balancer, gatewayBody, pool, withProbe } from "./gateway-world.ts";
import { cable, ip, linksIn, obstacle, through } from "./network-cable.ts";
import { healthy, lineOf, ran, realWorld, start, wordsFor } from "./run-agent.ts";

const why = obstacle();
const internal = { type: "Internal", port: 15000, identifier: 900, protocol: "VXLAN" } as const;
const external = { type: "External", port: 15001, identifier: 901, protocol: "VXLAN" } as const;

/** In a namespace: whoever connects to one of these ports of its loopback comes to a socket of the same name in a folder. */
const doors = `
const net = require("node:net");
const [folder, ...ports] = process.argv.slice(1);
let left = ports.length;
for (const port of ports)
  net.createServer((near) => {
    const far = net.connect(folder + "/" + port);
    near.on("error", () => far.destroy()).pipe(far);
    far.on("error", () => near.destroy()).pipe(near);
  }).listen(Number(port), "127.0.0.1", () => --left === 0 && console.log("open"));
`;

/** Lets a namespace reach these ports of this machine's loopback, by sockets in a folder: files know no namespaces. */
async function openDoors(namespace: string, ports: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "postern-doors-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const port of ports) {
    const server = createServer((near) => {
      const far = connect(Number(port), "127.0.0.1");
      near.on("error", () => far.destroy()).pipe(far);
      far.on("error", () => near.destroy()).pipe(near);
    });
    server.listen(join(folder, port));
    await once(server, "listening");
    onTestFinished(() => void server.close());
  }
  const node = [process.execPath, "-e", doors, folder, ...ports];
  const child = spawn("ip", ["netns", "exec", namespace, ...node], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
}

/** A machine whose pool has two tunnels, in a network namespace of its own that reaches the world. */
async function machineInNamespace() {
  const world = await realWorld();
  const body = withProbe(gatewayBody(), { probeThreshold: 1 });
  const tunnelInterfaces = [internal, external];
  Object.assign(body.properties as object, {
    backendAddressPools: [{ name: "inspect", properties: { tunnelInterfaces } }],
  });
  world.simulator.change(balancer, body);
  expect(world.simulator.store.get(pool)?.properties.tunnelInterfaces).toHaveLength(2);
  const words = await wordsFor(world, world.machine("fw"));
  const found = JSON.parse((await ran(["discover", ...words])).stdout) as GWLBConfig;
  const { privateIP: own, frontendIPs } = found;
  const ends = cable({ appliance: own, balancer: frontendIPs[0] ?? "" });
  const urls = words.filter((word) => word.startsWith("http"));
  await openDoors(
    ends.appliance,
    urls.map((url) => new URL(url).port),
  );
  const folder = mkdtempSync(join(tmpdir(), "postern-tunnel-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const before = ["ip", "netns", "exec", ends.appliance];
  return { world, words, own, ends, folder, before };
}

describe.skipIf(why !== undefined)(
  `the program in a network namespace${why ? `: ${why}` : ""}`,
  () => {
    test("takes its tunnel away again where a later step fails, and leaves the network as it was", async () => {
      const { world, words, ends, folder, before } = await machineInNamespace();
      const links = () => ip("-n", ends.appliance, "-br", "link", "show");
      const was = links();
      const seen = join(folder, "seen");
      // The links are there when the hook runs, which then fails.
      const hook = `[ -z "$INGRESS_DEVICE" ] || { ip -br link show > ${seen}; exit 1; }`;
      const run = ["run", ...words, "--tunnel", "configure", ...healthy];
      const ended = await ran([...run, "--ingress-device-hook", hook], { before });
      expect(ended).toMatchObject({ exitCode: 1, stdout: "" });
      expect(ended.stderr).toContain("IngressNotWritten");
      expect(readFileSync(seen, "utf8")).toContain("gwlb-external");
      expect(links()).toBe(was);
      expect(world.members()).toEqual([]);
    }, 120_000);

    test("makes the tunnel of its pool, carries packets through it, and takes it away when it leaves", async () => {
      const { world, words, own, ends, folder, before } = await machineInNamespace();
      const device = join(folder, "device");
      // An `ip` that can be broken.
      const broken = join(folder, "broken");
      const tool = join(folder, "ip");
      const real = execFileSync("which", ["ip"], { encoding: "utf8" }).trim();
      writeFileSync(tool, `#!/bin/sh\n[ ! -e ${broken} ] && exec ${real} "$@"\n`, { mode: 0o755 });

      const run = ["run", ...words, "--tunnel", "configure", "--ingress-device-file", device];
      const listen = [...healthy, "--metrics-listen", "127.0.0.1:0"];
      const env = { PATH: `${folder}:${process.env.PATH}` };
      const child = start([...run, ...listen], { before, env });
      const joined = await lineOf(child);
      expect(joined).toMatchObject({ event: "joined", device: "eth0" });
      const scrape = () => {
        const ask = `fetch("http://127.0.0.1:${joined.metricsPort}/metrics").then((r) => r.text()).then(console.log)`;
        return execFileSync("ip", [...before.slice(1), process.execPath, "-e", ask], {
          encoding: "utf8",
        });
      };
      expect(readFileSync(device, "utf8")).toBe("eth0\n");
      expect(linksIn(ends.appliance)).toEqual(["gwlb-bridge", "gwlb-external", "gwlb-internal"]);
      const whole = { from: own, bytes: 1522 };
      expect(through(ends.balancer, own, [external, internal])).toEqual(whole);
      expect(through(ends.balancer, own, [internal, external])).toEqual(whole);

      const series = "postern_agent_tunnel_packets_total";
      const counted = (link: string) =>
        new RegExp(`${series}{link="${link}",direction="received"} [1-9]`);
      expect(scrape()).toMatch(counted("gwlb-external"));
      expect(scrape()).toMatch(counted("gwlb-internal"));
      // What was last counted is told where nothing can be counted now.
      writeFileSync(broken, "");
      expect(scrape()).toMatch(counted("gwlb-external"));
      rmSync(broken);

      child.kill("SIGTERM");
      expect(await lineOf(child)).toEqual({ event: "left", because: "stopped" });
      expect(linksIn(ends.appliance)).toEqual([]);
      expect(world.members()).toEqual([]);
    }, 120_000);
  },
);
