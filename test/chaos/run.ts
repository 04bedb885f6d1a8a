import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { shipped } from "../../bench/shipped.ts";
import { findOrBuild } from "../setup/binaries.ts";
import { type Entry, type Storm, stormOf, told } from "./plan.ts";
import { line, writeSummary } from "./report.ts";
import { shrink } from "./shrink.ts";
import { type Outcome, runStorm, type StormGround } from "./storm.ts";

const usage = `npm run chaos -- [--seeds 1] [--seed 1] [--only 3,17,22] [--storm-minutes 20] [--speed 60] [--shrink-minutes 20] [--summary FILE]

  --seeds           how many storms, with seeds one after the other
  --seed            the first of them
  --only            only these entries of the storm
  --storm-minutes   how long each storm lasts, in simulated minutes
  --speed           how many times faster than the machine's the clocks run; from 60 down to 8 on a machine that others keep busy
  --shrink-minutes  how long to look for a shorter history of each storm that fails, in real minutes; 0: not at all
  --summary         write what came of it into this file, under the heading "Storms"`;

interface Settings {
  seeds: number;
  first: number;
  only: readonly number[] | undefined;
  stormSeconds: number;
  speed: number | undefined;
  shrinkMs: number;
  summary: string | undefined;
}

function settings(): Settings {
  const { values } = parseArgs({
    options: {
      seeds: { type: "string", default: "1" },
      seed: { type: "string", default: "1" },
      only: { type: "string" },
      "storm-minutes": { type: "string", default: "20" },
      speed: { type: "string" },
      "shrink-minutes": { type: "string", default: "20" },
      summary: { type: "string" },
    },
  });
  const whole = (name: keyof typeof values, least: number) => {
    const number = Number(values[name]);
    if (!Number.isInteger(number) || number < least)
      throw new Error(`--${name} must be a whole number from ${least} on`);
    return number;
  };
  const only = values.only?.split(",").map(Number);
  if (only?.some(Number.isNaN)) throw new Error("--only takes numbers of entries, such as 3,17,22");
  return {
    seeds: whole("seeds", 1),
    first: whole("seed", 0),
    only,
    stormSeconds: whole("storm-minutes", 1) * 60,
    speed: values.speed === undefined ? undefined : whole("speed", 1),
    shrinkMs: whole("shrink-minutes", 0) * 60_000,
    summary: values.summary,
  };
}

const say = (text: string) => void process.stdout.write(`${text}\n`);

/** Run the storm of one seed; where it fails, look for the shortest part of it that fails too. */
async function runSeed(seed: number, asked: Settings, ground: StormGround): Promise<Outcome> {
  const whole = stormOf(seed, { seconds: asked.stormSeconds, faults: true });
  const { only } = asked;
  const storm: Storm = only
    ? { ...whole, entries: whole.entries.filter(({ n }) => only.includes(n)) }
    : whole;
  const outcome = await runStorm(storm, ground);
  say(line(outcome));
  if (outcome.faults.length === 0) return outcome;
  tellFaults(outcome);
  const command = `npm run chaos -- --seed ${seed} --storm-minutes ${asked.stormSeconds / 60}`;
  if (asked.shrinkMs === 0) say(`  again: ${command}${only ? ` --only ${only.join(",")}` : ""}`);
  else {
    const left = await shorten(storm, ground, Date.now() + asked.shrinkMs);
    say(`  its shortest history that was found to fail (${storm.layout}):`);
    for (const entry of left) say(`    ${told(entry)}`);
    say(`  again: ${command} --only ${left.map(({ n }) => n).join(",")}`);
  }
  return outcome;
}

/** Find a part of a storm that fails too, as short as can be found until the time is over. */
function shorten(storm: Storm, ground: StormGround, end: number): Promise<readonly Entry[]> {
  const fails = async (entries: readonly Entry[]) => {
    const { faults } = await runStorm({ ...storm, entries }, ground);
    const came = faults.length === 0 ? "passed" : `failed: ${faults[0]?.split("\n")[0]}`;
    say(`  with ${entries.length} of ${storm.entries.length} entries: ${came}`);
    return faults.length > 0;
  };
  return shrink(storm.entries, fails, () => Date.now() < end && !ground.signal.aborted);
}

function tellFaults({ faults, logs }: Outcome): void {
  for (const fault of faults) say(`  - ${fault}`);
  if (logs) say(`  logs, objects and requests: ${logs}`);
}

async function run(asked: Settings): Promise<void> {
  const found = await findOrBuild((text) => process.stderr.write(`${text}\n`));
  if ("missing" in found) throw new Error(found.missing);
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => {
      stop.abort(new Error("interrupted"));
      // What does not end by itself is ended by its guard, when this process is gone.
      setTimeout(() => process.exit(1), 15_000).unref();
    });
  const programs = await shipped("test/chaos/processes/operator.ts");
  const outcomes: Outcome[] = [];
  try {
    const ground: StormGround = {
      binaries: found.binaries,
      programs: dirname(programs.path),
      signal: stop.signal,
      speed: asked.speed,
    };
    for (let seed = asked.first; seed < asked.first + asked.seeds; seed++)
      outcomes.push(await runSeed(seed, asked, ground));
  } finally {
    await programs.remove();
  }
  const failed = outcomes.filter(({ faults }) => faults.length > 0);
  if (failed.length > 0) say(`failed: ${failed.map(({ seed }) => seed).join(", ")}`);
  if (asked.summary) await writeSummary(asked.summary, outcomes);
  say(`${outcomes.length - failed.length} passed, ${failed.length} failed`);
  if (failed.length > 0) process.exitCode = 1;
}

function settingsOrUsage(): Settings | undefined {
  try {
    return settings();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}\n`);
    process.exitCode = 64;
    return undefined;
  }
}

const asked = settingsOrUsage();
try {
  if (asked) await run(asked);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
