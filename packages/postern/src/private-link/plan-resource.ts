import { provisioningOf } from "@postern/core/provisioning.ts";
import { nameOf, type ResourceId } from "@postern/core/resource-id.ts";
import type { ArmResource } from "../azure/gateway.ts";
import type { Step } from "../kube/feature.ts";
import { act, done, type Part, wait } from "../kube/part.ts";
import type { ResourcePolicy, Verb } from "./policy.ts";

/** A step on one resource: `do` says it to a person, `on` and `verb` to the code. */
export type ResourceStep<On extends string, T> = Step & { on: On; id: ResourceId } & (
    | { verb: "create"; body: T }
    | { verb: "change"; body: T; etag: string | undefined }
    | { verb: "delete"; etag: string | undefined }
  );

/** How a resource differs from what it should be. */
export interface Differences<D extends string> {
  /** What Azure never changes: it must be replaced. */
  fixed: D[];
  changeable: D[];
  /** Its provisioning state, where its last write failed: it is written again. */
  failed: string | undefined;
}

/** The provisioning state of a resource whose last write failed. */
export function failedState(found: ArmResource<{ provisioningState?: string }>) {
  return provisioningOf(found) === "failed" ? found.properties.provisioningState : undefined;
}

/** How a step is called and reported. */
export function stepWords(verb: Verb, name: string, why: string, policy: ResourcePolicy) {
  const { condition, steps, reasons } = policy;
  return {
    do: steps[verb],
    name,
    why,
    event: true as const,
    failsAs: reasons.failed[verb],
    ...(condition !== undefined && { condition }),
  };
}

/** It is being written: what was True stays True until it is known what it is. */
export function planChanging(
  name: string,
  { retryAfterMs }: { retryAfterMs: number },
  policy: ResourcePolicy,
): Part<never> {
  const message = policy.messages.write(name, "");
  const problem = { reason: policy.reasons.create, message, progress: true } as const;
  return wait({ ...problem, harmless: true }, retryAfterMs);
}

/** What is particular to one type of resource. `desired` says what a resource of it should be. */
interface ResourceType<On extends string, Desired, T, D extends string, P, S extends Step> {
  on: On;
  create(desired: Desired): T;
  differences(found: T, desired: Desired): Differences<D>;
  repair(found: T, desired: Desired): T;
  planDelete(given: { id: ResourceId; found: T; why: string }, policy: P): Part<S>;
}

/** The plans for one type of resource. */
export function resourcePlans<
  On extends string,
  Desired extends { id: ResourceId },
  T extends ArmResource,
  D extends string,
  P extends ResourcePolicy<D>,
  S extends Step,
>({ on, create, differences, repair, planDelete }: ResourceType<On, Desired, T, D, P, S>) {
  type OwnStep = S | ResourceStep<On, T>;
  return {
    /** It does not exist, and all that it needs does. */
    planCreate(desired: Desired, why: string, policy: P): Part<OwnStep> {
      const { id } = desired;
      const name = nameOf(id);
      const words = stepWords("create", name, why, policy);
      const message = policy.messages.create(name, why);
      return act<OwnStep>([{ ...words, on, id, verb: "create", body: create(desired) }], {
        reason: policy.reasons.create,
        message,
        progress: true,
      });
    },

    /**
     * It exists and is ours.
     *
     *   Azure never changes what differs      delete; the next reconcile creates it     replaced
     *   Failed or Canceled                    write it again, with its etag             changed
     *   something else differs                change it, with its etag                  changed, and True stays True
     *   as desired                            none
     */
    planExisting(found: T, desired: Desired, policy: P): Part<OwnStep> {
      const { id } = desired;
      const { fixed, changeable, failed } = differences(found, desired);
      const name = nameOf(id);
      if (fixed.length > 0)
        return planReplace(name, policy.describe(fixed), policy, (why) =>
          planDelete({ id, found, why }, policy),
        );
      if (changeable.length === 0 && failed === undefined) return done;
      const why = policy.describe(changeable, failed);
      const words = stepWords("change", name, why, policy);
      const body = repair(found, desired);
      const message = policy.messages.change(name, why);
      const problem = { reason: policy.reasons.change, message, progress: true } as const;
      return act<OwnStep>(
        [{ ...words, on, id, verb: "change", body, etag: found.etag }],
        // A change in place disturbs nobody who is connected.
        failed === undefined ? { ...problem, harmless: true } : problem,
      );
    },
  };
}

/** What refuses to be deleted is reported as such. */
function planReplace<S extends Step>(
  name: string,
  fixed: string,
  { reasons, messages, whyReplaced }: ResourcePolicy,
  planDelete: (why: string) => Part<S>,
): Part<S> {
  const part = planDelete(whyReplaced(fixed));
  if (part.problems[0]?.reason !== reasons.delete) return part;
  const message = messages.replace(name, fixed);
  return { ...part, problems: [{ reason: reasons.replace, message, progress: true }] };
}
