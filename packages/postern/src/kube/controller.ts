import { type Clock, realClock, wait } from "@postern/core/clock.ts";
import { isReported, type PlannedCondition } from "@postern/core/conditions.ts";
import { type Failure, isExplained } from "@postern/core/failure.ts";
import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import type { Priority } from "@postern/core/priority.ts";
import { cut, redact } from "@postern/core/redact.ts";
import { messageInSentences } from "@postern/core/sentences.ts";
import type { Change, WatchCache } from "./cache.ts";
import { type KubeClient, parseBody } from "./client.ts";
import { Confirmations } from "./confirmations.ts";
import { KubeError } from "./errors.ts";
import type { EventRecorder, NewEvent } from "./events.ts";
import {
  type Feature,
  type Plan,
  type StatusTarget,
  type Step,
  statusTargetOf,
} from "./feature.ts";
import type { Journal } from "./journal.ts";
import { withoutManagedFields } from "./lines.ts";
import type { Log } from "./log.ts";
import type { ControllerMetrics } from "./metrics.ts";
import { OwnWrites } from "./own-writes.ts";
import { type Outcome, WorkQueue } from "./queue.ts";
import { RunningReconcile } from "./reconcile.ts";
import { Requests, requestAnnotation } from "./requests.ts";
import { statusChange, type WithStatus, writeStatus } from "./status.ts";
import { planByPolicy, type StepPolicy } from "./step-policy.ts";
import { StepTurns } from "./step-turns.ts";
import { eventOfStep } from "./step-words.ts";
import { inSpan } from "./trace.ts";
import { runAttributed } from "./unhandled-rejections.ts";

export interface ControllerOptions {
  /** Writes nothing while another process may lead. */
  client: KubeClient;
  cache: WatchCache;
  events: EventRecorder;
  metrics: ControllerMetrics;
  /** For the dashboard. */
  journal?: Journal | undefined;
  log: Log;
  clock?: Clock;
  mayWrite: () => boolean;
  /** What may be written. Default: everything. */
  policy?: StepPolicy | undefined;
  drift?: DriftChecks | undefined;
}

/** Decides how often objects are checked for drift. */
export interface DriftChecks {
  /** After how long each object is checked again. */
  intervalMs(): number;
  /** An object has been checked. */
  checked(): void;
}

/** How many keys a controller reconciles at once by default, and how many of one tenant. */
export const defaultConcurrency = 20;
const mostOfTenant = 16;
const soonMs = 30_000;
/** When to try again after another writer was faster. */
const conflictMs = 1_000;
const usualDriftMs = 5 * 60_000;
/** How long a stop waits for reconciles that ignore their signal. */
const stopMs = 30_000;
/** How often in a row a transient failure must happen before it is reported. */
const reportedAfter = 3;
/** How often in a row a key is requeued at once. A plan that never settles must not be a hot loop. */
const longestStreak = 20;

/** A failure, and the condition that reports it; undefined where the feature has none. */
interface Failing {
  type: string | undefined;
  failure: Failure;
}

/** What a reconcile has done so far, for the case that it fails later. */
interface Trail {
  failures: number;
  streak: number;
}

/**
 * Runs one feature: takes a key, observes, plans, applies, and writes the status once where it differs.
 * What is thrown becomes one condition; a bug becomes a log line and a retry, and never ends the process.
 */
export class Controller {
  readonly feature: Feature;
  readonly queue: WorkQueue;
  readonly #options: ControllerOptions;
  readonly #clock: Clock;
  readonly #fieldManager: string;
  readonly #reconciles = new Set<RunningReconcile>();
  readonly #own = new OwnWrites();
  // Failures and requeues in a row of a key; deleted when it settles.
  readonly #trails = new Map<string, Trail>();
  readonly #confirmations: Confirmations | undefined;
  // The last report on a key, for features that have no status to compare with.
  readonly #reported = new Map<string, string>();
  readonly #requests: Requests;
  readonly #turns = new StepTurns();
  #begun = false;

