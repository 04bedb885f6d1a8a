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

/** It does not exist. */
export function planCreate<On extends string, T>(
  given: { on: On; id: ResourceId; body: T; why: string },
  policy: ResourcePolicy,
): Part<ResourceStep<On, T>> {
  const { on, id, body, why } = given;
  const name = nameOf(id);
  const step = { on, id, body, verb: "create", ...stepWords("create", name, why, policy) } as const;
  const message = policy.messages.create(name, why);
  return act([step], { reason: policy.reasons.create, message, progress: true });
}

/** It exists and is ours: replaced where Azure never changes what differs, else changed in place with its etag. */
export function planExisting<
  On extends string,
  T extends ArmResource,
  D extends string,
  S extends Step,
>(
  given: { on: On; id: ResourceId; found: T; differences: Differences<D>; repaired(): T },
  policy: ResourcePolicy<D>,
  planDelete: (why: string) => Part<S>,
): Part<S | ResourceStep<On, T>> {
  const { on, id, found, differences } = given;
  const { fixed, changeable, failed } = differences;
  const name = nameOf(id);
  if (fixed.length > 0) return planReplace(name, policy.describe(fixed), policy, planDelete);
  if (changeable.length === 0 && failed === undefined) return done;
  const why = policy.describe(changeable, failed);
  const step = {
    ...stepWords("change", name, why, policy),
    on,
    id,
    verb: "change",
    body: given.repaired(),
    etag: found.etag,
  } as const;
  const message = policy.messages.change(name, why);
  const problem = { reason: policy.reasons.change, message, progress: true } as const;
  // A change in place disturbs nobody who is connected.
  return act([step], failed === undefined ? { ...problem, harmless: true } : problem);
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
