import { randomBytes } from "node:crypto";
import { type Clock, realClock } from "../model/clock.ts";
import { Arm } from "./arm.ts";
import { serverCertificates } from "./certificates.ts";
import { Control } from "./control.ts";
import { Directory, type DirectoryState } from "./directory.ts";
import { Entra } from "./entra.ts";
import type { FaultRule } from "./fault-rule.ts";
import { Faults } from "./faults.ts";
import { guidFrom } from "./guid.ts";
import { History } from "./history.ts";
import { restoreIdentities } from "./identities.ts";
import { type KeyValue, memoryKeyValue } from "./key-value.ts";
import { Machines } from "./machines.ts";
import { ManualClock } from "./manual-clock.ts";
import { type Course, type Operation, Operations } from "./operations.ts";
import { RequestLog } from "./request-log.ts";
import type { Switches, World } from "./resource-type.ts";
import { Roles } from "./roles.ts";
import { applySeed, isSeeder } from "./seed.ts";
import type { Seed } from "./seed-file.ts";
import type { Sent } from "./send.ts";
import { listen } from "./server.ts";
import type { SimulatorError } from "./simulator-error.ts";
import { type Snapshot, snapshotOf } from "./snapshot.ts";
import { State } from "./state.ts";
import { Store } from "./store.ts";
import { Throttle, type ThrottleLimits } from "./throttle.ts";

export interface SimulatorOptions {
  host?: string;
  /** 0 for any free port. */
  port?: number;
  /** Serve over TLS too, with a certificate authority that is made once; `names` are further names of the server. */
  https?: boolean | { host?: string; port?: number; names?: readonly string[] };
  /** The name of this machine in addresses that answers give; the address that is listened on where nothing is said. */
  publicHost?: string;
  /** A `ManualClock` stands until it is moved. */
  clock?: Clock;
  /** How long operations take, by full type; `*` for the rest. A thousandth of a second where nothing is said. */
  operationMs?: Readonly<Record<string, number>>;
  /** How many times faster than said. */
  speed?: number;
  limits?: Partial<ThrottleLimits>;
  switches?: Partial<Switches>;
  /** How many resources a page of a list holds. */
  pageSize?: number;
  retryAfterSeconds?: number;
  /** Makes guids and faults the same in every run. */
  seed?: string;
  /** A world to start with. It is applied once: a state file that was seeded is not seeded again. */
  world?: Seed;
  /** A file that keeps the world beyond the life of the process; `reset` begins with an empty one. */
  state?: { file: string; reset?: boolean };
  /** Told when the state file cannot be written any more; nothing is answered from then on. */
  failed?: (error: SimulatorError) => void;
  /** How long a request may take to arrive. */
  arriveMs?: number;
  /** Told of every answer of Resource Manager as it goes out. */
  answered?: (sent: Sent) => void;
  /** Told of errors that are faults of the simulator itself; the request is answered with 500. */
  bug?: (error: unknown) => void;
}

/** A simulator that runs. */
export interface Simulator {
  readonly url: string;
  /** The same over TLS, where it was asked for. */
  readonly httpsUrl: string | undefined;
  /** The certificate of the authority that signed the server's, in PEM. */
  readonly ca: string | undefined;
  readonly store: Store;
  readonly operations: Operations;
  readonly directory: Directory;
  readonly roles: Roles;
  readonly faults: Faults;
  readonly log: RequestLog;
  readonly throttle: Throttle;
  readonly world: World;
  /** The machines of the world and their metadata services. */
  readonly machines: Machines;
  /** Whether a seed was given that is not the one that the state file began with; it was not applied. */
  readonly seedIgnored: boolean;
  /** Opens the control surface to those who do not come over loopback. */
  readonly controlToken: string;
  /** Let something go wrong; gives the id by which `faults` can take it back. */
  addFault(rule: FaultRule): string;
  /** The world as it is. */
  snapshot(): Snapshot;
  /** Move a manual clock on, ending operations in the order in which they are due. */
  moveClock(ms: number): void;
  close(): Promise<void>;
}

const defaults: Switches = { gatewayPoolsTakeAddresses: true, concurrentNetworkWrites: "refuse" };

