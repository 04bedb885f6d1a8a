import type { KubeObject } from "@postern/core/kind.ts";
import { type Feature, type Observation, type Plan, type Step, statusTargetOf } from "./feature.ts";
import type { WithStatus } from "./status.ts";

/** What the operator may write: everything, everything but deletions, or nothing beside status and events. From lax to strict. */
export const stepPolicies = ["sync", "upsert-only", "observe-only"] as const;

export type StepPolicy = (typeof stepPolicies)[number];

/** On a cluster: a policy for it alone. It can be stricter than `--policy`, and never less strict. */
export const policyAnnotation = "postern.io/policy";

/** The reason of conditions and events where a policy withholds a step. */
export const withheldReason = "WithheldByPolicy";

/** The verbs of steps that take something away. */
const destructive: ReadonlySet<unknown> = new Set(["delete", "remove", "reject"]);

/** So many withheld steps are named in one message; the rest is counted. */
const mostNamed = 3;

/** The annotations of these objects that name a policy. */
export function policiesOf(...objects: readonly (KubeObject | undefined)[]): string[] {
  return objects.flatMap((object) => object?.metadata.annotations?.[policyAnnotation] ?? []);
}

/** The strictest policy. An annotation that is not a policy counts as `observe-only`: a typo must not delete anything. */
export function effectivePolicy(flag: StepPolicy, annotations: readonly string[] = []): StepPolicy {
  const strictness = (policy: string) => {
    const index = (stepPolicies as readonly string[]).indexOf(policy);
    return index < 0 ? stepPolicies.length - 1 : index;
  };
  return stepPolicies[Math.max(...[flag, ...annotations].map(strictness))] ?? "observe-only";
}

/** The plan of a feature, without the steps that the policy of the operator or of the cluster withholds. */
export function planByPolicy<Observed>(
  feature: Feature,
  object: WithStatus,
  { observed, context, policies }: Observation<Observed, unknown>,
  flag: StepPolicy = "sync",
): Plan {
  const plan = feature.plan(observed);
  if (feature.ignoresPolicy) return plan;
  const [first] = feature.conditionsOn?.(object) ?? feature.conditions;
  const reported = statusTargetOf(feature, object, context)?.object.status?.conditions;
  const present = reported?.find(isOfType(first))?.status;
  return restrictPlan(plan, effectivePolicy(flag, policies), first, present);
}

/**
 * A plan without the steps that the policy withholds. What is not True because of such a step says so, also where the plan keeps
 * the status as it is. While a step is
 * withheld the finalizer stays; under `observe-only` it is neither added nor removed.
 */
export function restrictPlan<S extends Step>(
  plan: Plan<S>,
  policy: StepPolicy,
  /** The condition of steps that name none, and its present status. */
  firstCondition: string | undefined,
  present?: string,
): Plan<S> {
  const isWithheld = (step: S) =>
    policy === "observe-only" || ("verb" in step && destructive.has(step.verb));
  const withheld = policy === "sync" ? [] : plan.steps.filter(isWithheld);
  const { finalizer, ...rest } = plan;
  if (withheld.length === 0) return policy === "observe-only" ? rest : plan;
  const types = new Set(withheld.map(({ condition }) => condition ?? firstCondition));
  // The first condition sums up the others: it cannot be True before they are.
  if (firstCondition !== undefined) types.add(firstCondition);
  const message = messageOf(withheld, policy);
  const isUnsaid =
    plan.retainsStatus && present !== "True" && !plan.conditions.some(isOfType(firstCondition));
  const unsaid =
    isUnsaid && firstCondition !== undefined
      ? [{ type: firstCondition, status: "False", reason: withheldReason, message } as const]
      : [];
  return {
    ...rest,
    ...(finalizer === "add" && policy !== "observe-only" && { finalizer }),
    steps: plan.steps.filter((step) => !isWithheld(step)),
    withheld,
    conditions: [
      ...plan.conditions.map((each) =>
        each.status !== "True" && types.has(each.type)
          ? { ...each, reason: withheldReason, message }
          : each,
      ),
      ...unsaid,
    ],
    events: [...(plan.events ?? []), { reason: withheldReason, note: message, type: "Warning" }],
  };
}

function isOfType(wanted: string | undefined) {
  return ({ type }: { type: string }) => type === wanted;
}

function messageOf(withheld: readonly Step[], policy: StepPolicy): string {
  const named = withheld
    .slice(0, mostNamed)
    .map(({ do: what, name, why }) => `${what} ${name} (${why})`);
  const more = withheld.length - mostNamed;
  const steps = [...named, ...(more > 0 ? [`${more} more`] : [])].join(", ");
  return `Policy ${policy} withholds: ${steps}. To allow this, change --policy of the operator or the annotation ${policyAnnotation}.`;
}
