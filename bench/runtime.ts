import { parseArgs } from "node:util";
import { atLeast, atMost, makeReport, median, publish, type Row, told } from "./report.ts";
import { type Client, type Done, goClient, goGc, nodeFlags, ourClient } from "./runtime/clients.ts";
import { findOrBuildGo } from "./runtime/programs.ts";
import { type RealServer, startReal } from "./runtime/real.ts";
import { onStub } from "./runtime/stub.ts";
import { shipped } from "./shipped.ts";

const usage = `npm run bench:runtime -- [--json FILE] [--n-real 2000] [--n-stub 20000] [--rounds 3]
                        [--concurrency 16] [--only stub|real|goaway|watches]`;
const parts = ["stub", "real", "goaway", "watches"] as const;
const writesInFlight = 200;

/** Why a target that is hard to reach may be missed; what was seen is in bench/README.md. */
const whyMissed: Record<string, string> = {
  "stub: rate, ours to Go's": "a busy machine: both were reached when little else ran",
  "stub: CPU, ours to Go's": "a busy machine: both were reached when little else ran",
  "stub: memory, ours to Go's":
    "V8's heap; --optimize-for-size saves about 20 MB for a quarter more CPU",
  "real: rate, ours to Go's":
    "the server is the bound, and rounds of one client were seen to differ by half on a busy machine",
  "real: CPU, ours to Go's":
    "starting Node and its packages is 0.25 s, and most code is not compiled yet after 2,000 requests",
  "real: memory, ours to Go's": "Node with our packages is 73 MB before the first request",
};

interface Settings {
  json: string | undefined;
  nReal: number;
  nStub: number;
  rounds: number;
  concurrency: number;
  only: readonly string[];
}

interface Targets {
  rate: number;
  cpu: number;
  memory: number;
}

function settings(): Settings {
  const { values } = parseArgs({
    options: {
      json: { type: "string" },
      "n-real": { type: "string", default: "2000" },
      "n-stub": { type: "string", default: "20000" },
      rounds: { type: "string", default: "3" },
      concurrency: { type: "string", default: "16" },
      only: { type: "string" },
    },
  });
  const count = (name: "n-real" | "n-stub" | "rounds" | "concurrency") => {
    if (!/^[1-9]\d{0,5}$/.test(values[name]))
      throw new Error(`--${name} is "${values[name]}", and must be a whole number from 1 on`);
    return Number(values[name]);
  };
  if (values.only !== undefined && !parts.some((part) => part === values.only))
    throw new Error(`--only is "${values.only}", and must be one of ${parts.join(", ")}`);
  return {
    json: values.json,
    nReal: count("n-real"),
    nStub: count("n-stub"),
    rounds: count("rounds"),
    concurrency: count("concurrency"),
    only: values.only === undefined ? parts : [values.only],
  };
}

/** Ours, Go, ours, Go …: whatever else this machine does falls on both. */
async function rounds<T extends Done>(
  where: string,
  count: number,
  clients: { ours: Client; go: Client },
  run: (client: Client) => Promise<T>,
): Promise<{ ours: T[]; go: T[] }> {
  const done: { ours: T[]; go: T[] } = { ours: [], go: [] };
  for (let round = 1; round <= count; round++) {
    for (const who of ["ours", "go"] as const) {
      const one = await run(clients[who]);
      done[who].push(one);
      tell(`${where}, round ${round}, ${who}: ${described(one)}`);
    }
  }
  return done;
}

function compared(where: string, done: { ours: Done[]; go: Done[] }, targets: Targets): Row[] {
  const middle = (who: "ours" | "go", of: (one: Done) => number) => median(done[who].map(of));
  const ratio = (of: (one: Done) => number) => middle("ours", of) / middle("go", of);
  const rate = (one: Done) => one.written / one.seconds;
  const megabytes = (one: Done) => one.peakBytes / 1e6;
  return [
    atLeast(`${where}: rate, ours to Go's`, ratio(rate), "x", targets.rate),
    atMost(`${where}: CPU, ours to Go's`, ratio(cpu), "x", targets.cpu),
    atMost(`${where}: memory, ours to Go's`, ratio(megabytes), "x", targets.memory),
    told(`${where}: our rate`, middle("ours", rate), "writes/s"),
    told(`${where}: Go's rate`, middle("go", rate), "writes/s"),
    told(`${where}: our CPU`, middle("ours", cpu), "s"),
    told(`${where}: Go's CPU`, middle("go", cpu), "s"),
    told(`${where}: our peak memory`, middle("ours", megabytes), "MB"),
    told(`${where}: Go's peak memory`, middle("go", megabytes), "MB"),
  ];
}

const cpu = (one: Done) => one.cpuSeconds;

function described(one: Done): string {
  const rate = Math.round(one.written / one.seconds);
  const memory = Math.round(one.peakBytes / 1e6);
  return `${rate} writes/s, ${one.cpuSeconds.toFixed(2)} s CPU, ${memory} MB, listed in ${one.listed.toFixed(2)} s`;
}

function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function withReal<T>(flags: string[], use: (real: RealServer) => Promise<T>): Promise<T> {
  const real = await startReal(tell, flags);
  try {
    return await use(real);
  } finally {
    await real.stop();
  }
}

async function measure({ only, ...set }: Settings): Promise<Row[]> {
  const programs = await findOrBuildGo(tell);
  const program = await shipped("bench/runtime/client.ts");
  const ours = ourClient(program.path);
  const clients = { ours, go: goClient(programs) };
  const rows: Row[] = [];
  tell(`ours: node ${nodeFlags.join(" ")}; Go: GOGC=${goGc}; concurrency ${set.concurrency}`);
  try {
    if (only.includes("stub")) {
      const done = await rounds("stub", set.rounds, clients, (client) =>
        onStub(programs.stub, client, set.nStub, set.concurrency),
      );
      rows.push(...compared("stub", done, { rate: 2.0, cpu: 0.45, memory: 1.2 }));
      // That the stub is not the bound: how much of a core it used while our client, the faster one, ran.
      const busy = median(done.ours.map((one) => one.served.cpuSeconds / one.seconds));
      rows.push(told("stub: its own CPU while ours ran", busy, "cores"));
    }
    if (only.includes("real") || only.includes("watches"))
      await withReal([], async (real) => {
        const run = (client: Client) => real.run(client, set.nReal, set.concurrency);
        if (only.includes("real")) {
          await run(ours); // the first writes of an API server's life are slower, and nobody's fault
          const done = await rounds("real", set.rounds, clients, run);
          rows.push(...compared("real", done, { rate: 1.0, cpu: 0.6, memory: 1.5 }));
        }
        if (only.includes("watches")) {
          const before = await real.endedWatches();
          const done = await real.run(ours, set.nReal, writesInFlight);
          const ended = (await real.endedWatches()) - before;
          tell(`${writesInFlight} in flight: ${described(done)}`);
          rows.push(atMost(`watches ended with ${writesInFlight} writes in flight`, ended, "", 0));
        }
      });
    if (only.includes("goaway"))
      await withReal(["--goaway-chance=0.02"], async (real) => {
        const done = await real.run(ours, set.nReal, set.concurrency);
        tell(`--goaway-chance=0.02: ${described(done)}`);
        rows.push(atMost("failed writes with --goaway-chance=0.02", done.failed, "", 0));
      });
  } finally {
    await program.remove();
  }
  return rows;
}

try {
  const set = settings();
  publish(makeReport("runtime", await measure(set), whyMissed), set.json);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}\n`);
  process.exitCode = 1;
}
