import { isReported, type PlannedCondition } from "@postern/core/conditions.ts";
import type { Plan, Requeue } from "../../kube/feature.ts";
import { conditionFor, fail, join, type Part, requeueOf } from "../../kube/part.ts";
import { planEndpoints } from "./azure/plan-endpoints.ts";
import { planLinks } from "./azure/plan-links.ts";
import type { Observed, ObservedInAzure, Subject } from "./observed.ts";
import { reasons } from "./reasons.ts";
import type { Problem } from "./spec/desired.ts";
import { conditionOfScope, type Scope } from "./spec/managed.ts";
import { isTransient, type PrivateLinkStep, summary, withoutAge } from "./steps.ts";

/** Plans one AzureCluster: only the scopes that Postern manages, and of an invalid request all that is valid. */
export function plan(observed: Observed): Plan<PrivateLinkStep> {
  const decided = decide(observed);
  const events = decided.conditions
    .filter((each) => each.status === "True" || !isTransient(each))
    .map(({ status, reason, message }) => {
      const type: "Normal" | "Warning" = status === "True" ? "Normal" : "Warning";
      return { type, reason, note: message };
    });
  // Where others own both conditions, only an event can report it.
  if (observed.stage === "unread" && observed.subject.scopes.length === 0)
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
    case "unread":
      return planUnread(observed);
    case "observed":
      return observed.deleting ? planDeleting(observed) : planPresent(observed);
  }
}

/** Azure could not be read. */
function planUnread({ subject, failure }: Observed & { stage: "unread" }): Plan<PrivateLinkStep> {
  const part = fail(failure, reasons.notReady);
  const conditions = subject.scopes.map((scope) =>
    conditionFor(conditionOfScope[scope], part, undefined, failure),
  );
  return { steps: [], conditions, requeue: failure.terminal ? "never" : requeueOf(part) };
}

/** Nothing of ours exists. Invalid requests are reported all the same; a watch reports what corrects them. */
function planIdle(subject: Subject, problems: readonly Problem[]): Plan<PrivateLinkStep> {
  const conditions = conditionsOf(subject, { links: [], endpoints: [] }, problems);
  const requeue: Requeue = "never";
  // The invalid field may be the one that says where everything is.
  if (!subject.hasFinalizer || problems.length > 0) return { steps: [], conditions, requeue };
  return removeFinalizer(subject, conditions);
}

/** The finalizer is removed after the conditions: a plan that removes it writes no status. */
function removeFinalizer(subject: Subject, conditions: PlannedCondition[]): Plan<PrivateLinkStep> {
  const same =
    subject.conditions.length === conditions.length &&
    conditions.every((each) =>
      subject.conditions.some((present) => present.type === each.type && isReported(present, each)),
    );
  if (!same) return { steps: [], conditions, requeue: { afterMs: 0 } };
  return { steps: [], conditions, finalizer: "remove", requeue: "never" };
}

function planPresent(observed: ObservedInAzure): Plan<PrivateLinkStep> {
  const { subject, problems } = observed;
  // The invalid request may be for it.
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
    return removeFinalizer(subject, conditions);
  const part = join(all);
  return {
    steps: part.steps,
    conditions,
    ...(all.length > 0 && { finalizer: "add" }),
    requeue: requeueOf(part),
  };
}

/** Endpoints are deleted first: one of them may lead to a link of the same cluster. */
function planDeleting(observed: ObservedInAzure): Plan<PrivateLinkStep> {
  const { subject } = observed;
  const why = "its cluster is being deleted";
  const remaining = <T extends { observation: { state: string } }>(all: readonly T[]) =>
    all.filter(({ observation }) => observation.state !== "absent");
  const endpoints = planEndpoints(
    { desired: [], obsolete: remaining(observed.endpoints.obsolete) },
    subject,
    { why },
  );
  const links =
    endpoints.length > 0
      ? []
      : planLinks(
          { desired: [], obsolete: remaining(observed.links.obsolete), networks: [] },
          subject,
          {
            why,
          },
        );
  const all = [...endpoints, ...links];
  if (all.length === 0)
    return {
      steps: [],
      conditions: presentConditions(subject),
      finalizer: "remove",
      requeue: "never",
    };
  const planned = conditionsOf(subject, { links, endpoints }, []);
  const otherConditions = presentConditions(subject).filter(
    ({ type }) => !planned.some((each) => each.type === type),
  );
  const part = join(all);
  return {
    steps: part.steps.map((step) => withoutForeignCondition(step, subject)),
    conditions: [...otherConditions, ...planned],
    requeue: requeueOf(part),
  };
}

/** What we created before another controller managed a scope is deleted too, but reported in no condition of that one. */
function withoutForeignCondition(step: PrivateLinkStep, { scopes }: Subject): PrivateLinkStep {
  if (scopes.some((scope) => conditionOfScope[scope] === step.condition)) return step;
  const { condition: _, ...rest } = step;
  return rest;
}

/** The condition of each scope that Postern manages and that is requested. */
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
