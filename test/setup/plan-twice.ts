import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "@postern/core/kind.ts";
import type { Feature, Observation, Plan, Step } from "postern/kube/feature.ts";
import type { Reconcile } from "postern/kube/reconcile.ts";
import type { MakeFeature } from "postern/kube/runtime.ts";
import { expect } from "vitest";

/** The plan of an observation: asked for twice it is the same, and it leaves the observation as it is. */
export function planTwice<Observed, P>(
  plan: (observed: Observed) => P,
  observed: Observed,
  story: () => string = () => "planned twice from one observation",
): P {
  const before = dataOf(observed);
  const planned = plan(observed);
  const again = plan(observed);
  if (!isDeepStrictEqual(planned, again)) expect(again, story()).toEqual(planned);
  const after = dataOf(observed);
  if (after !== before) expect(after, story()).toBe(before);
  return planned;
}

/**
 * Observe and plan as the controller does, and hold the feature to what is true of every observation: to plan by it twice
 * gives the same plan and leaves it as it is, and to observe again observes the same.
 */
export async function observeTwice<T extends KubeObject, Observed, S extends Step, Context>(
  feature: Pick<Feature<T, Observed, S, Context>, "observe" | "plan">,
  object: T,
  reconcile: Reconcile,
  story: () => string,
): Promise<Observation<Observed, Context> & { plan: Plan<S> }> {
  const { observed, context } = await feature.observe(object, reconcile);
  const before = structuredClone(observed);
  const plan = planTwice((each: Observed) => feature.plan(each), observed, story);
  const again = await feature.observe(object, reconcile);
  expect(again.observed, story()).toEqual(before);
  return { observed, context, plan };
}

/** A feature all of whose plans are asked for twice. What differs is added to `problems`: a controller would only report a bug. */
export function planningTwice(make: MakeFeature, problems: unknown[]): MakeFeature {
  return (parts) => {
    const made = make(parts);
    const { feature } = made;
    const plan: Feature["plan"] = (observed) => {
      try {
        return planTwice(
          (each) => feature.plan(each),
          observed,
          () => `plans of ${feature.name}`,
        );
      } catch (error) {
        problems.push(error);
        throw error;
      }
    };
    return { ...made, feature: { ...feature, plan } };
  };
}

/** What an observation says, as text. */
function dataOf(observed: unknown): string {
  return JSON.stringify(observed, (_key, value: unknown) => {
    if (value instanceof Map) return [...value];
    if (value instanceof Set) return [...value];
    if (typeof value === "bigint") return `${value}n`;
    return value;
  });
}
