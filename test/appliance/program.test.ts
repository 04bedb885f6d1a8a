import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { serve } from "../loopback.ts";
import { rejectsOnSignal } from "../setup/rejecting.ts";
import { network, pool } from "./gateway-world.ts";
import { endOf, healthy, lineOf, ran, realWorld, start, wordsFor } from "./run-agent.ts";

/** A world and what an agent on its machine is told. */
async function machineWorld() {
  const world = await realWorld();
  const id = world.machine("fw");
  return { world, id, words: await wordsFor(world, id) };
}

test("discover, status, register and deregister do what they say, and their exit codes tell it", async () => {
  const { world, id, words } = await machineWorld();
  const found = await ran(["discover", ...words]);
  expect(found).toMatchObject({ exitCode: 0, stderr: "" });
  const { privateIP } = JSON.parse(found.stdout);
  expect(JSON.parse(found.stdout)).toMatchObject({ resourceId: id, backendPoolName: "inspect" });

  const before = await ran(["status", ...words]);
  expect(before.exitCode).toBe(1);
  expect(JSON.parse(before.stdout)).toMatchObject({ registered: false });
  expect(JSON.parse(before.stderr)).toMatchObject({ level: "error", code: "NotRegistered" });
  const toPeople = await ran(["status", ...words.with(-1, "text")]);
  expect(toPeople.exitCode).toBe(1);
  expect(toPeople.stderr).toMatch(/^postern: .* \(NotRegistered\)\. .*\n$/);

  expect(await ran(["register", ...words])).toMatchObject({ exitCode: 0 });
  expect(world.members()).toEqual([privateIP]);
  const after = await ran(["status", ...words.with(-1, "text")]);
  expect(after).toMatchObject({ exitCode: 0, stderr: "" });
  expect(after.stdout).toMatch(/^registered {2,}true\nby {2,}address\nmadeBy {2,}this agent\n/);

  const states: string[] = [];
  world.simulator.store.follow({
    saved: ({ id, properties }) => id === pool && states.push(JSON.stringify(properties)),
    removed: () => undefined,
  });
  const left = await ran(["deregister", ...words]);
  expect(JSON.parse(left.stdout)).toMatchObject({ state: "left" });
  expect(world.members()).toEqual([]);
  // Drained first, so that nobody new comes to a machine that goes.
  expect(states.filter((each) => each.includes('"Down"'))).not.toEqual([]);

  const properties = { ipAddress: privateIP, virtualNetwork: { id: network } };
  const entries = [{ name: "by-terraform", properties }];
  world.simulator.change(pool, { properties: { loadBalancerBackendAddresses: entries } });
  const foreign = JSON.parse((await ran(["status", ...words])).stdout);
  expect(foreign).toMatchObject({ registered: true, madeBy: "somebody else", drained: false });
  const kept = await ran(["deregister", ...words]);
  expect(JSON.parse(kept.stdout)).toMatchObject({ state: "kept" });
  expect(kept.stderr).toContain("somebody else put it there");
  expect(world.members()).toEqual([privateIP]);
});

test("deregister that is asked to stop while it drains leaves at once, and not half", async () => {
  const world = await realWorld({ intervalInSeconds: 1_000 });
  const words = await wordsFor(world, world.machine("fw"));
  expect(await ran(["register", ...words])).toMatchObject({ exitCode: 0 });
  const child = start(["deregister", ...words]);
  const ended = endOf(child);
  const state = () => JSON.stringify(world.simulator.store.get(pool)?.properties);
  await expect.poll(state).toContain('"Down"');
  child.kill("SIGTERM");
  const { stdout, exitCode } = await ended;
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ state: "left" });
  expect(world.members()).toEqual([]);
});

test("run stays in the pool where a promise is rejected that nobody awaits", async () => {
  const { world, words } = await machineWorld();
  const listen = ["--no-health", "--metrics-listen", "127.0.0.1:0", "--tunnel", "none"];
  const child = start(["run", ...words, ...listen], { env: rejectsOnSignal });
  const stderr = text(child.stderr);
  const { metricsPort } = await lineOf(child);
  child.kill("SIGUSR2");
  const metrics = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  await expect.poll(metrics).toContain("postern_agent_unhandled_rejections_total 1\n");
  expect(world.members()).toHaveLength(1);
  child.kill("SIGTERM");
  await once(child, "exit");
  expect(child.exitCode).toBe(0);
  expect(await stderr).toMatch(/"message":"unhandled rejection".*nobody awaits this/);
  expect(world.members()).toEqual([]);
});