  constructor(feature: Feature, options: ControllerOptions) {
    this.feature = feature;
    this.#options = options;
    this.#clock = options.clock ?? realClock;
    this.#fieldManager = `postern-${feature.name}`;
    this.#requests = new Requests(this.#clock);
    const { staleReadsMs } = feature;
    if (staleReadsMs !== undefined)
      this.#confirmations = new Confirmations({ staleReadsMs, clock: this.#clock });
    this.queue = new WorkQueue({
      concurrency: feature.concurrency ?? defaultConcurrency,
      ...(feature.concurrency === undefined && { mostOfTenant }),
      tenantOf: (key) => this.#tenantOf(key),
      clock: this.#clock,
      observer: options.metrics.queue,
      work: (key, priority) => this.#reconcile(key, priority),
    });
    options.cache.onChange((change) => this.#changed(change));
  }

  /** Reconcile every object, those that somebody waits for first. */
  begin(): void {
    this.#begun = true;
    for (const object of this.#options.cache.list())
      this.queue.add(keyOf(object), this.#urgency(object));
    this.queue.start();
  }

  /** Stop: no reconcile begins any more, and those in progress are cancelled. */
  async end(): Promise<void> {
    this.#begun = false;
    const stopped = this.queue.stop();
    for (const reconcile of this.#reconciles) reconcile.end("NotLeader");
    const limit = new AbortController();
    await Promise.race([stopped, wait(this.#clock, stopMs, limit.signal).catch(() => {})]);
    limit.abort();
    this.#trails.clear();
    this.#reported.clear();
    this.#confirmations?.clear();
  }

  #driftMs(): number {
    return this.#options.drift?.intervalMs() ?? usualDriftMs;
  }

  /** How many objects it reconciles. */
  get objects(): number {
    return this.#options.cache.health().objects;
  }

  /**
   * Reconcile an object now and with fresh reads, because somebody has observed something else than its status says. At most
   * once a minute for each object.
   */
  request(key: string): void {
    if (this.#begun && this.#options.cache.get(key) && this.#requests.add(key))
      this.queue.add(key, "change");
  }

  /** Requeue an object because something that it depends on has changed. */
  wake(key: string): void {
    // Without the lease nothing is queued: whoever becomes the leader reconciles everything.
    if (this.#begun) this.queue.add(key);
  }

  #tenantOf(key: string): string {
    const object = this.feature.tenantOf && this.#options.cache.get(key);
    const [namespace = ""] = key.split("/");
    return (object && this.feature.tenantOf?.(object)) ?? namespace;
  }

  #changed({ key, after }: Change<KubeObject>): void {
    if (after === undefined) {
      this.#reported.delete(key);
      this.#confirmations?.delete(key);
      this.#requests.delete(key);
      this.#turns.delete(key);
    } else this.#requests.observe(key, after.metadata.annotations?.[requestAnnotation]);
    if (this.#own.isAnothers(key, after?.metadata.resourceVersion)) this.wake(key);
  }

  /** After a restart most objects need only a drift check; what somebody changed meanwhile goes first. */
  #urgency(object: WithStatus): Priority {
    const { generation, deletionTimestamp } = object.metadata;
    const known = object.status?.conditions?.some(
      (each) =>
        this.feature.conditions.includes(each.type) &&
        (this.feature.kind.conditionList === "whole" || each.observedGeneration === generation),
    );
    return known && deletionTimestamp === undefined ? "drift" : "change";
  }

  async #reconcile(key: string, priority: Priority): Promise<Outcome> {
    const { metrics, log, mayWrite } = this.#options;
    const { name } = this.feature;
    const started = this.#clock.now();
    const makeLog = (fields: Record<string, unknown>) => log.child({ controller: name, ...fields });
    const reconcile = new RunningReconcile(key, priority, {
      clock: this.#clock,
      mayWrite,
      makeLog,
      tenant: this.#tenantOf(key),
      driftMs: this.#driftMs(),
    });
    this.#reconciles.add(reconcile);
    metrics.reconciling(1);
    let outcome: Outcome;
    try {
      const span = { "postern.key": key, "postern.reconcile": reconcile.id };
      const work = { rejected: (error: unknown) => this.#rejected(reconcile, error) };
      outcome = await runAttributed(work, () =>
        inSpan(`${name} reconcile`, span, () => this.#observePlanApply(reconcile)),
      );
    } catch (error) {
      outcome = { failed: true };
      if (reconcile.ended?.code !== "NotLeader") this.#logFailure(reconcile, error);
    }
    reconcile.over();
    const dueMs = this.#requests.dueMs(key);
    if (!outcome.failed && dueMs !== undefined && dueMs < (outcome.requeueMs ?? Infinity))
      outcome = { failed: false, requeueMs: dueMs, priority: "change" };
    if (priority === "drift") this.#options.drift?.checked();
    this.#options.journal?.over(reconcile.id);
    this.#reconciles.delete(reconcile);
    if (reconcile.rejected && !outcome.failed) outcome = { failed: true };
    metrics.reconciling(-1);
    const seconds = (this.#clock.now() - started) / 1000;
    if (outcome.failed) metrics.reconciled("error", seconds);
    else metrics.reconciled(outcome.requeueMs === undefined ? "success" : "requeue_after", seconds);
    return outcome;
  }

  /** A promise of a reconcile was rejected, and nobody has a handler on it: the reconcile has failed, whatever else comes of it. */
  #rejected(reconcile: RunningReconcile, error: unknown): void {
    this.#options.metrics.unhandledRejection();
    reconcile.log.error({ err: error }, "unhandled rejection");
    reconcile.rejected = true;
    if (this.#begun && !this.#reconciles.has(reconcile)) this.queue.retry(reconcile.key);
  }

  async #observePlanApply(reconcile: RunningReconcile): Promise<Outcome> {
    let object = await this.#read(reconcile);
    if (!object) {
      this.#confirmations?.delete(reconcile.key);
      return this.#settled(reconcile.key);
    }
    try {
      const { uid, deletionTimestamp } = object.metadata;
      if (deletionTimestamp !== undefined) this.#confirmations?.wait(reconcile.key, uid);
      reconcile.freshSince = this.#confirmations?.freshSince(reconcile.key);
      reconcile.requestedAt = this.#requests.since(reconcile.key);
      const observation = await this.feature.observe(object, reconcile);
      const { context } = observation;
      const allowed = planByPolicy(this.feature, object, observation, this.#options.policy);
      const plan = this.#unlessUnconfirmed(allowed, object, reconcile);
      if (plan.finalizer === "add") object = await this.#finalizer(object, true, reconcile);
      const { begin, more } = this.#turns.choose(reconcile.key, plan.steps);
      const { runningMs, failures, failed } = await this.#applyAll(
        begin,
        context,
        object,
        reconcile,
      );
      this.#turns.failed(reconcile.key, plan.steps, failed);
      if (reconcile.priority === "drift" && begin.length > failures.length)
        this.#options.metrics.driftCorrected();
      if (plan.finalizer === "remove" && plan.steps.length === 0) {
        await this.#finalizer(object, false, reconcile);
        return this.#settled(reconcile.key);
      }
      if (plan.steps.length === 0 && plan.requeue === "drift")
        this.#options.journal?.settle(this.feature.name, reconcile.key);
      const reported = failures.filter((each) => this.#isReported(reconcile.key, each.failure));
      await this.#writeStatus(
        object,
        statusTargetOf(this.feature, object, context),
        plan,
        reported,
        reconcile,
      );
      // The next steps must not wait for the retry of these.
      if (more) return this.#next(reconcile.key, plan, undefined);
      if (failures.length > 0)
        return this.#failed(reconcile.key, failures, sooner(runningMs, plan.requeue));
      return this.#next(reconcile.key, plan, runningMs);
    } catch (error) {
      if (isNotFound(error)) return this.#settled(reconcile.key);
      if (reconcile.ended?.code === "NotLeader") throw error;
      if (reconcile.ended) this.#options.metrics.timedOut();
      const failure = this.#logFailure(reconcile, reconcile.ended ?? error);
      const { failsAs: reason = failure.reason } = this.feature;
      const failures = [{ type: this.#typesOn(object)[0], failure: { ...failure, reason } }];
      if (this.#isReported(reconcile.key, failure))
        await this.#writeFailure(object, failures, reconcile);
      return this.#failed(reconcile.key, failures, undefined);
    }
  }

  /** The plan; without what removes a finalizer, and with the status as it is, until a reconcile has confirmed that nothing is left. */
  #unlessUnconfirmed(plan: Plan, object: WithStatus, reconcile: RunningReconcile): Plan {
    if (this.#confirmations === undefined) return plan;
    const { finalizer, formerFinalizer } = this.feature;
    const { uid, deletionTimestamp, finalizers = [] } = object.metadata;
    const releases =
      plan.steps.some((step) => step.releases) ||
      (plan.finalizer === "remove" &&
        finalizers.some((each) => each === finalizer || each === formerFinalizer));
    if (!releases) {
      // It is in use again: a later deletion is confirmed on its own.
      if (deletionTimestamp === undefined) this.#confirmations.delete(reconcile.key);
      return plan;
    }
    if (reconcile.freshSince !== undefined) return plan;
    return {
      conditions: [],
      retainsStatus: true,
      steps: plan.steps.filter((step) => !step.releases),
      requeue: { afterMs: this.#confirmations.wait(reconcile.key, uid) },
    };
  }

  /** The object from the cache, or from the API where the cache has not yet heard of our own last write. */
  async #read(reconcile: RunningReconcile): Promise<WithStatus | undefined> {
    const cached = this.#options.cache.get(reconcile.key);
    const unheard = this.#own.unheard(reconcile.key);
    if (unheard === undefined || cached?.metadata.resourceVersion === unheard) return cached;
    // Once is enough: a list that skipped our version must not make every later reconcile ask again.
    this.#own.delete(reconcile.key);
    if (cached === undefined) return undefined;
    const { namespace, name } = cached.metadata;
    return this.#options.client.get<WithStatus>(
      { kind: this.feature.kind, namespace, name },
      reconcile.signal,
    );
  }

  async #applyAll(
    steps: readonly Step[],
    context: unknown,
    object: WithStatus,
    reconcile: RunningReconcile,
  ): Promise<{
    runningMs: number | undefined;
    failures: Failing[];
    failed: ReadonlySet<Step>;
  }> {
    let runningMs: number | undefined;
    const failed = new Set<Step>();
    const one = async (step: Step): Promise<Failing | undefined> => {
      const { do: what, name, why } = step;
      reconcile.log.info({ do: what, name, why }, "step");
      const { journal } = this.#options;
      const entry = journal?.begin(reconcile.id, {
        controller: this.feature.name,
        kind: this.feature.kind.kind,
        key: reconcile.key,
        do: what,
        name,
        why,
        at: reconcile.date().toISOString(),
      });
      try {
        const applied = await inSpan(what, { "postern.name": name, "postern.why": why }, () =>
          this.feature.apply(step, context, reconcile),
        );
        if (step.event && applied.isBegun !== false) this.#recordEvent(object, eventOfStep(step));
        if (applied.state === "running")
          runningMs = Math.min(runningMs ?? Number.POSITIVE_INFINITY, applied.retryAfterMs);
        if (entry) journal?.end(entry, applied.state);
        return undefined;
      } catch (error) {
        if (reconcile.ended) throw error;
        failed.add(step);
        const type = step.condition ?? this.#typesOn(object)[0];
        const failure = this.#logFailure(reconcile, error, what);
        if (entry) journal?.end(entry, "failed", failure.message);
        const reason = step.failsAs ?? failure.reason;
        const message = step.remedy ? `${failure.message} · ${step.remedy}` : failure.message;
        return { type, failure: { ...failure, reason, message } };
      }
    };
    // In the order of the plan, not of the answers: a condition must not change with who was answered first.
    const outcomes = await Promise.all(steps.map(one));
    return { runningMs, failures: outcomes.filter((each) => each !== undefined), failed };
  }

  async #finalizer(
    object: WithStatus,
    desired: boolean,
    reconcile: RunningReconcile,
  ): Promise<WithStatus> {
    const { finalizer: own, formerFinalizer } = this.feature;
    const listed = object.metadata.finalizers ?? [];
    const present = listed.filter((each) => each !== formerFinalizer);
    const isRenamed = present.length === listed.length;
    if (own === undefined || (isRenamed && present.includes(own) === desired)) return object;
    const { resourceVersion, namespace, name } = object.metadata;
    const otherFinalizers = present.filter((each) => each !== own);
    const finalizers = desired ? [...otherFinalizers, own] : otherFinalizers;
    // With the version the server refuses it when anyone changed the list since we read it.
    const change = { metadata: { resourceVersion, finalizers } };
    let after = object;
    await this.#writeOwn(reconcile.key, async () => {
      const options = { fieldManager: this.#fieldManager, signal: reconcile.signal };
      const text = await this.#options.client.patch(
        { kind: this.feature.kind, namespace, name },
        "merge",
        change,
        options,
      );
      after = parseBody(withoutManagedFields(text));
      return [after.metadata.resourceVersion ?? ""];
    });
    return after;
  }

  /** Write what a plan says, with the failures of its steps in their conditions. */
  async #writeStatus(
    object: WithStatus,
    target: StatusTarget | undefined,
    plan: Plan,
    failures: readonly Failing[],
    reconcile: RunningReconcile,
  ): Promise<void> {
    const changed =
      target !== undefined && (await this.#applyStatus(target, plan, failures, reconcile));
    const isNews = this.#hasStatus(object) ? changed : this.#isNews(reconcile.key, plan, failures);
    if (!isNews) return;
    for (const { reason, note, type = "Normal", isLogged } of plan.events ?? []) {
      this.#recordEvent(object, { type, reason, action: "Reconcile", note });
      if (isLogged) reconcile.log.warn({ reason }, messageInSentences(note));
    }
    this.#recordFailures(object, failures);
  }

  /** Whether the object that is reconciled has a status of the feature, so that a change of it is news. */
  #hasStatus(object: WithStatus): boolean {
    const { statusFields = [], reportsOn } = this.feature;
    return reportsOn === undefined && this.#typesOn(object).length + statusFields.length > 0;
  }

  /** Whether the report differs from the last one. */
  #isNews(key: string, plan: Plan, failures: readonly Failing[]): boolean {
    const news = [...(plan.events ?? []), ...failures.map(({ failure }) => failure)];
    const text = news.length === 0 ? undefined : JSON.stringify(news);
    const isNews = text !== undefined && text !== this.#reported.get(key);
    if (text === undefined) this.#reported.delete(key);
    else this.#reported.set(key, text);
    return isNews;
  }

  /** The condition types that are the feature's own on this object. */
  #typesOn(object: WithStatus): readonly string[] {
    return this.feature.conditionsOn?.(object) ?? this.feature.conditions;
  }

  /** What a plan says of the status, with what it keeps. */
  #plannedStatus(object: WithStatus, { conditions, status = {}, retainsStatus }: Plan) {
    if (!retainsStatus) return { conditions, fields: status };
    const types = this.#typesOn(object).filter((type) => conditions.every((c) => c.type !== type));
    const retained = object.status?.conditions?.filter(({ type }) => types.includes(type)) ?? [];
    const fields = Object.fromEntries(
      (this.feature.statusFields ?? []).map((field) => [field, object.status?.[field]]),
    );
    return { conditions: [...retained, ...conditions], fields: { ...fields, ...status } };
  }

  /** Write a failure before or after the plan: what else is known of the object stays as it is. */
  async #writeFailure(
    object: WithStatus,
    failures: readonly Failing[],
    reconcile: RunningReconcile,
  ): Promise<void> {
    // An event also where it is the status that cannot be written.
    this.#recordFailures(object, failures);
    if (!this.#hasStatus(object)) return;
    const target = { kind: this.feature.kind, object };
    const plan: Plan = { steps: [], conditions: [], retainsStatus: true, requeue: "soon" };
    await this.#applyStatus(target, plan, failures, reconcile).catch((error: unknown) => {
      if (!isNotFound(error)) this.#logFailure(reconcile, error);
    });
  }

  async #applyStatus(
    { kind, object, wrote }: StatusTarget,
    plan: Plan,
    failures: readonly Failing[],
    reconcile: RunningReconcile,
  ): Promise<boolean> {
    const own = { conditions: this.#typesOn(object), fields: this.feature.statusFields ?? [] };
    const { conditions, fields } = this.#plannedStatus(object, plan);
    const planned = { conditions: withFailures(conditions, failures), fields };
    const change = statusChange(object, own, planned, reconcile.date(), kind.conditionList);
    if (change === undefined) return false;
    const { client } = this.#options;
    const signal = reconcile.ended ? undefined : reconcile.signal;
    const write = () => writeStatus(client, kind, object, own, change, this.#fieldManager, signal);
    if (this.feature.reportsOn) wrote?.((await write()).at(-1) ?? "");
    else await this.#writeOwn(reconcile.key, write);
    return true;
  }

  async #writeOwn(key: string, write: () => Promise<readonly string[]>): Promise<void> {
    await this.#own.during(key, write, () => this.wake(key));
  }

  #isReported(key: string, failure: Failure): boolean {
    return !failure.passing || (this.#trails.get(key)?.failures ?? 0) + 1 >= reportedAfter;
  }

  #recordFailures(object: WithStatus, failures: readonly Failing[]): void {
    for (const { type, failure } of failures) {
      const present = object.status?.conditions?.find((each) => each.type === type);
      if (isReported(present, failure)) continue;
      this.#recordEvent(object, {
        type: "Warning",
        reason: failure.reason,
        action: "Reconcile",
        note: failure.message,
      });
    }
  }

  #recordEvent(object: KubeObject, reported: NewEvent): void {
    this.#options.events.record(this.feature.name, this.feature.kind, object, reported);
  }

  #logFailure(reconcile: RunningReconcile, error: unknown, step?: string): Failure {
    const failure = failureOf(error);
    if (!isExplained(error)) this.#options.metrics.panicked();
    if (failure.terminal) this.#options.metrics.terminal();
    const level = failure.passing ? "info" : "error";
    reconcile.log[level](
      { reason: failure.reason, ...(step && { do: step }), err: error },
      "reconcile failed",
    );
    return failure;
  }

  #settled(key: string): Outcome {
    this.#trails.delete(key);
    return { failed: false };
  }

  #failed(key: string, failures: readonly Failing[], runningMs: number | undefined): Outcome {
    // Whoever wrote meanwhile is no error: only conflicts without end are reported, and counted.
    const isConflict = failures.every(
      ({ failure }) => failure.kind === "conflict" && !this.#isReported(key, failure),
    );
    const trail = this.#trails.get(key);
    this.#trails.set(key, { failures: (trail?.failures ?? 0) + 1, streak: 0 });
    if (isConflict)
      return {
        failed: false,
        requeueMs: sooner(runningMs, { afterMs: conflictMs }),
        priority: "retry",
      };
    this.#options.journal?.failed();
    const parked = failures.every(({ failure }) => failure.terminal);
    const times = failures.flatMap(({ failure }) => failure.requeueAfterMs ?? []);
    if (runningMs !== undefined) times.push(runningMs);
    const requeueMs = Math.min(...times);
    // A failure without a time is retried by the back-off, and does not wait for one with a long time.
    const untimed = failures.some(
      ({ failure }) => failure.requeueAfterMs === undefined && !failure.terminal,
    );
    if (times.length > 0 && !(untimed && requeueMs > soonMs)) return { failed: true, requeueMs };
    return parked ? { failed: true, parked: true } : { failed: true };
  }

  #next(key: string, plan: Plan, runningMs: number | undefined): Outcome {
    const streak =
      plan.steps.length > 0 && runningMs === undefined
        ? (this.#trails.get(key)?.streak ?? 0) + 1
        : 0;
    if (streak === 0) this.#trails.delete(key);
    else this.#trails.set(key, { failures: 0, streak });
    if (runningMs !== undefined) {
      const requeueMs = sooner(runningMs, plan.requeue) ?? runningMs;
      return { failed: false, requeueMs, priority: "change" };
    }
    if (streak > 0)
      return { failed: false, requeueMs: streak < longestStreak ? 0 : soonMs, priority: "change" };
    switch (plan.requeue) {
      case "never":
        return { failed: false };
      case "soon":
        return { failed: false, requeueMs: soonMs, priority: "retry" };
      case "drift":
        // Spread, so that a thousand objects created together are not checked together.
        return {
          failed: false,
          requeueMs: this.#driftMs() * (0.9 + Math.random() / 5),
          priority: "drift",
        };
      default:
        return { failed: false, requeueMs: plan.requeue.afterMs, priority: "retry" };
    }
  }
}

