import type { Failure } from "@postern/core/failure.ts";
import { lastSegment, nameOf } from "@postern/core/resource-id.ts";
import type { Plan, Requeue } from "../../kube/feature.ts";
import { fail, join, type Part, type Problem, requeueOf, wait } from "../../kube/part.ts";
import { planDeleteLinkService } from "../../private-link/link-service/plan-delete.ts";
import { conditions } from "../names.ts";
import type { NatDeletionChoice } from "./nat/observed.ts";
import { planRecordSubnet } from "./nat/plan-record.ts";
import type { Down } from "./observed.ts";
import { reasons } from "./reasons.ts";
import { linkServicePolicy } from "./service/desired.ts";
import type { LinkStep } from "./steps.ts";

/**
 * Delete the link services of an object, then its NAT subnet where no other service uses it, then the annotation that records it, and
 * remove the finalizer when nothing is left. `nat` is what was chosen for the subnet.
 */
export function planDelete(observed: Down, nat: NatDeletionChoice): Plan<LinkStep> {
  const { subject, services, natOfService, endpointGraceMs } = observed;
  const policy = linkServicePolicy(subject, endpointGraceMs);
  const deleting = { reason: reasons.deleting, message: policy.deletion.message("", "") };
  const planSteps = (steps: readonly LinkStep[]) => report(observed, deleting, "soon", steps);
  const recording = planRecordSubnet(observed, natOfService);
  if (recording.length > 0) return planSteps(recording);
  const parts: Part<LinkStep>[] = [];
  for (const { id, observation } of services.filter(({ isOwn }) => isOwn)) {
    if (observation.state === "failed")
      return reportFailure(observed, observation.failure, reasons.deletionFailed);
    if (observation.state === "changing") parts.push(wait(deleting, observation.retryAfterMs));
    if (observation.state !== "exists") continue;
    const why = "its object is being deleted";
    const part = planDeleteLinkService({ id, found: observation.resource, why }, policy);
    const [problem] = part.problems;
    if (problem?.reason === reasons.foreignEndpoints)
      return report(observed, problem, requeueOf(part));
    parts.push(part);
  }
  const all = join(parts);
  if (all.steps.length > 0) return planSteps(all.steps);
  if (all.requeueMs !== undefined) return report(observed, deleting, requeueOf(all));
  switch (nat.is) {
    case "failed":
      return reportFailure(observed, nat.failure, reasons.natSubnetDeletionFailed);
    case "changing":
      return report(observed, deleting, { afterMs: nat.retryAfterMs });
    case "to be removed":
      return planSteps([
        {
          on: "subnet",
          do: "delete NAT subnet",
          name: nameOf(nat.subnet),
          verb: "delete",
          id: nat.subnet,
          uid: subject.uid,
          why: "the last link service in it was deleted",
          event: true,
          failsAs: reasons.natSubnetDeletionFailed,
        },
      ]);
    case "used by others":
    case "nothing": {
      const { namespace, name, uid, recordedSubnet } = subject;
      if (recordedSubnet === undefined)
        return { steps: [], conditions: [], finalizer: "remove", requeue: "never" };
      return planSteps([
        {
          on: "annotation",
          do: "release NAT subnet",
          name: lastSegment(recordedSubnet),
          link: { namespace, name, uid },
          why: `AzurePrivateLinkService ${name} does not use it any more`,
          // Without the annotation the subnet would be orphaned.
          releases: true,
          ...(nat.is === "used by others" && { sharedSubnet: recordedSubnet }),
        },
      ]);
    }
  }
}

function reportFailure(observed: Down, failure: Failure, reason: string): Plan<LinkStep> {
  return report(observed, { reason, message: failure.message }, requeueOf(fail(failure, reason)));
}

/** The ids remain in the status until everything is deleted. The alias cannot be used any more. */
function report(
  { subject }: Down,
  { reason, message }: Pick<Problem, "reason" | "message">,
  requeue: Requeue,
  steps: readonly LinkStep[] = [],
): Plan<LinkStep> {
  const { internalLoadBalancerID, privateLinkServiceID } = subject.fields;
  const others = subject.conditions.filter(({ type }) => type !== conditions.link);
  return {
    steps,
    conditions: [...others, { type: conditions.link, status: "False", reason, message }],
    status: { internalLoadBalancerID, privateLinkServiceID },
    requeue,
  };
}
