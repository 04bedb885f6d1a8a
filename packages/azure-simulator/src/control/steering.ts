import { randomBytes } from "node:crypto";
import type { Clock } from "@postern/core/clock.ts";
import { dropAtOnce, writeAtOnce } from "../arm/at-once.ts";
import { Refusal } from "../arm/refusal.ts";
import { ResourceStore } from "../arm/resource-store.ts";
import type { Throttle } from "../arm/throttle.ts";
import { Machines } from "../imds/machines.ts";
import { History } from "../state/history.ts";
import type { OpenWorld } from "../state/open-world.ts";
import { type Snapshot, snapshotOf } from "../state/snapshot.ts";
import type { JsonObject, Store } from "../state/store.ts";
import { Control } from "./control.ts";
import type { FaultRule } from "./fault-rule.ts";
import { ManualClock } from "./manual-clock.ts";
import type { RequestLog } from "./request-log.ts";
import type { Traffic } from "./traffic.ts";

/** All that steers a world from outside of Azure. */
export interface Steering {
  control: Control;
  controlToken: string;
  machines: Machines;
  addFault(rule: FaultRule): string;
  snapshot(): Snapshot;
  moveTo(time: number): void;
  advance(ms: number): Promise<void>;
  quiet(): boolean;
  drop(id: string): void;
  change(id: string, body: JsonObject): void;
  /** The resources as they were at a time. */
  storeAt(time: number): Store;
}

/** Put a hand on a world: its clock, what goes wrong in it, and what can be seen of it. */
export function steer(
  { world, faults, armFor }: OpenWorld,
  more: {
    clock: Clock;
    log: RequestLog;
    throttle: Throttle;
    traffic: Traffic;
    whenPersisted: (then: () => void) => void;
    bug?: (error: unknown) => void;
  },
): Steering {
  const { clock, traffic } = more;
  const { store, operations } = world;
  const history = new History({ store, clock });
  const addFault = (rule: FaultRule) => {
    if (rule.effect.kind === "stale") history.start();
    return faults.add(rule);
  };
  const snapshot = () => {
    operations.settle();
    return snapshotOf(store, clock.now());
  };
  const moveTo = (time: number) => {
    if (!(clock instanceof ManualClock)) throw new Error("only a manual clock can be moved");
    while (operations.nextDue <= time) {
      clock.moveTo(operations.nextDue);
      operations.settle();
    }
    clock.moveTo(time);
  };
  const advance = async (ms: number) => {
    if (!(clock instanceof ManualClock)) throw new Error("only a manual clock can be moved");
    if (!(ms >= 0 && ms < Number.POSITIVE_INFINITY))
      throw new Error(`a clock is moved on by so many milliseconds, not by ${ms}`);
    const end = clock.now() + ms;
    const nextDue = () => Math.min(clock.nextDue, operations.nextDue);
    // What is asked because of one step may set timers and begin operations that are due before the next.
    await traffic.settled();
    while (clock.now() < end || nextDue() <= end) {
      moveTo(Math.min(nextDue(), end));
      await traffic.settled();
    }
  };
  const quiet = () => {
    operations.settle();
    const [running] = operations.running();
    return running === undefined && traffic.count === 0;
  };
  const own = { world, arm: armFor(() => ""), resources: new ResourceStore(world) };
  const drop = (id: string) => dropAtOnce(id, own);
  const change = (id: string, body: JsonObject) => {
    const failed = writeAtOnce(id, structuredClone(body), own);
    if (!failed) return;
    const { code, message, details } = failed;
    throw new Refusal(409, code, message, { details });
  };
  const machines = new Machines(world, traffic);
  const controlToken = randomBytes(24).toString("base64url");
  const mode = clock instanceof ManualClock ? "manual" : "real";
  const control = new Control({
    ...more,
    faults,
    operations,
    machines,
    addFault,
    snapshot,
    drop,
    change,
    clock: { now: () => clock.now(), mode, moveTo },
    token: controlToken,
  });
  const storeAt = (time: number) => history.at(time);
  return {
    control,
    controlToken,
    machines,
    addFault,
    snapshot,
    moveTo,
    advance,
    quiet,
    drop,
    change,
    storeAt,
  };
}