/** What failed may be called anything, and the message stays in conditions and in memory. */
const longestMessage = 4_096;

const bug = {
  reason: "InternalError",
  message: "an unexpected error · see the operator's log · please report it",
};

/** When to reconcile again: for what has just begun, or for what the plan waits for, whichever comes first. */
function sooner(runningMs: number | undefined, requeue: Plan["requeue"]): number | undefined {
  if (typeof requeue === "string") return runningMs;
  return Math.min(runningMs ?? requeue.afterMs, requeue.afterMs);
}

/** How anything that was thrown is reported. */
export function failureOf(error: unknown): Failure {
  if (!isExplained(error)) return bug;
  const failure = error.explain();
  return { ...failure, message: redact(cut(failure.message, longestMessage)) };
}

function withFailures(
  conditions: readonly PlannedCondition[],
  failures: readonly Failing[],
): PlannedCondition[] {
  const failed = new Map<string, PlannedCondition>();
  for (const { type, failure } of failures) {
    if (type === undefined || failed.has(type)) continue;
    const { reason, message, passing } = failure;
    const severity = passing && { severity: "Info" as const };
    failed.set(type, { type, status: "False", reason, message, ...severity });
  }
  return [...conditions.filter(({ type }) => !failed.has(type)), ...failed.values()];
}

/** Whether the object of a write does not exist any more: then there is nothing left to do. */
function isNotFound(error: unknown): boolean {
  return error instanceof KubeError && error.status === 404 && error.method !== "GET";
}
