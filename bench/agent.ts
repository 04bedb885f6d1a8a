import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { parseArgs } from "node:util";
import { startWorld } from "./agent/world.ts";
import { atMost, makeReport, median, publish, type Row, told } from "./report.ts";
import { shipped } from "./shipped.ts";

const usage = "npm run bench:agent -- [--json FILE] [--rounds 9]";
/** Long enough for what is only needed to start to be given back, and for a scheduled look or two. */
const restMs = 4_000;

/** The agent as it is shipped. */
function agentArgs(main: string, imds: string, azure: string): string[] {
  const run = ["agent", "run", "--pool", "inspect", "--imds", imds, "--resource-manager", azure];
  const words = [...run, "--health-listen", "127.0.0.1:0", "--tunnel", "none", "--output", "json"];
  const script = `const { main } = await import(${JSON.stringify(main)});
    process.exitCode = await main(${JSON.stringify(words)});`;
  return ["--input-type=module", "-e", script];
}

function node(args: string[]): ChildProcess {
  return spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
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
async function agentStartMs(main: string): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const startedAt = performance.now();
  const child = node(agentArgs(main, url, url));
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
async function joined(main: string): Promise<{ residentMB: number; requests: number }> {
  const { simulator, imds } = await startWorld();
  const child = node(agentArgs(main, imds, simulator.url));
  const said = child.stdout && (await once(child.stdout, "data"));
  if (!String(said?.[0]).includes('"joined"')) throw new Error("the agent did not join");
  const requests = simulator.log.entries().length;
  await rest();
  const resident = residentMB(child);
  await end(child);
  await simulator.close();
  return { residentMB: resident, requests };
}

async function measure(rounds: number): Promise<Row[]> {
  const program = await shipped("src/main.ts");
  const of = { bareMs: [0], agentMs: [0], bareMB: [0], agentMB: [0], requests: [0] };
  for (const list of Object.values(of)) list.length = 0;
  try {
    // The first start of each fills the caches of the disk.
    await bareStartMs();
    await agentStartMs(program.path);
    // In turn: whatever else this machine does falls on both.
    for (let round = 0; round < rounds; round++) {
      of.bareMs.push(await bareStartMs());
      of.agentMs.push(await agentStartMs(program.path));
    }
    for (let round = 0; round < Math.min(3, rounds); round++) {
      of.bareMB.push(await bareMB());
      const { residentMB: resident, requests } = await joined(program.path);
      of.agentMB.push(resident);
      of.requests.push(requests);
    }
  } finally {
    await program.remove();
  }
  return [
    atMost("process start, to bare Node", median(of.agentMs) / median(of.bareMs), "x", 2),
    atMost("resident memory, to bare Node", median(of.agentMB) / median(of.bareMB), "x", 1.4),
    atMost("ARM requests from boot to registered", Math.max(...of.requests), "", 9),
    told("agent: start", median(of.agentMs), "ms"),
    told("bare Node: start", median(of.bareMs), "ms"),
    told("agent: resident memory", median(of.agentMB), "MB"),
    told("bare Node: resident memory", median(of.bareMB), "MB"),
  ];
}

try {
  const { values } = parseArgs({
    options: { json: { type: "string" }, rounds: { type: "string", default: "9" } },
  });
  if (!/^[1-9]\d{0,2}$/.test(values.rounds))
    throw new Error(`--rounds is "${values.rounds}", and must be a whole number from 1 on`);
  publish(makeReport("agent", await measure(Number(values.rounds))), values.json);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}\n`);
  process.exitCode = 1;
}
