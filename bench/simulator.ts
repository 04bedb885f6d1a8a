import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { atLeast, atMost, makeReport, median, publish, type Row, told } from "./report.ts";
import { bytesOf, load, type Run } from "./simulator/load.ts";

const usage =
  "npm run bench:simulator -- [--json FILE] [--n 20000] [--rounds 3] [--connections 16] [--resources 100000]";
const subscription = "11111111-1111-4111-8111-111111111111";
const version = "?api-version=2024-05-01";
const groups = `/subscriptions/${subscription}/resourceGroups`;

interface Served {
  url: string;
  token: string;
  child: ChildProcess;
}

interface Settings {
  json: string | undefined;
  n: number;
  rounds: number;
  connections: number;
  resources: number;
}

function settings(): Settings {
  const { values } = parseArgs({
    options: {
      json: { type: "string" },
      n: { type: "string", default: "20000" },
      rounds: { type: "string", default: "3" },
      connections: { type: "string", default: "16" },
      resources: { type: "string", default: "100000" },
    },
  });
  const count = (name: "n" | "rounds" | "connections" | "resources") => {
    if (!/^[1-9]\d{0,6}$/.test(values[name]))
      throw new Error(`--${name} is "${values[name]}", and must be a whole number from 1 on`);
    return Number(values[name]);
  };
  return {
    json: values.json,
    n: count("n"),
    rounds: count("rounds"),
    connections: count("connections"),
    resources: count("resources"),
  };
}

async function serve(what: "simulator" | "bare"): Promise<Served> {
  const child = fork(join(import.meta.dirname, "simulator/served.ts"), [what], {
    execArgv: ["--expose-gc"],
  });
  const [{ url, token }] = (await once(child, "message")) as [{ url: string; token: string }];
  return { url, token, child };
}

function networkPath(number: number, group: string): string {
  return `${groups}/${group}/providers/Microsoft.Network/virtualNetworks/v${number}`;
}

const networkBody = JSON.stringify({
  location: "westeurope",
  tags: { owner: "bench" },
  properties: {
    addressSpace: { addressPrefixes: ["10.0.0.0/16"] },
    subnets: [{ name: "s", properties: { addressPrefix: "10.0.0.0/24" } }],
  },
});

