import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startWorld } from "./agent/world.ts";
import { atMost, makeReport, median, publish, type Row, told } from "./report.ts";

const usage = "npm run bench:agent -- [--json FILE] [--rounds 9]";
const checkout = join(import.meta.dirname, "..");
const postern = join(checkout, "packages/postern");
/** Long enough for what is only needed to start to be given back, and for a scheduled look or two. */
const restMs = 4_000;

const overTLS = "installed: resident memory over TLS, to bare Node";

/** Where the program is: in a checkout its sources are run as they are, in an installed package what was made of them. */
interface Program {
  bin: string;
  startMs: number[];
  /** Over plain HTTP, and over TLS, as Azure is asked. */
  residentMB: { plain: number[]; tls: number[] };
}

function program(folder: string): Program {
  const residentMB = { plain: [], tls: [] };
  return { bin: join(folder, "bin/postern.js"), startMs: [], residentMB };
}

function agentArgs({ bin }: Program, imds: string, azure: string): string[] {
  const run = ["agent", "run", "--pool", "inspect", "--imds", imds, "--resource-manager", azure];
  const health = ["--health-listen", "127.0.0.1:0", "--health-target", "tcp://127.0.0.1:1"];
  return [bin, ...run, ...health, "--tunnel", "none", "--output", "json"];
}

function node(args: string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  return spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, ...env },
  });
}

async function end(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await once(child, "close");
}

/** From the start of the process to its end. */
async function bareStartMs(): Promise<number> {
  const startedAt = performance.now();
  await once(node(["-e", "0"]), "exit");
  return performance.now() - startedAt;
}

/** From the start of the process to its first question to the metadata service; it answers probes by then. */
async function agentStartMs(agent: Program): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const startedAt = performance.now();
  const child = node(agentArgs(agent, url, url));
  const [socket] = await once(server, "connection");
  const tookMs = performance.now() - startedAt;
  socket.on("error", () => undefined);
  await end(child);
  server.close();
  return tookMs;
}

function residentMB({ pid }: ChildProcess): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024;
}

const rest = () => new Promise((resolve) => setTimeout(resolve, restMs));

async function bareMB(): Promise<number> {
  const child = node(["-e", "setInterval(() => 0, 1e9)"]);
  await rest();
  const resident = residentMB(child);
  await end(child);
  return resident;
}

/** What an agent that has joined and waits takes, and how many requests it made of Resource Manager until it had. */
async function joined(
  agent: Program,
  way: "plain" | "tls",
): Promise<{ residentMB: number; requests: number }> {
  const { simulator, imds } = await startWorld();
  const folder = await mkdtemp(join(tmpdir(), "postern-bench-ca-"));
  const ca = join(folder, "ca.pem");
  await writeFile(ca, simulator.ca ?? "");
  const url = way === "plain" ? simulator.url : (simulator.httpsUrl ?? "");
  const env = way === "plain" ? {} : { NODE_EXTRA_CA_CERTS: ca };
  const child = node(agentArgs(agent, imds, url), env);
  const said = child.stdout && (await once(child.stdout, "data"));
  if (!String(said?.[0]).includes('"joined"')) throw new Error("the agent did not join");
  const requests = simulator.log.entries().length;
  await rest();
  const resident = residentMB(child);
  await end(child);
  await simulator.close();
  await rm(folder, { recursive: true });
  return { residentMB: resident, requests };
}

/** What is installed from the package that `npm pack` makes; the agent needs none of its dependencies. */
async function installed(): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "postern-bench-agent-"));
  const build = [
    "--disable-warning=ExperimentalWarning",
    join(checkout, "scripts/build-package.ts"),
    "--into",
    join(folder, "dist"),
  ];
  execFileSync(process.execPath, build, { cwd: postern, stdio: "inherit" });
  for (const each of ["bin", "package.json"])
    await cp(join(postern, each), join(folder, each), { recursive: true });
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

const whyMissed = {
  [overTLS]: "it comes with TLS: over HTTP the same agent takes less (see the row of it)",
};

async function measure(rounds: number): Promise<Row[]> {
  const made = await installed();
  const [shipped, sources] = [program(made.folder), program(postern)];
  const bare: { startMs: number[]; residentMB: number[] } = { startMs: [], residentMB: [] };
  const requests: number[] = [];
  try {
    // The first start of each fills the caches of the disk.
    await bareStartMs();
    for (const each of [shipped, sources]) await agentStartMs(each);
    // In turn: whatever else this machine does falls on all.
    for (let round = 0; round < rounds; round++) {
      bare.startMs.push(await bareStartMs());
      for (const each of [shipped, sources]) each.startMs.push(await agentStartMs(each));
    }
    for (let round = 0; round < Math.min(3, rounds); round++) {
      bare.residentMB.push(await bareMB());
      for (const each of [shipped, sources])
        for (const way of ["plain", "tls"] as const) {
          const agent = await joined(each, way);
          each.residentMB[way].push(agent.residentMB);
          requests.push(agent.requests);
        }
    }
  } finally {
    await made.remove();
  }
  const start = ({ startMs }: Program) => median(startMs) / median(bare.startMs);
  const memory = (of: readonly number[]) => median(of) / median(bare.residentMB);
  return [
    atMost("installed: process start, to bare Node", start(shipped), "x", 2),
    atMost(overTLS, memory(shipped.residentMB.tls), "x", 1.4),
    atMost("ARM requests from boot to registered", Math.max(...requests), "", 9),
    told("checkout: process start, to bare Node", start(sources), "x"),
    told(
      "installed: resident memory over HTTP, to bare Node",
      memory(shipped.residentMB.plain),
      "x",
    ),
    told("checkout: resident memory over TLS, to bare Node", memory(sources.residentMB.tls), "x"),
    told(
      "checkout: resident memory over HTTP, to bare Node",
      memory(sources.residentMB.plain),
      "x",
    ),
    told("installed: start", median(shipped.startMs), "ms"),
    told("checkout: start", median(sources.startMs), "ms"),
    told("bare Node: start", median(bare.startMs), "ms"),
    told("installed: resident memory over TLS", median(shipped.residentMB.tls), "MB"),
    told("installed: resident memory over HTTP", median(shipped.residentMB.plain), "MB"),
    told("checkout: resident memory over TLS", median(sources.residentMB.tls), "MB"),
    told("checkout: resident memory over HTTP", median(sources.residentMB.plain), "MB"),
    told("bare Node: resident memory", median(bare.residentMB), "MB"),
  ];
}

try {
  const { values } = parseArgs({
    options: { json: { type: "string" }, rounds: { type: "string", default: "9" } },
  });
  if (!/^[1-9]\d{0,2}$/.test(values.rounds))
    throw new Error(`--rounds is "${values.rounds}", and must be a whole number from 1 on`);
  publish(makeReport("agent", await measure(Number(values.rounds)), whyMissed), values.json);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}\n`);
  process.exitCode = 1;
}
