import type { PlannedCondition } from "@postern/core/conditions.ts";
import type { Failure } from "@postern/core/failure.ts";
import type { Plan, Requeue, Step } from "./feature.ts";

/** How long to wait where Azure sends no Retry-After. */
export const waits = {
  /** For what completes by itself, such as a long-running operation. */
  progressMs: 10_000,
  /** After a failure, and for what another controller does within a minute, if no watch reports it. */
  failureMs: 30_000,
  /** For what a person or another controller has to change first. */
  changeMs: 60_000,
} as const;

/** Why something is not as desired. */
export interface Problem {
  reason: string;
  message: string;
  /** It completes by itself; nobody has to act. */
  progress?: true;
  /** It affects no client: a condition that is True stays True. */
  harmless?: true;
}

/** What to do about one resource. A plan is joined from parts. */
export interface Part<S extends Step = Step> {
  steps: readonly S[];
  /** The most important first; none where everything is as desired. */
  problems: readonly Problem[];
  /** When to reconcile again although no step begins. */
  requeueMs?: number;
  events?: Plan["events"];
}

/** Everything is as desired. */
export const done: Part<never> = { steps: [], problems: [] };

/** Begin these steps; the problem stands until they are done. */
export function act<S extends Step>(steps: readonly S[], problem?: Problem): Part<S> {
  return { steps, problems: problem ? [problem] : [] };
}

/** Nothing can be done yet. */
export function wait(problem: Problem, requeueMs: number): Part<never> {
  return { steps: [], problems: [problem], requeueMs };
}

/** Nothing can be done before somebody changes something: the watch event or the next drift check reconciles it again. */
export function report(problem: Problem): Part<never> {
  return { steps: [], problems: [problem] };
}

/** A read or a step failed: reconciled again when the failure says, or else after `retryMs`. */
export function fail(
  failure: Failure,
  reason: string = failure.reason,
  retryMs: number = waits.failureMs,
): Part<never> {
  const { message, requeueAfterMs = retryMs, terminal } = failure;
  const part = { steps: [], problems: [{ reason, message }] };
  return terminal ? part : { ...part, requeueMs: requeueAfterMs };
}

/**
 * Like `fail`, where the remedy may be a change that no watch reports, such as one in Azure: a terminal failure is reconciled
 * again too.
 */
export function retry(
  failure: Failure,
  { reason = failure.reason, retryMs = waits.failureMs as number } = {},
): Part<never> {
  const { message, requeueAfterMs = retryMs } = failure;
  return wait({ reason, message }, requeueAfterMs);
}

/** All of these parts at once, in order of importance. */
export function join<S extends Step>(parts: readonly Part<S>[]): Part<S> {
  const times = parts.flatMap(({ requeueMs }) => requeueMs ?? []);
  const events = parts.flatMap(({ events = [] }) => events);
  return {
    steps: parts.flatMap(({ steps }) => steps),
    problems: parts.flatMap(({ problems }) => problems),
    ...(times.length > 0 && { requeueMs: Math.min(...times) }),
    ...(events.length > 0 && { events }),
  };
}

/** When to reconcile again after this part. */
export function requeueOf({ requeueMs }: Pick<Part, "requeueMs">): Requeue {
  return requeueMs === undefined ? "drift" : { afterMs: requeueMs };
}

/**
 * The condition of a part: True without problems, else the most important problem. A problem that somebody must act on comes
 * before progress, and a harmless one leaves a True condition as it is.
 */
export function conditionFor(
  type: string,
  { problems }: Pick<Part, "problems">,
  present: PlannedCondition | undefined,
  ready: { reason: string; message: string },
): PlannedCondition {
  const reported =
    present?.status === "True" ? problems.filter(({ harmless }) => !harmless) : problems;
  const problem = reported.find(({ progress }) => !progress) ?? reported[0];
  if (problem === undefined) {
    const { reason, message } = problems.length > 0 && present !== undefined ? present : ready;
    return { type, status: "True", reason, message };
  }
  const { reason, message, progress } = problem;
  return { type, status: "False", reason, message, ...(progress && { severity: "Info" }) };
}
