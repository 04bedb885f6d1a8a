import { type Part, retry } from "../../../kube/part.ts";
import { type ApprovalPolicy, planApproval } from "../../../private-link/endpoint/approval.ts";
import {
  planCreateEndpoint,
  planDeleteEndpoint,
  planExistingEndpoint,
} from "../../../private-link/endpoint/plan.ts";
import { planChanging } from "../../../private-link/plan-resource.ts";
import type { ObservedEndpoints, Subject } from "../observed.ts";
import { reasons } from "../reasons.ts";
import type { DesiredPrivateEndpoint } from "../spec/desired.ts";
import type { PrivateLinkStep } from "../steps.ts";
import { checkOwner } from "./owner.ts";
import { planObsolete } from "./plan-obsolete.ts";
import { endpointPolicy as policy } from "./policy.ts";

/** Plans the endpoints that are desired, and deletes those that are not any more. */
export function planEndpoints(
  observed: ObservedEndpoints,
  subject: Subject,
  prune: { why: string } | undefined,
): Part<PrivateLinkStep>[] {
  const desired = observed.desired.map((each) => planDesiredEndpoint(each, subject));
  if (prune === undefined) return desired;
  const { why } = prune;
  const obsolete = observed.obsolete.map((each) =>
    planObsolete(
      each,
      (name) => policy.deletionMessage(name, why),
      (found) => planDeleteEndpoint({ id: each.id, found, why }, policy),
    ),
  );
  return [...desired, ...obsolete];
}

function planDesiredEndpoint(
  { endpoint, observation, lacksTags = false }: ObservedEndpoints["desired"][number],
  subject: Subject,
): Part<PrivateLinkStep> {
  const name = endpoint.name;
  switch (observation.state) {
    case "failed":
      return retry(observation.failure, { reason: reasons.notMade });
    case "changing":
      return planChanging(name, observation, policy);
    case "absent":
      return planCreateEndpoint(endpoint, "it does not exist", policy);
    case "exists": {
      const { resource } = observation;
      const foreign = checkOwner(resource, endpoint, subject, lacksTags, {
        thing: `private endpoint ${name}`,
        remedy: "give the endpoint another name, or tag it",
      });
      if (foreign !== undefined) return foreign;
      const part = planExistingEndpoint(resource, endpoint, policy);
      if (part.problems[0]?.reason === reasons.replacing) return part;
      const approval = planApproval(resource, approvalPolicy(endpoint, subject));
      return approval === undefined ? part : { ...approval, steps: part.steps };
    }
  }
}

/** What is reported of a connection that is not approved. The waits grow. */
function approvalPolicy(
  { name, connections }: DesiredPrivateEndpoint,
  { conditions }: Subject,
): ApprovalPolicy {
  const services = connections.map(({ service }) => service).join(", ");
  const present = conditions.find(
    ({ type, reason }) => type === policy.condition && reason === reasons.approvalPending,
  );
  return {
    pending: () => ({
      reason: reasons.approvalPending,
      message: `private endpoint ${name} waits for approval · its connection to ${services} is Pending · ask the owner of that service to approve it`,
      waitMs: (present?.sinceMs ?? 0) / 4,
    }),
    rejected: () => ({
      reason: reasons.rejected,
      message: `connection of private endpoint ${name} rejected by the owner of ${services} · ask them to accept it, then delete the endpoint; Postern recreates it · or remove it from the spec`,
    }),
  };
}
