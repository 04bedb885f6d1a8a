import type { PlannedCondition } from "@postern/core/conditions.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import type { Step } from "../../kube/feature.ts";
import type { Part, Problem } from "../../kube/part.ts";
import type { PrivateEndpointStep } from "../../private-link/endpoint/steps.ts";
import type { LinkServiceStep } from "../../private-link/link-service/steps.ts";
import type { PresentCondition } from "./observed.ts";
import { reasons } from "./reasons.ts";

/** Everything that this feature does. */
export type PrivateLinkStep = LinkServiceStep | PrivateEndpointStep | UpdateSubnetStep;

export type UpdateSubnetStep = Step & { on: "subnet"; do: "update NAT subnet"; id: ResourceId };

const transient: ReadonlySet<string> = new Set([
  reasons.creating,
  reasons.changing,
  reasons.replacing,
  reasons.removing,
  reasons.subnetChanging,
]);

/** How many problems one message has; the rest are counted. */
const mostMessages = 5;

/** One condition for many things: True only if all of them are well. */
export function summary(
  type: string,
  parts: readonly Pick<Part, "problems">[],
  present: PresentCondition | undefined,
  ready: string,
): PlannedCondition {
  const problems = parts.flatMap((part) => part.problems);
  const [first] = problems;
  if (first === undefined) return { type, status: "True", reason: reasons.ready, message: ready };
  if (present?.status === "True" && problems.every(({ harmless }) => harmless))
    return withoutAge(present);
  const urgent = problems.filter((each) => !isTransient(each));
  const transient = combined(problems.filter(isTransient));
  // Progress is reported after what somebody has to act on.
  const conditionsOf = [...urgent.slice(0, mostMessages), ...transient].map(
    ({ message }) => message,
  );
  const more = urgent.length - mostMessages;
  return {
    type,
    status: "False",
    severity: urgent.length > 0 ? "Error" : "Info",
    reason: (urgent[0] ?? transient[0] ?? first).reason,
    message: [...conditionsOf, ...(more > 0 ? [`and ${more} more`] : [])].join(" · "),
  };
}

/** Many things that only take their time are reported as one: names that come and go would be a write of the status each. */
function combined(problems: readonly Problem[]): readonly Problem[] {
  const [first] = problems;
  if (first === undefined || problems.length < 2) return problems;
  const isMaking = problems.some((each) => each.reason === reasons.creating);
  const message =
    "several resources are being created, updated or deleted · each takes about half a minute";
  return [{ reason: isMaking ? reasons.creating : first.reason, message }];
}

/** Whether a problem only takes its time. */
export function isTransient({ reason }: { reason: string }): boolean {
  return transient.has(reason);
}

/** A condition as a plan names it. */
export function withoutAge({ type, status, reason, message }: PlannedCondition): PlannedCondition {
  return { type, status, reason, message };
}
