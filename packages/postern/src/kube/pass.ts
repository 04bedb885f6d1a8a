import { randomUUID } from "node:crypto";
import { type Clock, dateBy } from "@postern/core/clock.ts";
import type { Failure } from "@postern/core/failure.ts";
import type { Priority } from "@postern/core/priority.ts";
import { KubeError } from "./errors.ts";
import type { Log } from "./log.ts";

/** One look at one object: who is asking, how urgently, and whether writing is still allowed. */
export interface Pass {
  readonly id: string;
  readonly key: string;
  readonly priority: Priority;
  /** What was read before this time, by the clock of `now`, does not count. */
  readonly freshSince?: number | undefined;
  /** Aborted when the process stops or loses the lease, and when the pass takes too long. */
  readonly signal: AbortSignal;
  readonly log: Log;
  /** What could not be read and is reported by the plan: without it the plan may be another. */
  readonly failedReads: Failure[];
  /** For how long ago something was, by the same clock. */
  now(): Date;
  /** For what is written down, and for what others wrote down. */
  date(): Date;
  mayWrite(): boolean;
}

/** How long a pass may take. Nothing in it waits for Azure's operations, so this is never reached in health. */
export const longestPassMs = 2 * 60_000;

/** A pass that is under way. What most passes never use is made when it is first asked for. */
export class RunningPass implements Pass {
  readonly id = randomUUID();
  readonly key: string;
  readonly priority: Priority;
  freshSince: number | undefined;
  readonly failedReads: Failure[] = [];
  /** A promise of it was rejected without a handler. */
  rejected = false;
  readonly #clock: Clock;
  readonly #mayWrite: () => boolean;
  readonly #makeLog: (fields: Record<string, unknown>) => Log;
  #log: Log | undefined;
  #abort: AbortController | undefined;
  #cancelTimer: (() => void) | undefined;
  #ended: KubeError | undefined;

  constructor(
    key: string,
    priority: Priority,
    given: {
      clock: Clock;
      mayWrite: () => boolean;
      makeLog: (fields: Record<string, unknown>) => Log;
    },
  ) {
    this.key = key;
    this.priority = priority;
    this.#clock = given.clock;
    this.#mayWrite = given.mayWrite;
    this.#makeLog = given.makeLog;
  }

  get log(): Log {
    this.#log ??= this.#makeLog({ key: this.key, reconcileID: this.id });
    return this.#log;
  }

  get signal(): AbortSignal {
    if (!this.#abort) {
      this.#abort = new AbortController();
      if (this.#ended) this.#abort.abort(this.#ended);
      else {
        const late = () => this.end("PassTimedOut");
        this.#cancelTimer = this.#clock.after(longestPassMs, late, { limit: true });
      }
    }
    return this.#abort.signal;
  }

  /** Why the pass was ended from outside; undefined where it was not. */
  get ended(): KubeError | undefined {
    return this.#ended;
  }

  now(): Date {
    return new Date(this.#clock.now());
  }

  date(): Date {
    return dateBy(this.#clock);
  }

  mayWrite(): boolean {
    return this.#ended === undefined && this.#mayWrite();
  }

  /** End it: everything that heeds its signal stops, and nothing more is written. */
  end(why: "NotLeader" | "PassTimedOut"): void {
    const message =
      why === "NotLeader"
        ? "stopping"
        : `the pass over ${this.key} took longer than ${longestPassMs / 1000} s`;
    this.#ended ??= new KubeError(why, message);
    this.#abort?.abort(this.#ended);
  }

  /** Let go of the timer, when the pass is over. */
  over(): void {
    this.#cancelTimer?.();
  }
}
