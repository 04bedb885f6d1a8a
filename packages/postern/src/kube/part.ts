import type { PlannedCondition } from "@postern/core/conditions.ts";
import type { Failure } from "@postern/core/failure.ts";
import type { Again, Plan, Step } from "./feature.ts";

/** How long to wait where Azure names no time. */
export const waits = {
  /** For what ends by itself: an operation of Azure, a link that resolves in a moment. */
  progressMs: 10_000,
  /** After a failure. */
  failureMs: 30_000,
  /** For what a person, or another program, has to change first. */
  changeMs: 60_000,
} as const;

/** Why something is not as it should be. */
export interface Problem {
  reason: string;
  message: string;
  /** It comes by itself, and nobody has to do anything. */
  progress?: true;
  /** It disturbs no client: a condition that is True stays True. */
  harmless?: true;
}

/** What to do about one thing. A plan is made of such parts. */
export interface Part<S extends Step = Step> {
  steps: readonly S[];
  /** The most important first; none where it is as it should be. */
  problems: readonly Problem[];
  /** When to look again although nothing was begun. */
  requeueMs?: number;
  events?: Plan["events"];
}

/** It is as it should be. */
export const done: Part<never> = { steps: [], problems: [] };

/** Begin these steps; until they are over, the problem stands. */
export function act<S extends Step>(steps: readonly S[], problem?: Problem): Part<S> {
  return { steps, problems: problem ? [problem] : [] };
}

/** Nothing can be done yet. */
export function wait(problem: Problem, requeueMs: number): Part<never> {
  return { steps: [], problems: [problem], requeueMs };
}

/** Nothing can be done before somebody changes something: the change itself, or the next drift check, brings it up again. */
export function report(problem: Problem): Part<never> {
  return { steps: [], problems: [problem] };
}

/** Something failed: looked at again when the failure says, or else after a while. */
export function fail(failure: Failure, reason: string = failure.reason): Part<never> {
  const { message, requeueAfterMs = waits.failureMs, terminal } = failure;
  const part = { steps: [], problems: [{ reason, message }] };
  return terminal ? part : { ...part, requeueMs: requeueAfterMs };
}

/** All of these at once, in order of importance. */
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

/** When to look again at something of which this is the plan. */
export function requeueOf({ requeueMs }: Pick<Part, "requeueMs">): Again {
  return requeueMs === undefined ? "drift" : { afterMs: requeueMs };
}

/**
 * The condition that a part makes: True where nothing is wrong, else what is most important. What only takes its time comes
 * after what somebody has to do something about, and what disturbs no client leaves a True condition as it is.
 */
export function conditionFor(
  type: string,
  { problems }: Pick<Part, "problems">,
  present: PlannedCondition | undefined,
  ready: { reason: string; message: string },
): PlannedCondition {
  const told = present?.status === "True" ? problems.filter(({ harmless }) => !harmless) : problems;
  const problem = told.find(({ progress }) => !progress) ?? told[0];
  if (problem === undefined) {
    const { reason, message } = problems.length > 0 && present !== undefined ? present : ready;
    return { type, status: "True", reason, message };
  }
  const { reason, message, progress } = problem;
  return { type, status: "False", reason, message, ...(progress && { severity: "Info" }) };
}