async function ask(served: Served, method: string, path: string, body?: string): Promise<string> {
  const response = await fetch(served.url + path, {
    method,
    headers: { authorization: `Bearer ${served.token}` },
    ...(body !== undefined && { body }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return response.text();
}

/** A run, with what it took of the server's cores. */
interface Costly extends Run {
  cpuUs: number;
}

type Both<T> = Record<"simulator" | "bare", T>;

/** The simulator, the bare server, the simulator …: whatever else this machine does falls on both. */
async function sideBySide(
  rounds: number,
  servers: Both<Served>,
  count: number,
  run: (who: "simulator" | "bare") => Promise<Run>,
): Promise<Both<Costly>> {
  const all: Both<Costly[]> = { simulator: [], bare: [] };
  for (let round = 0; round < rounds; round++)
    for (const who of ["simulator", "bare"] as const) {
      const before = await cpuOf(servers[who]);
      const done = await run(who);
      all[who].push({ ...done, cpuUs: ((await cpuOf(servers[who])) - before) / count });
    }
  const middle = (runs: Costly[]) => ({
    perSecond: median(runs.map((each) => each.perSecond)),
    p99Ms: median(runs.map((each) => each.p99Ms)),
    cpuUs: median(runs.map((each) => each.cpuUs)),
  });
  return { simulator: middle(all.simulator), bare: middle(all.bare) };
}

async function cpuOf({ child }: Served): Promise<number> {
  child.send("cpu");
  const [{ cpuUs }] = (await once(child, "message")) as [{ cpuUs: number }];
  return cpuUs;
}

function rowsOf(name: string, done: Both<Costly>, target?: number): Row[] {
  const ratio = done.simulator.perSecond / done.bare.perSecond;
  const label = `${name}: rate, ours to the bare server's`;
  return [
    target === undefined ? told(label, ratio, "x") : atLeast(label, ratio, "x", target),
    told(`${name}: our CPU a request`, done.simulator.cpuUs, "us"),
    told(`${name}: the bare server's CPU a request`, done.bare.cpuUs, "us"),
    told(`${name}: our rate`, done.simulator.perSecond, "requests/s"),
    told(`${name}: the bare server's rate`, done.bare.perSecond, "requests/s"),
    told(`${name}: our p99`, done.simulator.p99Ms, "ms"),
    told(`${name}: the bare server's p99`, done.bare.p99Ms, "ms"),
  ];
}

async function measureGet(set: Settings, sim: Served, bare: Served): Promise<Row[]> {
  const path = networkPath(0, "get") + version;
  await ask(sim, "PUT", `${groups}/get${version}`, '{"location":"westeurope"}');
  await ask(sim, "PUT", path, networkBody);
  await ask(sim, "GET", path);
  await ask(bare, "POST", "/", await ask(sim, "GET", path));
  const servers = { simulator: sim, bare };
  const done = await sideBySide(set.rounds, servers, set.n, (who) => {
    const bytes = bytesOf("GET", path, sim.token);
    return load(servers[who].url, set.n, set.connections, () => bytes);
  });
  return rowsOf("GET", done, 0.5);
}

async function measureList(set: Settings, sim: Served, bare: Served): Promise<Row[]> {
  await ask(sim, "PUT", `${groups}/list${version}`, '{"location":"westeurope"}');
  await load(sim.url, 1000, set.connections, (number) =>
    bytesOf("PUT", networkPath(number, "list") + version, sim.token, networkBody),
  );
  const path = `${groups}/list/providers/Microsoft.Network/virtualNetworks${version}`;
  const list = await ask(sim, "GET", path);
  if ((JSON.parse(list) as { value: unknown[] }).value.length !== 1000)
    throw new Error("the list does not have 1,000 in it");
  await ask(bare, "POST", "/", list);
  const servers = { simulator: sim, bare };
  const lists = Math.ceil(set.n / 100);
  const get = bytesOf("GET", path, sim.token);
  const atRest = await sideBySide(set.rounds, servers, lists, (who) =>
    load(servers[who].url, lists, 4, () => get),
  );
  // The simulator keeps the text of a list until something is written: here something is, before each.
  const put = bytesOf("PUT", `${groups}/list${version}`, sim.token, '{"location":"westeurope"}');
  const written = await sideBySide(set.rounds, servers, lists, async (who) => {
    if (who === "bare") return load(bare.url, lists, 1, () => get);
    const run = await load(sim.url, lists * 2, 1, (i) => (i % 2 === 0 ? put : get));
    return { ...run, perSecond: run.perSecond / 2 };
  });
  return [...rowsOf("list of 1,000", atRest), ...rowsOf("list of 1,000 after a write", written)];
}

/** A write, a look at its operation, and a look at what it made: three requests. */
async function measurePut(set: Settings, sim: Served, bare: Served): Promise<Row[]> {
  await ask(sim, "PUT", `${groups}/put${version}`, '{"location":"westeurope"}');
  await ask(bare, "POST", "/", await ask(sim, "GET", networkPath(0, "list") + version));
  const creates = Math.ceil(set.n / 3);
  let made = 0;
  const done = await sideBySide(set.rounds, { simulator: sim, bare }, creates * 3, (who) => {
    const from = made;
    made += creates;
    const at = networkPath(0, "put");
    if (who === "bare") {
      const bytes = [bytesOf("PUT", at, sim.token, networkBody), bytesOf("GET", at, sim.token)];
      return load(bare.url, creates * 3, set.connections, (i) => bytes[i % 3 === 0 ? 0 : 1] ?? "");
    }
    return creating(sim, set.connections, creates, from);
  });
  return rowsOf("PUT with a long operation", done);
}

/** Each connection writes, looks at the operation of that write, and reads; the p99 is of all three. */
async function creating(
  sim: Served,
  connections: number,
  creates: number,
  from: number,
): Promise<Run> {
  const polls: string[] = [];
  const runs = await Promise.all(
    Array.from({ length: connections }, (_, line) => {
      const own = Math.ceil((creates - line) / connections);
      return load(
        sim.url,
        own * 3,
        1,
        (i) => {
          const path = networkPath(from + line + Math.floor(i / 3) * connections, "put") + version;
          if (i % 3 === 1) return bytesOf("GET", polls[line] ?? "", sim.token);
          if (i % 3 === 2) return bytesOf("GET", path, sim.token);
          return bytesOf("PUT", path, sim.token, networkBody);
        },
        (i, head) => {
          if (i % 3 !== 0) return;
          const poll = /\r\nazure-asyncoperation: (\S+)/i.exec(head)?.[1];
          if (poll === undefined) throw new Error("a write began no operation");
          polls[line] = poll.slice(sim.url.length);
        },
      );
    }),
  );
  return {
    perSecond: runs.reduce((sum, each) => sum + each.perSecond, 0),
    p99Ms: median(runs.map((each) => each.p99Ms)),
  };
}

/** Bytes a resource, all told: what is kept of its operation and of the request that made it too. */
async function measureMemory(set: Settings): Promise<Row[]> {
  const sim = await serve("simulator");
  try {
    const perGroup = 1000;
    const heap = async () => {
      sim.child.send("memory");
      const [answer] = (await once(sim.child, "message")) as [{ heap: number }];
      return answer.heap;
    };
    const path = (number: number) =>
      `${groups}/g${Math.floor(number / perGroup)}/providers/Microsoft.Network/publicIPAddresses/a${number}`;
    for (let group = 0; group < set.resources / perGroup; group++)
      await ask(sim, "PUT", `${groups}/g${group}${version}`, '{"location":"westeurope"}');
    const body =
      '{"location":"westeurope","sku":{"name":"Standard"},"properties":{"publicIPAllocationMethod":"Static"}}';
    const before = await heap();
    await load(sim.url, set.resources, set.connections, (number) =>
      bytesOf("PUT", path(number) + version, sim.token, body),
    );
    const each = ((await heap()) - before) / set.resources;
    return [atMost(`memory a resource at ${set.resources}`, each, "bytes", 4096)];
  } finally {
    sim.child.disconnect();
  }
}

async function measure(set: Settings): Promise<Row[]> {
  const [sim, bare] = await Promise.all([serve("simulator"), serve("bare")]);
  try {
    const rows = [
      ...(await measureGet(set, sim, bare)),
      ...(await measureList(set, sim, bare)),
      ...(await measurePut(set, sim, bare)),
    ];
    return [...rows, ...(await measureMemory(set))];
  } finally {
    sim.child.disconnect();
    bare.child.disconnect();
  }
}

try {
  const set = settings();
  publish(makeReport("simulator", await measure(set)), set.json);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}\n`);
  process.exitCode = 1;
}
