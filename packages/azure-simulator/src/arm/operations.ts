import type { Clock } from "@postern/core/clock.ts";
import { DueHeap } from "@postern/core/due-heap.ts";
import type { JsonObject } from "../state/store.ts";
import type { Detail } from "./refusal.ts";
import type { Dialect } from "./resource-type.ts";

export type OperationStatus = "InProgress" | "Succeeded" | "Failed" | "Canceled";

/** A long-running operation. */
export interface Operation {
  readonly id: string;
  readonly verb: "PUT" | "DELETE" | "POST";
  readonly dialect: Dialect;
  readonly subscription: string;
  readonly resourceGroup: string | undefined;
  readonly location: string;
  /** The key of what it changes. */
  readonly key: string;
  readonly type: string;
  readonly startedAt: number;
  /** When it ends. Never, where somebody asked for that. */
  dueAt: number;
  status: OperationStatus;
  endedAt?: number;
  error?: { code: string; message: string; details: readonly Detail[] };
  result?: JsonObject;
}

/** How long an operation takes and how it ends. */
export interface Course {
  ms: number;
  error?: Operation["error"];
}

/** Persists operations. */
export interface OperationJournal {
  saved(operation: Operation): void;
  removed(id: string): void;
}

export interface OperationsOptions {
  clock: Clock;
  guid: () => string;
  /** Asked for every operation as it begins. */
  course: (operation: { type: string; verb: Operation["verb"]; key: string }) => Course;
  /** Called when an operation ends, before anyone can see that it has. */
  ended: (operation: Operation) => void;
  journal?: OperationJournal;
}

const retentionMs = 3_600_000;

/** The operations that run, and those that ended within the last hour. */
export class Operations {
  readonly #options: OperationsOptions;
  readonly #all = new Map<string, Operation>();
  readonly #running = new Set<Operation>();
  readonly #due = new DueHeap<Operation>();

  constructor(options: OperationsOptions) {
    this.#options = options;
  }

  begin(
    what: Pick<
      Operation,
      "verb" | "dialect" | "subscription" | "resourceGroup" | "location" | "key" | "type"
    > &
      Pick<Operation, "result" | "error">,
  ): Operation {
    const now = this.#options.clock.now();
    const course = this.#options.course(what);
    const operation: Operation = {
      ...what,
      id: this.#options.guid(),
      startedAt: Math.floor(now),
      dueAt: now + course.ms,
      status: "InProgress",
      ...(course.error && { error: course.error }),
    };
    this.#all.set(operation.id, operation);
    this.#running.add(operation);
    if (operation.dueAt !== Number.POSITIVE_INFINITY)
      this.#due.set(operation.id, operation.dueAt, operation);
    this.#options.journal?.saved(operation);
    return operation;
  }

  get(id: string): Operation | undefined {
    return this.#all.get(id);
  }

  /** When the next one ends, for a clock that must be told. */
  get nextDue(): number {
    return this.#due.earliest ?? Number.POSITIVE_INFINITY;
  }

  running(): Iterable<Operation> {
    return this.#running;
  }

  /** End what is due, in the order in which it is due. Called before every request is looked at. */
  settle(): void {
    const now = this.#options.clock.now();
    if (now < this.nextDue) return;
    for (const { value } of this.#due.takeUntil(now))
      this.#end(value, value.error ? "Failed" : "Succeeded", value.dueAt);
    this.#forget(now);
  }

  /** End one at once, because another took its place or because a test says so. */
  end(
    operation: Operation,
    status: Exclude<OperationStatus, "InProgress">,
    error?: Operation["error"],
  ): void {
    if (operation.status !== "InProgress") return;
    if (error) operation.error = error;
    this.#end(operation, status, this.#options.clock.now());
  }

  /** Take one in from a saved state. */
  load(operation: Operation): void {
    this.#all.set(operation.id, operation);
    if (operation.status !== "InProgress") return;
    this.#running.add(operation);
    if (operation.dueAt !== Number.POSITIVE_INFINITY)
      this.#due.set(operation.id, operation.dueAt, operation);
  }

  #end(operation: Operation, status: OperationStatus, at: number): void {
    operation.status = status;
    operation.endedAt = at;
    this.#running.delete(operation);
    this.#due.remove(operation.id);
    this.#options.journal?.saved(operation);
    this.#options.ended(operation);
  }

  #forget(now: number): void {
    // In the order of their beginning, so the first that is young enough ends the look.
    for (const operation of this.#all.values()) {
      if (operation.status === "InProgress") continue;
      if (now - (operation.endedAt ?? now) < retentionMs) return;
      this.#all.delete(operation.id);
      this.#options.journal?.removed(operation.id);
    }
  }
}
