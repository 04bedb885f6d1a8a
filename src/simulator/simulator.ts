import { createHash, randomBytes } from "node:crypto";
import { type Clock, realClock } from "../model/clock.ts";
import { Arm } from "./arm.ts";
import { Directory } from "./directory.ts";
import { Faults } from "./faults.ts";
import { type Course, type Operation, Operations } from "./operations.ts";
import { RequestLog } from "./request-log.ts";
import type { Switches, World } from "./resource-type.ts";
import { Roles } from "./roles.ts";
import { listen } from "./server.ts";
import { Store } from "./store.ts";
import { Throttle, type ThrottleLimits } from "./throttle.ts";

export interface SimulatorOptions {
  host?: string;
  /** 0 for any free port. */
  port?: number;
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
}

/** A simulator that runs. */
export interface Simulator {
  readonly url: string;
  readonly store: Store;
  readonly operations: Operations;
  readonly directory: Directory;
  readonly roles: Roles;
  readonly faults: Faults;
  readonly log: RequestLog;
  readonly throttle: Throttle;
  readonly world: World;
  close(): Promise<void>;
}

const defaults: Switches = { gatewayPoolsTakeAddresses: true, concurrentNetworkWrites: "refuse" };

/** Start an Azure that runs here: Resource Manager and Entra behind one address. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const clock = options.clock ?? realClock;
  const seed = options.seed ?? randomBytes(16).toString("hex");
  let made = 0;
  const guid = () => guidFrom(`${seed} ${made++}`);
  const store = new Store();
  const directory = new Directory({ clock, guid });
  const roles = new Roles({ store });
  const faults = new Faults({ clock, seed });
  const log = new RequestLog();
  const throttle = new Throttle({ clock, ...(options.limits && { limits: options.limits }) });
  const course = (operation: Pick<Operation, "type" | "verb" | "key">): Course =>
    faults.course(operation) ?? {
      ms:
        (options.operationMs?.[operation.type] ?? options.operationMs?.["*"] ?? 0) /
        (options.speed ?? 1),
    };
  const operations = new Operations({
    clock,
    guid,
    course,
    ended: (operation) => arm.ended(operation),
  });
  const world: World = {
    store,
    operations,
    directory,
    roles,
    guid,
    now: () => clock.now(),
    allowed: (asker, action, scope) => roles.allow(asker, action, scope),
    switches: { ...defaults, ...options.switches },
  };
  let base = "";
  const arm = new Arm({
    world,
    base: () => base,
    tenantOf: (subscription) => directory.tenantOf(subscription),
    pageSize: options.pageSize ?? 100,
    retryAfterSeconds: options.retryAfterSeconds ?? 10,
    secret: seed,
  });
  const server = await listen(
    { arm, directory, operations, throttle, faults, log, clock, guid },
    { host: options.host ?? "127.0.0.1", port: options.port ?? 0 },
  );
  base = server.url;
  return {
    url: server.url,
    store,
    operations,
    directory,
    roles,
    faults,
    log,
    throttle,
    world,
    close: server.close,
  };
}

/** A guid made from a text: the same text, the same guid. */
export function guidFrom(text: string): string {
  const hash = createHash("sha256").update(text).digest("hex");
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-4${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}
