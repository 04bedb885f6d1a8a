import type { Clock } from "@postern/core/clock.ts";
import { provisioningOf } from "@postern/core/provisioning.ts";
import { idKey } from "@postern/core/resource-id.ts";
import { type ArmAnswer, headerOf } from "./answer.ts";
import type { ArmClient } from "./arm.ts";
import { idsIn } from "./contradictions.ts";
import { Durations } from "./durations.ts";
import { AzureError } from "./errors.ts";
import type { Method } from "./exchange.ts";
import { firstOutcome, type Outcome, type Poll, pollOnce } from "./operation-outcome.ts";
import { describePath } from "./request-path.ts";
import { retryAfterMs } from "./retry-after.ts";

/** The result of a write. Writes of Azure are often long: "running" is an answer, not an error. */
export type Write<T> =
  | { state: "done"; resource: T }
  | { state: "running"; id: string; retryAfterMs: number };

/** What became of an operation. After "done" and "failed" it is forgotten; the resource tells the rest. */
export type OperationState =
  | { state: "running"; retryAfterMs: number }
  /** `isShown`: the resource was read after it had ended, and need not be read again. */
  | { state: "done"; result?: unknown; isShown?: true }
  | { state: "failed"; error: AzureError; write: SentWrite };

/** Reads the resource of an operation, unless it was read within the last `maxAgeMs`. */
export type ShowResource = (maxAgeMs: number) => Promise<object | undefined>;

/** What is remembered of the write that began an operation. */
export interface SentWrite {
  sentAt: number;
  /** The ids in the body that was written. */
  refersTo: readonly string[];
}

/** Operations of one kind take alike. */
export function operationKind(method: Method, resource: string): string {
  return `${method} ${resource}`.toLowerCase();
}

/** A write that has been sent and answered. */
export interface Begun {
  id: string;
  method: Method;
  body?: unknown;
  query: Readonly<Record<string, string>>;
  answer: ArmAnswer;
  /** It creates a resource that itself shows when that is done: whoever can read it need not poll before. */
  isShownByResource?: boolean;
}

interface Operation extends Poll {
  key: string;
  kind: string;
  /** Says which write it is, so that the same write is not sent again while it runs. */
  print: string;
  refersTo: readonly string[];
  startedAt: number;
  polledAt: number;
  dueAt: number;
  isShownByResource: boolean;
  /** How long Azure said to wait when the operation began. */
  minimumMs: number;
  polling?: Promise<OperationState>;
  /** How it ended, until the one who acts on it has heard. */
  ended?: OperationState;
}

const longestMs = 3_600_000;
/** How long an operation lets another of its kind be looked at in its place. */
const followMs = 300_000;
/** Those who follow come a moment after the one that is looked at. */
const behindMs = 500;
/** One that nobody has looked at for so long after its time leads no one. */
const forsakenMs = 5_000;

/**
 * The long-running operations that one identity began in this process. Nothing waits for them: a key whose operation
 * runs comes back when it is due. They are kept in memory only; after a restart the resource itself
 * says whether it is still being changed.
 */
export class Operations {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #operations = new Map<string, Operation>();
  readonly #durations: Durations;
  /** Of a kind whose duration is not known yet, the operation that is looked at for all of them. */
  readonly #scouts = new Map<string, Operation>();

  constructor(options: { clock: Clock; durations?: Durations; most?: number }) {
    this.#clock = options.clock;
    this.#most = options.most ?? 20_000;
    this.#durations = options.durations ?? new Durations();
  }

  /** How many are running. */
  get size(): number {
    return this.#operations.size;
  }