/** Start an Azure that runs here: Resource Manager and Entra behind one address. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const clock = options.clock ?? realClock;
  const state =
    options.state && new State({ ...options.state, failed: options.failed ?? (() => undefined) });
  const kept: KeyValue = state ?? memoryKeyValue();
  // What was made from the first seed must go on from it.
  const seed = kept.get("seed") ?? options.seed ?? randomBytes(16).toString("hex");
  kept.set("seed", seed);
  let made = 0;
  made = state?.keepNumber("guids", () => made) ?? 0;
  const guid = () => {
    state?.touch();
    return guidFrom(`${seed} ${made++}`);
  };
  const store = new Store();
  const directory = new Directory({ clock, guid, changed: () => state?.changed("directory") });
  const roles = new Roles({ store, tenantOf: (subscription) => directory.tenantOf(subscription) });
  const faults = new Faults({ clock, seed });
  const log = new RequestLog();
  const throttle = new Throttle({ clock, ...(options.limits && { limits: options.limits }) });
  let seeding = false;
  const course = (operation: Pick<Operation, "type" | "verb" | "key">): Course =>
    faults.course(operation) ?? {
      ms: seeding
        ? 0
        : (options.operationMs?.[operation.type] ?? options.operationMs?.["*"] ?? 0) /
          (options.speed ?? 1),
    };
  const operations = new Operations({
    clock,
    guid,
    course,
    ended: (operation) => arm.ended(operation),
    ...(state && { journal: state.operations }),
  });
  if (state) {
    const saved = state.get("directory");
    if (saved !== undefined) directory.load(JSON.parse(saved) as DirectoryState);
    state.keepText("directory", () => JSON.stringify(directory.save()));
    for (const resource of state.loadResources()) store.load(resource);
    for (const operation of state.loadOperations()) operations.load(operation);
    store.keepIn(state.resources);
    if (clock instanceof ManualClock) {
      clock.moveTo(state.keepNumber("clock", () => clock.now()) ?? clock.now());
      clock.moved = () => state.touch();
    }
  }
  const world: World = {
    store,
    operations,
    directory,
    roles,
    guid,
    now: () => clock.now(),
    allowed: (asker, action, scope) => isSeeder(asker) || roles.allow(asker, action, scope),
    switches: { ...defaults, ...options.switches },
  };
  if (state) restoreIdentities(world);
  let base = "";
  let tlsBase = "";
  const armOptions = {
    world,
    base: () => base,
    tenantOf: (subscription: string) => directory.tenantOf(subscription),
    pageSize: options.pageSize ?? 100,
    retryAfterSeconds: options.retryAfterSeconds ?? 10,
    secret: seed,
  };
  const arm = new Arm(armOptions);
  const seeded = kept.get("seeded");
  if (options.world && seeded === undefined) {
    seeding = true;
    try {
      applySeed(options.world, { arm, world });
    } catch (error) {
      state?.discard();
      throw error;
    }
    seeding = false;
    kept.set("seeded", options.world.digest);
  }
  const history = new History({ store, clock });
  const armAt = (time: number) =>
    new Arm({ ...armOptions, world: { ...world, store: history.at(time) } });
  const addFault = (rule: FaultRule) => {
    if (rule.effect.kind === "stale") history.start();
    return faults.add(rule);
  };
  const snapshot = () => snapshotOf(store, clock.now());
  const moveTo = (time: number) => {
    if (!(clock instanceof ManualClock)) throw new Error("only a manual clock can be moved");
    while (operations.nextDue <= time) {
      clock.moveTo(operations.nextDue);
      operations.settle();
    }
    clock.moveTo(time);
  };
  const whenKept = (then: () => void) => (state ? state.whenKept(then) : then());
  const controlToken = randomBytes(24).toString("base64url");
  const machines = new Machines(world);
  const control = new Control({
    faults,
    log,
    throttle,
    operations,
    machines,
    addFault,
    snapshot,
    clock: {
      now: () => clock.now(),
      mode: clock instanceof ManualClock ? "manual" : "real",
      moveTo,
    },
    token: controlToken,
    whenKept,
    ...(options.bug && { bug: options.bug }),
  });
  const parts = { arm, armAt, directory, operations, throttle, faults, log, clock, whenKept };
  state?.flush();
  const bug = options.bug && { bug: options.bug };
  const entra = new Entra({ directory, clock, log, guid, whenKept, ...bug });
  const answered = options.answered && { answered: options.answered };
  const serving = { ...parts, pages: [control, entra], ...bug, ...answered };
  const where = {
    host: options.host ?? "127.0.0.1",
    port: options.port ?? 0,
    ...(options.arriveMs !== undefined && { arriveMs: options.arriveMs }),
    ...(options.publicHost !== undefined && { publicHost: options.publicHost }),
  };
  const release = (error: unknown): never => {
    state?.close();
    throw error;
  };
  const server = await listen(serving, where).catch(release);
  base = server.url;
  directory.acceptAudience(base);
  const https = options.https === true ? {} : options.https || undefined;
  const certificates = https && serverCertificates(kept, https.names);
  // What comes over TLS is told of operations over TLS: clients refuse to go on without.
  const tlsArm = { ...armOptions, base: () => tlsBase };
  const tlsServing = {
    ...serving,
    arm: new Arm(tlsArm),
    armAt: (time: number) => new Arm({ ...tlsArm, world: { ...world, store: history.at(time) } }),
  };
  const tlsServer =
    certificates &&
    (await listen(tlsServing, {
      ...where,
      host: https?.host ?? where.host,
      port: https?.port ?? 0,
      tls: { cert: certificates.server.certificate, key: certificates.server.key },
    }).catch(async (error: unknown) => {
      await server.close();
      return release(error);
    }));
  if (tlsServer) {
    tlsBase = tlsServer.url;
    directory.acceptAudience(tlsBase);
    directory.acceptAudience(tlsBase.replace("127.0.0.1", "localhost"));
  }
  return {
    url: server.url,
    httpsUrl: tlsServer?.url,
    ca: certificates?.ca,
    store,
    operations,
    directory,
    roles,
    faults,
    log,
    throttle,
    world,
    machines,
    seedIgnored:
      options.world !== undefined && (seeded ?? options.world.digest) !== options.world.digest,
    controlToken,
    addFault,
    snapshot,
    moveClock: (ms) => moveTo(clock.now() + ms),
    close: async () => {
      await Promise.all([server.close(), tlsServer?.close(), machines.close()]);
      state?.close();
    },
  };
}
