import type { KubeObject } from "@postern/core/kind.ts";
import type { Feature, Observation, Plan, Step } from "postern/kube/feature.ts";
import type { Reconcile } from "postern/kube/reconcile.ts";
import { expect } from "vitest";

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
  const plan = feature.plan(observed);
  expect(feature.plan(observed), story()).toEqual(plan);
  expect(observed, story()).toEqual(before);
  const requeue = await feature.observe(object, reconcile);
  expect(requeue.observed, story()).toEqual(before);
  return { observed, context, plan };
}
