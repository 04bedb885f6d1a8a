import { readFileSync } from "node:fs";
import { realClock } from "@postern/core/clock.ts";
import { packageVersion } from "@postern/core/process/package-version.ts";
import { describeError } from "@postern/core/process/tell.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { TestBedError } from "@postern/core/test-bed/test-bed-error.ts";
import type { Switches } from "../arm/switches.ts";
import { type Limit, noLimits, type ThrottleLimits } from "../arm/throttle.ts";
import { ManualClock } from "../control/manual-clock.ts";
import { type Simulator, startSimulator } from "../simulator.ts";
import type { Seed } from "../state/seed-entry.ts";
import { readSeed } from "../state/seed-file.ts";
import type { Address } from "./options.ts";
import { ReadyFile, readyOf } from "./ready.ts";

/** What the options of `postern simulator` say. */
export interface SimulatorSettings {
  listen: Address;
  httpListen: Address;
  publicHost?: string;
  state?: string;
  seed?: string;
  reset?: boolean;
  clock: "real" | "manual";
  readyFile?: string;
  operationMs?: Record<string, number>;
  speed: number;
  reads?: Limit;
  writes?: Limit;
  deletes?: Limit;
  networkReads?: Limit;
  networkWrites?: Limit;
  dnsReads?: Limit;
  limits: boolean;
  switch?: Partial<Switches>;
}

/** The world where no other is given: one subscription, and someone who may do everything in it. */
const smallestWorld = `
tenants: [{ id: 7e4a4700-0000-4000-8000-000000000001, name: Simulated }]
subscriptions:
  - { id: 50b5c21b-0000-4000-8000-000000000001, tenant: 7e4a4700-0000-4000-8000-000000000001, name: Simulated }
applications: [{ name: owner, tenant: 7e4a4700-0000-4000-8000-000000000001 }]
roleAssignments:
  - { principal: owner, role: Owner, scope: /subscriptions/50b5c21b-0000-4000-8000-000000000001 }
`;

/** Run a simulator until SIGINT or SIGTERM. */
export async function runSimulator(settings: SimulatorSettings): Promise<void> {
  const { state: file, reset = false } = settings;
  if (reset && file === undefined) throw new UsageError("--reset requires --state");
  const ready = settings.readyFile === undefined ? undefined : new ReadyFile(settings.readyFile);
  const world = seedFrom(settings.seed);
  let fail: (error: TestBedError) => void = () => undefined;
  const stopped = new Promise<void>((resolve, reject) => {
    process.once("SIGINT", () => resolve());
    process.once("SIGTERM", () => resolve());
    fail = reject;
  });
  // It may fail while it still starts, and is told of then.
  stopped.catch(() => undefined);
  const simulator = await startSimulator({
    ...settings.httpListen,
    https: settings.listen,
    ...(settings.publicHost !== undefined && { publicHost: settings.publicHost }),
    // A clock that stands must stand somewhere; where there is a state file, it goes on from there.
    clock: settings.clock === "manual" ? new ManualClock(realClock.now()) : realClock,
    ...(file !== undefined && { state: { file, reset } }),
    world,
    operationMs: settings.operationMs ?? { "*": 0 },
    speed: settings.speed,
    limits: limitsOf(settings),
    ...(settings.switch && { switches: settings.switch }),
    failed: (error) => fail(error),
    bug: (error) => process.stderr.write(`${describeError(error).text}\n`),
  });
  const remove = () => ready?.remove();
  process.once("exit", remove);
  try {
    const told = ready && (await readyOf(simulator, packageVersion(), ready.caFile));
    // What it tells of, a token's key among it, must be there after a kill.
    simulator.flush();
    if (told) ready.write(told);
    if (settings.seed !== undefined && simulator.seedIgnored)
      process.stderr.write(
        `postern: seed ${settings.seed} was not applied, because ${file} was created with another one. To start over with this one, use --reset.\n`,
      );
    process.stdout.write(greeting(simulator, settings));
    await stopped;
  } finally {
    remove();
    process.off("exit", remove);
    await simulator.close();
  }
}

function seedFrom(file: string | undefined): Seed {
  if (file === undefined) return readSeed(smallestWorld, "the smallest world");
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/,.*/, "") : String(error);
    throw new TestBedError(
      "SeedUnreadable",
      `cannot read the seed ${file} · ${why} · use a YAML file with --seed, such as examples/simulator/world.yaml`,
      { cause: error },
    );
  }
  return readSeed(text, file);
}

function limitsOf(settings: SimulatorSettings): Partial<ThrottleLimits> {
  const { limits, reads, writes, deletes, networkReads, networkWrites, dnsReads } = settings;
  return {
    ...(!limits && noLimits),
    ...(reads && { read: reads }),
    ...(writes && { write: writes }),
    ...(deletes && { delete: deletes }),
    ...(networkReads && { networkRead: networkReads }),
    ...(networkWrites && { networkWrite: networkWrites }),
    ...(dnsReads && { dnsRead: dnsReads }),
  };
}

function greeting(simulator: Simulator, { readyFile }: SimulatorSettings): string {
  const rows = [
    ["Resource Manager", `${simulator.httpsUrl} and ${simulator.url}`],
    ["Entra", `${simulator.httpsUrl}`],
    ["Control", `${simulator.url}/_postern`],
    ...simulator.directory.subscriptions().map((id) => ["Subscription", id]),
    ...(readyFile === undefined ? [] : [["Ready file", readyFile]]),
  ];
  const lines = rows.map(([name = "", value = ""]) => `  ${name.padEnd(17)} ${value}`);
  return `The Azure simulator is ready; stop it with Ctrl-C.\n${lines.join("\n")}\n`;
}
