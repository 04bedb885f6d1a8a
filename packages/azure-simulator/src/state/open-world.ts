import { randomBytes } from "node:crypto";
import type { Clock } from "@postern/core/clock.ts";
import { type KeyValue, memoryKeyValue } from "@postern/core/test-bed/key-value.ts";
import type { StateFile } from "@postern/core/test-bed/state-file.ts";
import type { TestBedError } from "@postern/core/test-bed/test-bed-error.ts";
import { Arm } from "../arm/arm.ts";
import { writeAtOnce } from "../arm/at-once.ts";
import { type Course, type Operation, Operations } from "../arm/operations.ts";
import type { World } from "../arm/resource-type.ts";
import { Roles } from "../arm/roles.ts";
import { defaultSwitches, type Switches } from "../arm/switches.ts";
import { Faults } from "../control/faults.ts";
import { ManualClock } from "../control/manual-clock.ts";
import { Directory, type DirectoryState } from "../entra/directory.ts";
import { restoreIdentities } from "../entra/identities.ts";
import { guidFrom } from "./guid.ts";
import { applySeed } from "./seed.ts";
import type { Seed } from "./seed-entry.ts";
import { isSeeder } from "./seeder.ts";
import { State } from "./state.ts";
import { Store } from "./store.ts";

/** What a world is made from. */
export interface WorldOptions {
  /** How long operations take, by full type; `*` for the rest. At once where nothing is said. */
  operationMs?: Readonly<Record<string, number>>;
  /** How many times faster than said. */
  speed?: number;
  switches?: Partial<Switches>;
  /** How many resources a page of a list holds. */
  pageSize?: number;
  /** What Azure says where nothing is said, or less where all of `operationMs` are short. */
  retryAfterSeconds?: number;
  /** Makes guids and faults the same in every run. */
  seed?: string;
  /** A world to start with. It is applied once: a state file that was seeded is not seeded again. */
  world?: Seed;
  /** A file that keeps the world beyond the life of the process. */
  state?: Omit<StateFile, "use">;
  /** Told when the state file cannot be written any more; nothing is answered from then on. */
  failed?: (error: TestBedError) => void;
}

/** A world, with what changes it and what keeps it. */
export interface OpenWorld {
  world: World;
  faults: Faults;
  /** Undefined where nothing outlives the process. */
  state: State | undefined;
  /** Values that are not resources, such as the seed and the keys of certificates. */
  settings: KeyValue;
  /** Resource Manager for those who reach it at this address, which may become known later. */
  armFor(base: () => string, store?: Store): Arm;
  /** Whether a seed was given that is not the one that the state file began with; it was not applied. */
  seedIgnored: boolean;
}

/** Open a world: the one in the state file, a seeded one, or an empty one. */
export function openWorld(options: WorldOptions, clock: Clock): OpenWorld {
  const state =
    options.state && new State({ ...options.state, failed: options.failed ?? (() => undefined) });
  try {
    return open(options, clock, state);
  } catch (error) {
    state?.discard();
    throw error;
  }
}

function open(options: WorldOptions, clock: Clock, state: State | undefined): OpenWorld {
  const settings: KeyValue = state ?? memoryKeyValue();
  // What was made from the first seed must go on from it.
  const secret = settings.get("seed") ?? options.seed ?? randomBytes(16).toString("hex");
  settings.set("seed", secret);
  const guid = guids(secret, state);
  const store = new Store();
  const directory = new Directory({ clock, guid, changed: () => state?.changed("directory") });
  const tenantOf = (subscription: string) => directory.tenantOf(subscription);
  const roles = new Roles({ store, tenantOf });
  const faults = new Faults({ clock, seed: secret });
  const operations = new Operations({
    clock,
    guid,
    course: (operation) => faults.course(operation) ?? { ms: usualMs(operation, options) },
    ended: (operation) => arm.ended(operation),
    ...(state && { journal: state.operations }),
  });
  const world: World = {
    store,
    operations,
    directory,
    roles,
    guid,
    now: () => clock.now(),
    allowed: (asker, action, scope) => isSeeder(asker) || roles.allow(asker, action, scope),
    switches: { ...defaultSwitches, ...options.switches },
    write: (id, body, asker, apiVersion) =>
      writeAtOnce(id, body, { arm, world }, { asker, apiVersion }),
    shown: (id, asker) => arm.shown(id, asker),
  };
  if (state) load(state, world, clock);
  const { pageSize = 100, retryAfterSeconds = shortRetryAfter(options) } = options;
  const armFor = (base: () => string, then: Store = store) =>
    new Arm({
      world: then === store ? world : { ...world, store: then },
      base,
      tenantOf,
      pageSize,
      retryAfterSeconds,
      secret,
    });
  const arm = armFor(() => "");
  const seeded = settings.get("seeded");
  const given = options.world;
  if (given && seeded === undefined) {
    applySeed(given, { arm, world });
    settings.set("seeded", given.digest);
  }
  const seedIgnored = given !== undefined && (seeded ?? given.digest) !== given.digest;
  return { world, faults, state, settings, armFor, seedIgnored };
}

/** Clients that wait as long as Azure asks would wait in vain where operations are said to be short. */
function shortRetryAfter({ operationMs = {}, speed = 1 }: WorldOptions): number | undefined {
  const times = Object.values(operationMs);
  const longestMs = Math.max(0, ...times) / speed;
  return times.length > 0 && longestMs < 10_000
    ? Math.max(1, Math.ceil(longestMs / 1000))
    : undefined;
}

/** Guids that are the same in every run with the same seed, and go on where a state file left off. */
function guids(secret: string, state: State | undefined): () => string {
  let made = 0;
  made = state?.keepNumber("guids", () => made) ?? 0;
  return () => {
    state?.touch();
    return guidFrom(`${secret} ${made++}`);
  };
}

function usualMs(operation: Pick<Operation, "type">, options: WorldOptions): Course["ms"] {
  const { operationMs = {}, speed = 1 } = options;
  return (operationMs[operation.type] ?? operationMs["*"] ?? 0) / speed;
}

/** Take in what the state file has, and keep there what changes from now on. */
function load(state: State, world: World, clock: Clock): void {
  const { store, operations, directory } = world;
  const saved = state.get("directory");
  if (saved !== undefined) directory.load(JSON.parse(saved) as DirectoryState);
  state.keepText("directory", () => JSON.stringify(directory.save()));
  for (const resource of state.loadResources()) store.load(resource);
  for (const operation of state.loadOperations()) operations.load(operation);
  store.setJournal(state.resources);
  if (clock instanceof ManualClock) {
    clock.moveTo(state.keepNumber("clock", () => clock.now()) ?? clock.now());
    clock.moved = () => state.touch();
  }
  restoreIdentities(world);
}
