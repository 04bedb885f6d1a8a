import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Ready } from "@postern/local/ready.ts";
import { startLocal } from "./local/start.ts";
import { atMost, makeReport, median, publish, type Row, told } from "./report.ts";
import { shipped } from "./shipped.ts";

// The command line: what looking costs beside the lists that it needs, and what help costs beside a bare Node. See README.md.
const { values } = parseArgs({
  options: {
    json: { type: "string" },
    clusters: { type: "string", default: "200" },
    rounds: { type: "string", default: "5" },
  },
});
const clusters = Number(values.clusters);
const rounds = Number(values.rounds);
const folder = mkdtempSync(join(tmpdir(), "postern-bench-cli-"));

/** Run Node to its end, as a person would, and tell the seconds that it took. */
async function timed(
  args: readonly string[],
  env: Record<string, string> = {},
  allowed = [0],
): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, ...env },
  });
  const [status] = await once(child, "exit");
  const seconds = (performance.now() - started) / 1000;
  if (!allowed.includes(status)) throw new Error(`${args.join(" ")} ended with ${status}`);
  return seconds;
}

/** The medians of several commands, in turn, so that all have the same of a busy machine. */
async function inTurn(
  count: number,
  all: Record<string, () => Promise<number>>,
): Promise<Record<string, number>> {
  const seen = Object.fromEntries(Object.keys(all).map((name) => [name, [] as number[]]));
  for (let round = 0; round < count; round++)
    for (const [name, run] of Object.entries(all)) seen[name]?.push(await run());
  return Object.fromEntries(Object.entries(seen).map(([name, each]) => [name, median(each)]));
}

async function help(made: string): Promise<Row[]> {
  const main = `import { main } from ${JSON.stringify(made)}; process.exitCode = await main(["--help"]);`;
  const took = await inTurn(Math.max(15, rounds), {
    bare: () => timed(["-e", "0"]),
    help: () => timed(["--input-type=module", "-e", main]),
  });
  return [
    told("bare node -e 0", (took.bare ?? Number.NaN) * 1000, "ms"),
    told("postern --help", (took.help ?? Number.NaN) * 1000, "ms"),
    atMost("postern --help beside it", (took.help ?? Number.NaN) / (took.bare ?? 1), "x", 1.5),
  ];
}

async function plan(made: string): Promise<Row[]> {
  const { child, ready } = await startLocal(
    folder,
    "--speed",
    "1000",
    "--clusters",
    String(clusters),
  );
  try {
    const env = { KUBECONFIG: ready.kubeconfig };
    const lists = made.replace("packages/postern/dist/main.js", "bench/cli/lists.js");
    const of = (program: string) =>
      `import { main } from ${JSON.stringify(made)}; process.exitCode = await main([${JSON.stringify(program)}]);`;
    const counted: Record<string, number> = {};
    const count = async (name: string, run: () => Promise<number>) => {
      const before = await requests(ready);
      await run();
      counted[name] = (await requests(ready)) - before;
    };
    const runs = {
      lists: () => timed([lists], env),
      plan: () => timed(["--input-type=module", "-e", of("plan")], env, [0, 2]),
      tree: () => timed(["--input-type=module", "-e", of("tree")], env, [0, 3]),
    };
    for (const [name, run] of Object.entries(runs)) await count(name, run);
    const took = await inTurn(rounds, runs);
    const { lists: alone = Number.NaN, plan: planned = Number.NaN, tree = Number.NaN } = took;
    return [
      told(`${clusters} clusters: the lists alone`, alone, "s"),
      told(`${clusters} clusters: postern plan`, planned, "s"),
      atMost("postern plan beside the lists", planned / alone, "x", 3),
      told(`${clusters} clusters: postern tree`, tree, "s"),
      told("requests to Azure: lists", counted.lists ?? Number.NaN, ""),
      told("requests to Azure: postern plan", counted.plan ?? Number.NaN, ""),
    ];
  } finally {
    child.kill("SIGINT");
    await once(child, "exit");
  }
}

/** How many requests the commands have sent as the person at the keyboard: the operator goes on beside them, and local mode shows how things are. */
async function requests(ready: Ready): Promise<number> {
  const you = ready.azure?.identities.find(({ name }) => name === "you");
  const page = `${ready.azure?.control}/requests?identity=${you?.objectId}&limit=1000000`;
  const { value } = (await (await fetch(page)).json()) as { value: { userAgent?: string }[] };
  return value.filter(({ userAgent }) => userAgent !== "postern-local").length;
}

const { path, remove } = await shipped("packages/postern/src/main.ts");
try {
  const rows = [...(await help(path)), ...(await plan(path))];
  publish(makeReport("cli", rows), values.json);
} finally {
  await remove();
  rmSync(folder, { recursive: true, force: true });
}
