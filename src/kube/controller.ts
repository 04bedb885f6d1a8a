import { type Clock, realClock } from "../model/clock.ts";
import type { PlannedCondition } from "../model/conditions.ts";
import { type Failure, isExplained } from "../model/failure.ts";
import { type Kind, type KubeObject, keyOf } from "../model/kind.ts";
import type { Change, WatchCache } from "./cache.ts";
import { type KubeClient, parseBody } from "./client.ts";
import { KubeError } from "./errors.ts";
import type { Events } from "./events.ts";
import { withoutManagedFields } from "./lines.ts";
import { type Log, redact } from "./log.ts";
import type { ControllerMetrics } from "./metrics.ts";
import { type Pass, RunningPass } from "./pass.ts";
import { type Outcome, type Priority, WorkQueue } from "./queue.ts";
import { statusChange, type WithStatus, writeStatus } from "./status.ts";
import { inSpan } from "./trace.ts";

/** Something that a plan wants done. */
export interface Step {
  do: string;
  why: string;
  /** The reason of the event that tells of it. Without one nothing is told. */
  event?: string;
}

/** When to look again if nothing happens before: soon, at the next drift check, never, or after a time. */
export type Again = "soon" | "drift" | "never" | { afterMs: number };

/** What a plan says. All of its steps may begin at once: what must wait for another belongs to the next pass. */
export interface Plan<S extends Step = Step> {
  steps: readonly S[];
  /** All conditions that this controller owns, as they should be. One that is not named is removed. */
  conditions: readonly PlannedCondition[];
  /** The status fields that this controller owns, as they should be. One that is not named is removed. */
  status?: Record<string, unknown>;
  /** `hold` puts our finalizer on before the first step, `release` takes it off after the last. */
  finalizer?: "hold" | "release";
  again: Again;
}

/** What came of a step. A long one is `running`: it is looked at again, never waited for. */
export type Applied = { state: "done" } | { state: "running"; retryAfterMs: number };

/** One thing that Postern does, in three words: see, plan, apply. */
export interface Feature<T extends KubeObject = KubeObject, Seen = unknown, S extends Step = Step> {
  /** The controller's name in metrics, logs and events; `postern-<name>` is its field manager. */
  name: string;
  kind: Kind<T>;
  finalizer?: string;
  /** The condition types that are its own. The first one tells of failures. */
  conditions: readonly [string, ...string[]];
  /** The status fields that are its own. */
  statusFields?: readonly string[];
  concurrency?: number;
  see(object: T, pass: Pass): Promise<Seen>;
  plan(seen: Seen): Plan<S>;
  apply(step: S, pass: Pass): Promise<Applied>;
}

export interface ControllerOptions {
  client: KubeClient;
  cache: WatchCache;
  events: Events;
  metrics: ControllerMetrics;
  log: Log;
  clock?: Clock;
  /** The fence: false where another process may lead. */
  mayWrite: () => boolean;
}

/** How many keys a controller works on at once, where it does not say. */
export const defaultConcurrency = 16;
const soonMs = 30_000;
const driftMs = 5 * 60_000;

/**
 * Runs one feature: takes a key, sees, plans, applies, and writes the status once where it differs.
 * What is thrown becomes one condition; a bug becomes a log line and a retry, never the end of the process.
 */
export class Controller {
  readonly feature: Feature;
  readonly queue: WorkQueue;
  readonly #options: ControllerOptions;
  readonly #clock: Clock;
  readonly #fieldManager: string;
  readonly #passes = new Set<RunningPass>();
  // The version that our own last write made, until the watch has brought it.
  readonly #written = new Map<string, string>();
  // Changes that arrived while a write of ours was under way: ours or another's is known when it returns.
  readonly #writing = new Map<string, string[]>();

