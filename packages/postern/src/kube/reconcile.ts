import { randomUUID } from "node:crypto";
import { type Clock, dateBy } from "@postern/core/clock.ts";
import type { Failure } from "@postern/core/failure.ts";
import type { Priority } from "@postern/core/priority.ts";
import { KubeError } from "./errors.ts";
import type { Log } from "./log.ts";

/** One reconcile of one object: its key and priority, and whether writing is still allowed. */
export interface Reconcile {
  readonly id: string;
  readonly key: string;
  readonly priority: Priority;
  /** The tenant of the object. */
  readonly tenant?: string;
  /** Reads from before this time, by the clock of `now`, are too stale. */
  readonly freshSince?: number | undefined;
  /** The same, because somebody has requested a reconcile then. */
  readonly requestedAt?: number | undefined;
  /** How often drift is checked now. */
  readonly driftMs?: number | undefined;
  /** Aborted when the process stops or loses the lease, and when the reconcile takes too long. */
  readonly signal: AbortSignal;
  readonly log: Log;
  /** Reads that failed and that the plan reports: with them the plan might be different. */
  readonly failedReads: Failure[];
  /** For measuring durations. */
  now(): Date;
  /** For timestamps that are stored, ours and others'. */
  date(): Date;
  mayWrite(): boolean;
}

/** How long a reconcile may take. Nothing in it waits for long-running operations, so a healthy one never reaches this. */
export const longestReconcileMs = 2 * 60_000;

/** A reconcile under way. Its log and abort signal are created on first use: most reconciles need neither. */
export class RunningReconcile implements Reconcile {
  readonly id = randomUUID();
  readonly key: string;
  readonly priority: Priority;
  readonly tenant: string;
  readonly driftMs: number | undefined;
  freshSince: number | undefined;
  requestedAt: number | undefined;
  readonly failedReads: Failure[] = [];
  /** One of its promises was rejected without a handler. */
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
      tenant?: string;
      driftMs?: number;
    },
  ) {
    this.key = key;
    this.priority = priority;
    this.tenant = given.tenant ?? "";
    this.driftMs = given.driftMs;
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
        this.#cancelTimer = this.#clock.after(longestReconcileMs, late, { limit: true });
      }
    }
    return this.#abort.signal;
  }

  /** Why it was cancelled; undefined where it was not. */
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

  /** Cancel it: everything that listens to its signal stops, and nothing more is written. */
  end(why: "NotLeader" | "PassTimedOut"): void {
    const message =
      why === "NotLeader"
        ? "stopping"
        : `the pass over ${this.key} took longer than ${longestReconcileMs / 1000} s`;
    this.#ended ??= new KubeError(why, message);
    this.#abort?.abort(this.#ended);
  }

  /** Clear the timer when the reconcile is over. */
  over(): void {
    this.#cancelTimer?.();
  }
}
