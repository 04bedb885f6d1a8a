import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { realClock } from "../../src/model/clock.ts";
import type { JsonObject } from "../../src/simulator/store.ts";
import { type GatewayWorld, gatewayBody, gatewayWorld } from "./gateway-world.ts";

const bin = join(import.meta.dirname, "../../bin/postern.js");

/** A world on the real clock, because the program has no other. */
async function realWorld() {
  const world = await gatewayWorld({ clock: realClock, lb: quickProbe() });
  const id = world.machine("fw");
  return { world, id, words: await wordsFor(world, id) };
}

/** Azure allows no interval under five seconds; one answer is enough here. */
function quickProbe(): JsonObject {
  const body = gatewayBody();
  const { probes } = body.properties as { probes: { properties: object }[] };
  for (const probe of probes) Object.assign(probe.properties, { probeThreshold: 1 });
  return body;
}

async function wordsFor({ simulator }: GatewayWorld, id: string): Promise<string[]> {
  const imds = await simulator.machines.find(id);
  const where = ["--imds", imds?.url ?? "", "--resource-manager", simulator.url];
  return ["--pool", "inspect", ...where, "--output", "json"];
}

function start(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [bin, "agent", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function ran(args: string[]) {
  const child = start(args);
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { stdout, stderr, exitCode };
}

/** The next line of the output, as JSON. */
async function lineOf(child: ReturnType<typeof start>): Promise<Record<string, unknown>> {
  let read = "";
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    read += String(chunk);
    if (read.includes("\n")) return JSON.parse(read);
  }
  throw new Error("it ended without a word");
}

test("discover, status, register and deregister do what they say, and their exit codes tell it", async () => {
  const { world, id, words } = await realWorld();
  const found = await ran(["discover", ...words]);
  expect(found).toMatchObject({ exitCode: 0, stderr: "" });
  const { privateIP } = JSON.parse(found.stdout);
  expect(JSON.parse(found.stdout)).toMatchObject({ resourceId: id, backendPoolName: "inspect" });

  const before = await ran(["status", ...words]);
  expect(before.exitCode).toBe(1);
  expect(JSON.parse(before.stdout)).toMatchObject({ registered: false });
  expect(before.stderr).toMatch(/^postern: .* \(NotRegistered\) · .*\n$/);

  expect(await ran(["register", ...words])).toMatchObject({ exitCode: 0 });
  expect(world.members()).toEqual([privateIP]);
  const after = await ran(["status", ...words.with(-1, "text")]);
  expect(after).toMatchObject({ exitCode: 0, stderr: "" });
  expect(after.stdout).toMatch(/^registered {2,}true\n/);

  const left = await ran(["deregister", ...words]);
  expect(JSON.parse(left.stdout)).toMatchObject({ state: "left" });
  expect(world.members()).toEqual([]);
});

test("run joins, answers probes and metrics, and on SIGTERM fails the probes before it leaves", async () => {
  const { world, words } = await realWorld();
  const listen = ["--health-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"];
  const child = start(["run", ...words, ...listen, "--tunnel", "none"]);
  const joined = await lineOf(child);
  expect(joined).toMatchObject({ event: "joined", by: "address" });
  expect(world.members()).toHaveLength(1);
  const [port] = joined.healthPorts as number[];
  const probed = async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).status;
  expect(await probed()).toBe(200);
  const metrics = await fetch(`http://127.0.0.1:${joined.metricsPort}/metrics`);
  const series = await metrics.text();
  expect(series).toContain("postern_agent_registered 1\n");
  expect(series).toContain('postern_agent_probes_total{status="200"} 1\n');

  child.kill("SIGTERM");
  await expect.poll(probed).toBe(503);
  expect(world.members()).toHaveLength(1);
  const [left, [exitCode]] = await Promise.all([lineOf(child), once(child, "exit")]);
  expect(left).toEqual({ event: "left", because: "stopped" });
  expect(exitCode).toBe(0);
  expect(world.members()).toEqual([]);
});

test("killed and started again it finds itself there, and writes nothing", async () => {
  const { world, words } = await realWorld();
  const args = ["run", ...words, "--health-listen", "127.0.0.1:0", "--tunnel", "none"];
  const first = start(args);
  await lineOf(first);
  first.kill("SIGKILL");
  await once(first, "exit");
  const puts = () => world.simulator.log.entries().filter(({ method }) => method === "PUT").length;
  const before = puts();
  const joined = await lineOf(start(args));
  expect(joined).toMatchObject({ event: "joined" });
  expect(puts()).toBe(before);
  expect(world.members()).toHaveLength(1);
});

test("run that cannot find the tunnel's interface leaves the pool again, and says why in one line", async () => {
  const { world, words } = await realWorld();
  const ended = await ran([
    "run",
    ...words,
    "--health-listen",
    "127.0.0.1:0",
    "--log-level",
    "warn",
  ]);
  expect(ended).toMatchObject({ exitCode: 1, stdout: "" });
  expect(ended.stderr).toMatch(/^postern: .*\(TunnelInterfaceNotFound\).*\n$/);
  expect(world.members()).toEqual([]);
});

const missing = ["systemd-notify", "python3"].filter(
  (program) => spawnSync(program, ["--version"]).status !== 0,
);
describe.skipIf(missing.length > 0)(`systemd${missing.map((name) => `, without ${name}`)}`, () => {
  test("is told of readiness, fed as its watchdog asks, and told of the end", async () => {
    const { words } = await realWorld();
    const folder = mkdtempSync(join(tmpdir(), "postern-notify-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const socket = join(folder, "notify");
    const receiver = spawn("python3", ["-uc", receive, socket], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void receiver.kill());
    let heard = "";
    receiver.stdout.on("data", (chunk) => {
      heard += String(chunk);
    });
    await expect.poll(() => existsSync(socket)).toBe(true);
    const env = { NOTIFY_SOCKET: socket, WATCHDOG_USEC: "400000" };
    const args = ["run", ...words, "--health-listen", "127.0.0.1:0", "--tunnel", "none"];
    const child = start(args, env);
    await expect.poll(() => heard).toMatch(/READY=1[\s\S]*WATCHDOG=1[\s\S]*WATCHDOG=1/);
    expect(heard).toContain("STATUS=member of inspect");
    child.kill("SIGTERM");
    await expect.poll(() => heard).toContain("STOPPING=1");
  });
});

/** A stand-in for systemd's end of the socket. A descriptor that comes along is a barrier, and closing it lets it pass. */
const receive = `
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
while True:
    data, fds, _, _ = socket.recv_fds(s, 4096, 4)
    print(data.decode())
    for fd in fds: os.close(fd)
`;