  constructor(feature: Feature, options: ControllerOptions) {
    this.feature = feature;
    this.#options = options;
    this.#clock = options.clock ?? realClock;
    this.#fieldManager = `postern-${feature.name}`;
    this.queue = new WorkQueue({
      concurrency: feature.concurrency ?? defaultConcurrency,
      clock: this.#clock,
      observer: options.metrics.queue,
      work: (key, priority) => this.#pass(key, priority),
    });
    options.cache.onChange((change) => this.#woken(change));
  }

  /** Begin to work on every object there is. */
  begin(): void {
    for (const object of this.#options.cache.list()) this.queue.add(keyOf(object));
    this.queue.start();
  }

  /** Stop: nothing new is begun, and what is under way is ended. */
  async end(): Promise<void> {
    const stopped = this.queue.stop();
    for (const pass of this.#passes) pass.end("NotLeader");
    await stopped;
  }

  #woken({ key, after }: Change<KubeObject>): void {
    const version = after?.metadata.resourceVersion ?? "";
    const held = this.#writing.get(key);
    if (held) {
      held.push(version);
      return;
    }
    const ours = this.#written.get(key) === version;
    if (ours) this.#written.delete(key);
    if (after === undefined) this.#written.delete(key);
    if (!ours) this.queue.add(key);
  }

  async #pass(key: string, priority: Priority): Promise<Outcome> {
    const { metrics, log, mayWrite } = this.#options;
    const { name } = this.feature;
    const started = this.#clock.now();
    const makeLog = (fields: Record<string, unknown>) => log.child({ controller: name, ...fields });
    const pass = new RunningPass(key, priority, { clock: this.#clock, mayWrite, makeLog });
    this.#passes.add(pass);
    metrics.working(1);
    let outcome: Outcome;
    try {
      const span = { "postern.key": key, "postern.pass": pass.id };
      outcome = await inSpan(`${name} pass`, span, () => this.#seePlanApply(pass));
    } catch (error) {
      outcome = { failed: true };
      if (!pass.ended) this.#tellFailure(pass, error);
    }
    pass.over();
    this.#passes.delete(pass);
    metrics.working(-1);
    const result = outcome.failed
      ? "error"
      : outcome.againMs === undefined
        ? "success"
        : "requeue_after";
    metrics.passed(result, (this.#clock.now() - started) / 1000);
    return outcome;
  }

  async #seePlanApply(pass: RunningPass): Promise<Outcome> {
    let object = await this.#read(pass);
    if (!object) return { failed: false };
    let plan: Plan | undefined;
    try {
      plan = this.feature.plan(await this.feature.see(object, pass));
      if (plan.finalizer === "hold") object = await this.#finalizer(object, true, pass);
      const runningMs = await this.#applyAll(plan, object, pass);
      if (plan.finalizer === "release" && plan.steps.length === 0) {
        await this.#finalizer(object, false, pass);
        return { failed: false };
      }
      await this.#writeStatus(object, plan.conditions, plan.status ?? {}, pass);
      return nextLook(plan, runningMs);
    } catch (error) {
      if (pass.ended?.code === "NotLeader") throw error;
      if (pass.ended) this.#options.metrics.timedOut();
      const failure = this.#tellFailure(pass, pass.ended ?? error);
      await this.#writeFailure(object, plan, failure, pass);
      if (failure.terminal) return { failed: false };
      return { failed: true, againMs: failure.requeueAfterMs };
    }
  }

  /** The object from the cache, or from the API where the cache has not yet heard of our own last write. */
  async #read(pass: Pass): Promise<WithStatus | undefined> {
    const cached = this.#options.cache.get(pass.key);
    const version = this.#written.get(pass.key);
    if (version === undefined || cached === undefined) return cached;
    if (cached.metadata.resourceVersion === version) return cached;
    // Once is enough: a list that skipped our version must not make every later pass ask again.
    this.#written.delete(pass.key);
    const { namespace, name } = cached.metadata;
    return this.#options.client.get<WithStatus>(
      { kind: this.feature.kind, namespace, name },
      pass.signal,
    );
  }

  async #applyAll(plan: Plan, object: WithStatus, pass: Pass): Promise<number | undefined> {
    if (plan.steps.length === 0) return undefined;
    const ended = await Promise.allSettled(
      plan.steps.map((step) => {
        pass.log.info({ do: step.do, why: step.why }, "step");
        return inSpan(step.do, { "postern.why": step.why }, () => this.feature.apply(step, pass));
      }),
    );
    let runningMs: number | undefined;
    let failed: PromiseRejectedResult | undefined;
    for (const [i, result] of ended.entries()) {
      const step = plan.steps[i];
      if (result.status === "rejected") {
        failed ??= result;
        continue;
      }
      if (step?.event !== undefined) this.#tell(object, step.event, step.do, step.why);
      if (result.value.state === "running")
        runningMs = Math.min(runningMs ?? Number.POSITIVE_INFINITY, result.value.retryAfterMs);
    }
    if (failed) throw failed.reason;
    return runningMs;
  }

  async #finalizer(object: WithStatus, wanted: boolean, pass: Pass): Promise<WithStatus> {
    const ours = this.feature.finalizer;
    const held = object.metadata.finalizers ?? [];
    if (ours === undefined || held.includes(ours) === wanted) return object;
    const { resourceVersion } = object.metadata;
    const finalizers = wanted ? [...held, ours] : held.filter((each) => each !== ours);
    // With the version the server refuses it when anyone changed the list since we read it.
    const change = { metadata: { resourceVersion, finalizers } };
    let after = object;
    await this.#writeOwn(pass.key, async () => {
      const { namespace, name } = object.metadata;
      const place = { kind: this.feature.kind, namespace, name };
      const text = await this.#options.client.patch(place, "merge", change, {
        fieldManager: this.#fieldManager,
      });
      after = parseBody(withoutManagedFields(text));
      return after.metadata.resourceVersion ?? "";
    });
    return after;
  }

  async #writeStatus(
    object: WithStatus,
    conditions: readonly PlannedCondition[],
    fields: Record<string, unknown>,
    pass: Pass,
  ): Promise<void> {
    const own = { conditions: this.feature.conditions, fields: this.feature.statusFields ?? [] };
    const status = statusChange(object, own, { conditions, fields }, pass.now());
    if (status === undefined) return;
    await this.#writeOwn(pass.key, () =>
      writeStatus(this.#options.client, this.feature.kind, object, status, this.#fieldManager),
    );
  }

  /** A failure is one condition; what else was planned or known stays as it is. */
  async #writeFailure(
    object: WithStatus,
    plan: Plan | undefined,
    failure: Failure,
    pass: Pass,
  ): Promise<void> {
    const type = this.feature.conditions[0];
    const held =
      object.status?.conditions?.filter((each) => this.feature.conditions.includes(each.type)) ??
      [];
    const others = (plan?.conditions ?? held).filter((each) => each.type !== type);
    const { reason, message } = failure;
    const before = held.find((each) => each.type === type);
    const known = Object.fromEntries(
      (this.feature.statusFields ?? []).map((field) => [field, object.status?.[field]]),
    );
    try {
      await this.#writeStatus(
        object,
        [...others, { type, status: "False", reason, message }],
        plan?.status ?? known,
        pass,
      );
      if (before?.reason !== reason || before.message !== message)
        this.#tell(object, reason, "Reconcile", message, "Warning");
    } catch (error) {
      this.#tellFailure(pass, error);
    }
  }

  /** Write, and know the change that it makes when the watch brings it, so that it does not wake us. */
  async #writeOwn(key: string, write: () => Promise<string>): Promise<void> {
    if (!this.#options.mayWrite())
      throw new KubeError("NotLeader", "nothing was written · the lease is not held");
    const arrived: string[] = [];
    this.#writing.set(key, arrived);
    let version = "";
    try {
      version = await write();
      if (
        !arrived.includes(version) &&
        this.#options.cache.get(key)?.metadata.resourceVersion !== version
      )
        this.#written.set(key, version);
    } finally {
      this.#writing.delete(key);
      if (arrived.some((each) => each !== version)) this.queue.add(key);
    }
  }

  #tell(
    object: KubeObject,
    reason: string,
    action: string,
    note: string,
    type: "Normal" | "Warning" = "Normal",
  ): void {
    void this.#options.events.tell(this.feature.name, this.feature.kind, object, {
      type,
      reason,
      action,
      note,
    });
  }

  #tellFailure(pass: Pass, error: unknown): Failure {
    const failure = failureOf(error);
    if (failure.reason === bug.reason) this.#options.metrics.panicked();
    if (failure.terminal) this.#options.metrics.terminal();
    pass.log.error({ reason: failure.reason, err: error }, "pass failed");
    return failure;
  }
}

const bug = {
  reason: "InternalError",
  message: "an unexpected error · see the operator's log · please report it",
};

/** What to tell a person about anything that was thrown. */
export function failureOf(error: unknown): Failure {
  if (!isExplained(error)) return bug;
  const failure = error.explain();
  return { ...failure, message: redact(failure.message) };
}

function nextLook(plan: Plan, runningMs: number | undefined): Outcome {
  if (runningMs !== undefined) return { failed: false, againMs: runningMs, priority: "change" };
  switch (plan.again) {
    case "never":
      return { failed: false };
    case "soon":
      return { failed: false, againMs: soonMs, priority: "retry" };
    case "drift":
      // Spread, so that a thousand objects made together are not checked together.
      return { failed: false, againMs: driftMs * (0.9 + Math.random() / 5), priority: "drift" };
    default:
      return { failed: false, againMs: plan.again.afterMs, priority: "retry" };
  }
}