  /** Read the answer to a write, and remember the operation if it goes on. */
  begin(begun: Begun): Write<unknown> {
    const { id, method, answer, query, body } = begun;
    const what = `${method === "DELETE" ? "delete" : "write"} ${describePath(id).thing}`;
    const first = firstOutcome(method, answer, what);
    const key = idKey(id);
    if (first.state === "failed") throw first.error;
    if (first.state === "done") {
      this.#operations.delete(key);
      return { state: "done", resource: answer.body };
    }
    const now = this.#clock.now();
    const kind = operationKind(method, describePath(id).resource);
    const minimumMs = retryAfterMs(headerOf(answer.headers, "retry-after"), now) ?? 0;
    const dueAt = now + Math.max(minimumMs, this.#durations.firstPollMs(kind));
    this.#remember({
      ...first.poll,
      id,
      method,
      query,
      what,
      key,
      kind,
      print: printOf(method, body),
      refersTo: idsIn(body),
      startedAt: now,
      polledAt: now,
      dueAt,
      isShownByResource: begun.isShownByResource ?? false,
      minimumMs,
    });
    return { state: "running", id, retryAfterMs: dueAt - now };
  }

  /** Whether this very write is known to be running. */
  runs(id: string, method: Method, body?: unknown): boolean {
    const operation = this.#operations.get(idKey(id));
    return operation !== undefined && operation.print === printOf(method, body);
  }

  /**
   * What became of the operation on a resource: at most one request, and none before it is due. Whoever only looks on leaves
   * its end for the one who acts on it: a failure is told once.
   */
  async check(
    arm: ArmClient,
    id: string,
    observesOnly = false,
    show?: ShowResource,
  ): Promise<OperationState | undefined> {
    const operation = this.#operations.get(idKey(id));
    if (operation === undefined) return undefined;
    const state = operation.ended ?? (await this.#stateOf(arm, operation, show));
    // Another write may have taken its place while we looked.
    if (
      state.state !== "running" &&
      !observesOnly &&
      this.#operations.get(operation.key) === operation
    )
      this.#operations.delete(operation.key);
    return state;
  }

  async #stateOf(
    arm: ArmClient,
    operation: Operation,
    show: ShowResource | undefined,
  ): Promise<OperationState> {
    const now = this.#clock.now();
    const { kind, startedAt, polledAt } = operation;
    // How long such operations take may have been learned since this one began.
    if (polledAt === startedAt && this.#durations.knows(kind))
      operation.dueAt = Math.max(operation.dueAt, startedAt + this.#durations.firstPollMs(kind));
    if (now < operation.dueAt) return { state: "running", retryAfterMs: operation.dueAt - now };
    const scoutDueMs = this.#scoutDueMs(operation, now);
    if (scoutDueMs !== undefined) return { state: "running", retryAfterMs: scoutDueMs + behindMs };
    operation.polling ??= this.#poll(arm, operation, show).finally(() => {
      delete operation.polling;
    });
    return operation.polling;
  }

  /**
   * How long until the one is looked at that this one follows; undefined where it must be looked at itself. A hundred
   * operations that begin together end together: as long as nobody knows when, one is asked and not a hundred.
   */
  #scoutDueMs(operation: Operation, now: number): number | undefined {
    const { kind, startedAt } = operation;
    if (this.#durations.knows(kind) || now - startedAt > followMs) return undefined;
    const scout = this.#scouts.get(kind);
    const leads =
      scout !== undefined &&
      this.#operations.get(scout.key) === scout &&
      now < scout.dueAt + forsakenMs;
    if (!leads) this.#scouts.set(kind, operation);
    return leads && scout !== operation ? Math.max(0, scout.dueAt - now) : undefined;
  }

  async #poll(
    arm: ArmClient,
    operation: Operation,
    show: ShowResource | undefined,
  ): Promise<OperationState> {
    const { kind, polledAt, startedAt, dueAt, refersTo } = operation;
    const write: SentWrite = { sentAt: startedAt, refersTo };
    const outcome =
      (await this.#outcomeByResource(operation, show)) ??
      (await pollOnce(arm, operation, this.#clock.now()));
    const now = this.#clock.now();
    if (outcome.state === "running" && now - startedAt < longestMs)
      return this.#putOff(operation, outcome, now);
    if (outcome.state === "running") {
      const error = new AzureError({ code: "OperationTimedOut", what: operation.what });
      operation.ended = { state: "failed", error, write };
      return operation.ended;
    }
    operation.ended = outcome.state === "failed" ? { ...outcome, write } : outcome;
    this.#scouts.delete(kind);
    this.#durations.learn(kind, {
      runningMs: polledAt - startedAt,
      dueMs: dueAt - startedAt,
      endedMs: now - startedAt,
    });
    return operation.ended;
  }

  /**
   * What the resource shows of its creation; undefined where the operation must be asked. One read in place of two: after a poll
   * the resource would be read as well.
   */
  async #outcomeByResource(
    operation: Operation,
    show: ShowResource | undefined,
  ): Promise<Outcome | undefined> {
    if (!operation.isShownByResource || show === undefined) return undefined;
    try {
      const reading: Promise<object | undefined> = show(this.#clock.now() - operation.dueAt + 1);
      const resource = await reading;
      const shown = resource === undefined ? "absent" : provisioningOf(resource);
      if (shown === "succeeded") return { state: "done", isShown: true };
      if (shown === "changing")
        return { state: "running", minimumMs: operation.minimumMs, poll: {} };
    } catch (error) {
      if (!(error instanceof AzureError) || error.code === "Cancelled") throw error;
    }
    // It failed, or it cannot be seen yet: only the operation says more.
    operation.isShownByResource = false;
    return undefined;
  }

  /** Look again when a quarter as much time again has gone by (five minutes at most), and not before Azure said. */
  #putOff(
    operation: Operation,
    { minimumMs, poll }: Outcome & { state: "running" },
    now: number,
  ): OperationState {
    Object.assign(operation, poll);
    operation.polledAt = now;
    const quarterMs = Math.min((now - operation.startedAt) / 4, 300_000);
    operation.dueAt = now + Math.max(minimumMs, quarterMs, 1_000);
    return { state: "running", retryAfterMs: operation.dueAt - now };
  }

  #remember(operation: Operation): void {
    this.#operations.delete(operation.key);
    this.#operations.set(operation.key, operation);
    if (this.#operations.size <= this.#most) return;
    // The oldest is the one that is most likely over; its resource can still be read.
    for (const key of this.#operations.keys()) {
      this.#operations.delete(key);
      return;
    }
  }
}

function printOf(method: Method, body: unknown): string {
  // Loaded when the first write is sent: not all who read also write.
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256")
    .update(`${method} ${JSON.stringify(body)}`)
    .digest("base64");
}