test("run joins, answers probes and metrics, and on SIGTERM fails the probes before it leaves", async () => {
  const { world, words } = await machineWorld();
  const listen = [...healthy, "--metrics-listen", "127.0.0.1:0"];
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

/** Probes one after the other, each on a connection of its own, until it is told to stop; gives every answer. */
function probing(port: number): () => Promise<(number | string)[]> {
  const answers: (number | string)[] = [];
  let on = true;
  const probe = () =>
    new Promise<number | string>((resolve) => {
      get({ host: "127.0.0.1", port, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      }).on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    });
  const loop = (async () => {
    while (on) answers.push(await probe());
  })();
  return async () => {
    on = false;
    await loop;
    return answers;
  };
}

test("another process takes the probes over, and from the first to the last no connection is refused", async () => {
  const { world, words } = await machineWorld();
  // The port of the appliance is known before it listens there.
  let well = true;
  const appliance = createServer((_request, response) => {
    response.writeHead(well ? 200 : 429).end();
    well = false;
  });
  const listen = (port: number) =>
    new Promise<number>((resolve) =>
      appliance.listen(port, "127.0.0.1", () => resolve((appliance.address() as AddressInfo).port)),
    );
  const port = await listen(0);
  await new Promise((resolve) => appliance.close(resolve));

  const own = ["--health-target", `http://127.0.0.1:${port}/healthz`];
  const args = ["run", ...words, ...own, "--health-listen", "127.0.0.1:0", "--tunnel", "none"];
  const child = start(args);
  const joined = await lineOf(child);
  const [probePort = 0] = joined.healthPorts as number[];
  const stop = probing(probePort);
  const answer = async () => (await fetch(`http://127.0.0.1:${probePort}/healthz`)).status;
  expect(await answer()).toBe(200);

  await listen(port);
  onTestFinished(() => void appliance.close());
  // Well when it is first asked; from then on it is seen by its answer who gives it.
  await expect.poll(answer).toBe(429);
  appliance.removeAllListeners("request");
  appliance.on("request", (_request, response) => response.writeHead(200).end());
  await expect.poll(answer).toBe(200);

  child.kill("SIGTERM");
  await expect.poll(answer).toBe(503);
  expect(world.members()).toHaveLength(1);
  const answers = await stop();
  expect(answers.length).toBeGreaterThan(10);
  expect(answers.filter((each) => ![200, 429, 503].includes(Number(each)))).toEqual([]);
  expect(await lineOf(child)).toEqual({ event: "left", because: "stopped" });
  expect(world.members()).toEqual([]);
});

test("an appliance that dies fails the probes of an agent that runs, and passes them when it is back", async () => {
  const { world, words } = await machineWorld();
  const program = `const s = require("node:http").createServer((_, r) => r.end());
s.listen(Number(process.argv[1]), "127.0.0.1", () => console.log(s.address().port))`;
  const startAppliance = async (port: number) => {
    const child = spawn(process.execPath, ["-e", program, String(port)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    return { child, port: Number(String(await once(child.stdout, "data"))) };
  };
  const first = await startAppliance(0);
  const target = `http://127.0.0.1:${first.port}/healthz`;
  const health = ["--health-listen", "127.0.0.1:0", "--health-target", target];
  const agent = start(["run", ...words, ...health, "--tunnel", "none"]);
  const [port] = (await lineOf(agent)).healthPorts as number[];
  const probed = async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).text();
  await expect.poll(probed).toBe("healthy\n");
  first.child.kill("SIGKILL");
  await once(first.child, "exit");
  expect(await probed()).toBe("not healthy\n");
  await startAppliance(first.port);
  expect(await probed()).toBe("healthy\n");
  expect(world.members()).toHaveLength(1);
  agent.kill("SIGTERM");
  expect(await once(agent, "exit")).toEqual([0, null]);
});

test("run with a port to hand over listens there until it has joined, and not after", async () => {
  const { world, words } = await machineWorld();
  const health = ["--health-listen", "127.0.0.1:0", "--health-port-handover"];
  const child = start(["run", ...words, ...health, "--tunnel", "none"]);
  expect(await lineOf(child)).toMatchObject({ event: "joined", healthPorts: [] });
  expect(world.members()).toHaveLength(1);
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
  expect(world.members()).toEqual([]);
});

const threeWays = "--health-target, --health-command or --health-port-handover";
test.each([
  [[], `no health check is configured: use ${threeWays}, or --no-health`],
  [
    ["--health-command", "true", "--health-port-handover"],
    "--health-command and --health-port-handover are mutually exclusive",
  ],
  [
    ["--no-health", "--health-target", "tcp://127.0.0.1:1"],
    "--health-target and --no-health are mutually exclusive",
  ],
  [["--health-target", "tcp://127.0.0.1"], "such as http://127.0.0.1:9000/healthz or tcp://"],
  [["--health-target", ""], "argument '' is invalid"],
  [["--health-command", " "], "use a command"],
  [["--leave-within", "0"], "use a whole number of seconds, such as 20"],
])("run with %j is a mistake in the command, before anybody is asked", async (health, says) => {
  const { world, words } = await machineWorld();
  const ended = await ran(["run", ...words, ...health, "--tunnel", "none"]);
  expect(ended).toMatchObject({ exitCode: 64, stdout: "", stderr: expect.stringContaining(says) });
  expect(world.simulator.log.entries()).toEqual([]);
});

test.each([
  ["run", { exitCode: 0, stdout: '{"event":"left","because":"stopped"}\n' }],
  ["discover", { exitCode: 1, stdout: "" }],
])("%s that is asked to stop before it knows its machine ends at once", async (subcommand, end) => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => silent.closeAllConnections() as undefined);
  const imds = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const listen = subcommand === "run" ? healthy : [];
  const words = ["--pool", "inspect", "--imds", imds, "--output", "json", "--log-level", "warn"];
  const child = start([subcommand, ...words, ...listen]);
  const ended = endOf(child);
  await once(silent, "request");
  child.kill("SIGTERM");
  expect(await ended).toMatchObject(end);
  const told = (await ended).stderr;
  if (subcommand === "run") expect(told).toBe("");
  else expect(JSON.parse(told)).toMatchObject({ level: "error", code: "Stopped" });
});

test("asked to stop while the metadata service has no token, it ends without asking again", async () => {
  const { world, words, id } = await machineWorld();
  const imds = await world.simulator.machines.find(id);
  const instance = `${imds?.url}/metadata/instance?api-version=2025-04-07`;
  const machine = await (await fetch(instance, { headers: { metadata: "true" } })).text();
  let asked = 0;
  // 410 says that the service is being updated, and to come back for more than a minute.
  const { url } = await serve(({ url: path }, response) => {
    const isToken = path.includes("/identity/");
    if (isToken) asked++;
    response.writeHead(isToken ? 410 : 200).end(isToken ? "{}" : machine);
  });
  const at = words.indexOf("--imds") + 1;
  const child = start(["run", ...words.with(at, url), ...healthy, "--tunnel", "none"]);
  const ended = once(child, "exit");
  await expect.poll(() => asked).toBe(1);
  child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
  expect(asked).toBe(1);
});

test("it leaves for an event also where nobody reads what it says", async () => {
  const { world, words, id } = await machineWorld();
  const imds = await world.simulator.machines.find(id);
  const child = start(["run", ...words, ...healthy, "--tunnel", "none"]);
  await lineOf(child);
  const ended = once(child, "exit");
  child.stdout.destroy();
  child.stderr.destroy();
  const event = imds?.schedule({ type: "Terminate" }) ?? "";
  expect(await ended).toEqual([0, null]);
  expect(world.members()).toEqual([]);
  expect(imds?.events.started(event)).toBe(true);
});

test.each(["file", "env-file", "hook"])(
  "run without a tunnel refuses to tell its device by %s, before anybody is asked",
  async (way) => {
    const { world, words } = await machineWorld();
    const ended = await ran([
      "run",
      ...words,
      ...healthy,
      "--tunnel",
      "none",
      `--ingress-device-${way}`,
      "x",
    ]);
    expect(ended).toMatchObject({ exitCode: 64, stdout: "" });
    expect(ended.stderr).toContain("--tunnel none finds no ingress device");
    expect(world.simulator.log.entries()).toEqual([]);
  },
);

test("killed and started again it finds itself there, and writes nothing", async () => {
  const { world, words } = await machineWorld();
  const args = ["run", ...words, ...healthy, "--tunnel", "none"];
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
  const { world, words } = await machineWorld();
  const ended = await ran(["run", ...words, ...healthy, "--log-level", "warn"]);
  expect(ended).toMatchObject({ exitCode: 1, stdout: "" });
  expect(JSON.parse(ended.stderr)).toMatchObject({
    level: "error",
    code: "TunnelInterfaceNotFound",
  });
  expect(world.members()).toEqual([]);
});

const missing = ["systemd-notify", "python3"].filter(
  (program) => spawnSync(program, ["--version"]).status !== 0,
);
describe.skipIf(missing.length > 0)(`systemd${missing.map((name) => `, without ${name}`)}`, () => {
  test("is told of readiness, fed as its watchdog asks, and told of the end", async () => {
    const { words } = await machineWorld();
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
    const args = ["run", ...words, ...healthy, "--tunnel", "none"];
    const child = start(args, { env });
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
