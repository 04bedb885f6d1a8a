import { randomBytes } from "node:crypto";
import type { Clock } from "../model/clock.ts";
import { Control } from "./control.ts";
import type { FaultRule } from "./fault-rule.ts";
import { History } from "./history.ts";
import { Machines } from "./machines.ts";
import { ManualClock } from "./manual-clock.ts";
import type { OpenWorld } from "./open-world.ts";
import type { RequestLog } from "./request-log.ts";
import { type Snapshot, snapshotOf } from "./snapshot.ts";
import type { Store } from "./store.ts";
import type { Throttle } from "./throttle.ts";

/** All that steers a world from outside of Azure. */
export interface Steering {
  control: Control;
  controlToken: string;
  machines: Machines;
  addFault(rule: FaultRule): string;
  snapshot(): Snapshot;
  moveTo(time: number): void;
  /** The resources as they were at a time. */
  storeAt(time: number): Store;
}

/** Put a hand on a world: its clock, what goes wrong in it, and what can be seen of it. */
export function steer(
  { world, faults }: OpenWorld,
  more: {
    clock: Clock;
    log: RequestLog;
    throttle: Throttle;
    whenKept: (then: () => void) => void;
    bug?: (error: unknown) => void;
  },
): Steering {
  const { clock } = more;
  const { store, operations } = world;
  const history = new History({ store, clock });
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
  const machines = new Machines(world);
  const controlToken = randomBytes(24).toString("base64url");
  const mode = clock instanceof ManualClock ? "manual" : "real";
  const control = new Control({
    ...more,
    faults,
    operations,
    machines,
    addFault,
    snapshot,
    clock: { now: () => clock.now(), mode, moveTo },
    token: controlToken,
  });
  const storeAt = (time: number) => history.at(time);
  return { control, controlToken, machines, addFault, snapshot, moveTo, storeAt };
}
