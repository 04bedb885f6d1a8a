import type { PlannedCondition } from "@postern/core/conditions.ts";
import type { Plan, Requeue } from "../../kube/feature.ts";
import { join, type Part, requeueOf, waits } from "../../kube/part.ts";
import { planEndpoints } from "./azure/plan-endpoints.ts";
import { planLinks } from "./azure/plan-links.ts";
import type { Observed, ObservedInAzure, Subject } from "./observed.ts";
import { reasons } from "./reasons.ts";
import type { Problem } from "./spec/desired.ts";
import { conditionOfScope, type Scope } from "./spec/managed.ts";
import { isTransient, type PrivateLinkStep, summary, withoutAge } from "./steps.ts";

/*
 * What is seen, and what follows. Only sides that are Postern's are planned (sides.ts); the rows of single things are in
 * plan-links.ts and plan-endpoints.ts.
 *
 *   the AzureCluster                            steps                          conditions           finalizer
 *   is paused, even if it is being deleted      none                           as they were         as it was
 *   asks for nothing, and we hold nothing       none                           none, or Invalid…    not there
 *   is being deleted, and says no longer where  none                           NotRealised          held
 *   Azure cannot be asked                       none, again when Azure said    NotRealised          as it was
 *   is being deleted, endpoints are left        remove them                    BeingRemoved         held
 *   is being deleted, links are left            disconnect and remove them     BeingRemoved         held
 *   is being deleted, nothing is left           none                                                goes
 *   asks for something that cannot be           the rest; nothing is pruned    Invalid…             held
 *   asks for something, or something is left    as for each thing              the worst of them    held
 *   asks for nothing, and nothing is left       none                           none                 goes
 */

/** Decide what is to be done for one AzureCluster. */
export function plan(observed: Observed): Plan<PrivateLinkStep> {
  const decided = decide(observed);
  const events = decided.conditions
    .filter((each) => each.status === "True" || !isTransient(each))
    .map(({ status, reason, message }) => {
      const type: "Normal" | "Warning" = status === "True" ? "Normal" : "Warning";
      return { type, reason, note: message };
    });
  // Where both conditions are another's, an event is the only way to tell.
  if (observed.stage === "unseen" && observed.subject.scopes.length === 0)
    events.push({ type: "Warning", reason: reasons.notReady, note: observed.failure.message });
  return { ...decided, events };
}

function decide(observed: Observed): Plan<PrivateLinkStep> {
  const { subject } = observed;
  switch (observed.stage) {
    case "paused":
      return { steps: [], conditions: presentConditions(subject), requeue: "never" };
    case "idle":
      return planIdle(subject, observed.problems);
    case "unseen": {
      const { failure } = observed;
      const requeue: Requeue =
        failure.terminal === true
          ? "never"
          : { afterMs: failure.requeueAfterMs ?? waits.failureMs };
      const conditions = subject.scopes.map((scope) =>
        isFalse(scope, reasons.notReady, failure.message),
      );
      return { steps: [], conditions, requeue };
    }
    case "seen":
      return observed.deleting ? planDeleting(observed) : planPresent(observed);
  }
}

/** Nothing is ours here. What cannot be made is told all the same; whatever can help is watched. */
function planIdle(subject: Subject, problems: readonly Problem[]): Plan<PrivateLinkStep> {
  const conditions = conditionsOf(subject, { links: [], endpoints: [] }, problems);
  const requeue: Requeue = "never";
  // What cannot be read may be what says where everything is.
  if (!subject.hasFinalizer || problems.length > 0) return { steps: [], conditions, requeue };
  return release(subject, conditions);
}

/** The finalizer goes when the conditions have: a plan that takes it off writes no status any more. */
function release(subject: Subject, conditions: PlannedCondition[]): Plan<PrivateLinkStep> {
  const same =
    subject.conditions.length === conditions.length &&
    conditions.every((each) =>
      subject.conditions.some(
        ({ type, reason, message }) =>
          type === each.type && reason === each.reason && message === each.message,
      ),
    );
  if (!same) return { steps: [], conditions, requeue: { afterMs: 0 } };
  return { steps: [], conditions, finalizer: "remove", requeue: "never" };
}

function planPresent(observed: ObservedInAzure): Plan<PrivateLinkStep> {
  const { subject, problems } = observed;
  // What cannot be read may be what asks for it.
  const why = "it is not asked for any more";
  const prune = (scope: Scope) =>
    problems.some((each) => each.scope === scope) ? undefined : { why };
  const parts = {
    links: planLinks(observed.links, subject, prune("links")),
    endpoints: planEndpoints(observed.endpoints, subject, prune("endpoints")),
  };
  const conditions = conditionsOf(subject, parts, problems);
  const all = [...parts.links, ...parts.endpoints];
  if (all.length === 0 && observed.links.obsolete.length + observed.endpoints.obsolete.length === 0)
    return release(subject, conditions);
  const part = join(all);
  return {
    steps: part.steps,
    conditions,
    ...(all.length > 0 && { finalizer: "add" }),
    requeue: requeueOf(part),
  };
}

/** Endpoints go first: one of them may lead to a link of the same cluster. */
function planDeleting(observed: ObservedInAzure): Plan<PrivateLinkStep> {
  const { subject } = observed;
  const why = "its cluster is being deleted";
  const left = <T extends { look: { state: string } }>(all: readonly T[]) =>
    all.filter(({ look }) => look.state !== "absent");
  const endpoints = planEndpoints(
    { desired: [], obsolete: left(observed.endpoints.obsolete) },
    subject,
    { why },
  );
  const links =
    endpoints.length > 0
      ? []
      : planLinks({ desired: [], obsolete: left(observed.links.obsolete), networks: [] }, subject, {
          why,
        });
  const all = [...endpoints, ...links];
  if (all.length === 0)
    return {
      steps: [],
      conditions: presentConditions(subject),
      finalizer: "remove",
      requeue: "never",
    };
  const planned = conditionsOf(subject, { links, endpoints }, []);
  const others = presentConditions(subject).filter(
    ({ type }) => !planned.some((each) => each.type === type),
  );
  const part = join(all);
  return {
    steps: part.steps.map((step) => withoutForeignCondition(step, subject)),
    conditions: [...others, ...planned],
    requeue: requeueOf(part),
  };
}

/** What we made before a side became another's is removed at the end too, but told in no condition of theirs. */
function withoutForeignCondition(step: PrivateLinkStep, { scopes }: Subject): PrivateLinkStep {
  if (scopes.some((scope) => conditionOfScope[scope] === step.condition)) return step;
  const { condition: _, ...rest } = step;
  return rest;
}

/** The condition of each side that is ours and has something to tell of. */
function conditionsOf(
  subject: Subject,
  parts: Record<Scope, readonly Part[]>,
  problems: readonly Problem[],
): PlannedCondition[] {
  return subject.scopes.flatMap((scope) => {
    const wrong = problems.filter((each) => each.scope === scope);
    const type = conditionOfScope[scope];
    const { length } = parts[scope];
    if (wrong.length + length === 0) return [];
    const present = subject.conditions.find((each) => each.type === type);
    const noun = scope === "links" ? "private link" : "private endpoint";
    const ready = `${length} ${noun}${length === 1 ? " is" : "s are"} as asked for`;
    return [summary(type, [{ problems: wrong }, ...parts[scope]], present, ready)];
  });
}

function presentConditions({ conditions }: Subject): PlannedCondition[] {
  return conditions.map(withoutAge);
}

function isFalse(scope: Scope, reason: string, message: string): PlannedCondition {
  return { type: conditionOfScope[scope], status: "False", reason, message };
}
