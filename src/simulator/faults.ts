import type { Clock } from "../model/clock.ts";
import type { Course, Operation } from "./operations.ts";

/** What goes wrong on demand. */
export class Faults {
  constructor(options: { clock: Clock; seed: string }) {
    void options;
  }

  /** How an operation goes where it does not go as usual. */
  course(_operation: Pick<Operation, "type" | "verb" | "key">): Course | undefined {
    return undefined;
  }
}
