import { nameOf } from "@postern/core/resource-id.ts";
import { done, type Part, wait } from "../../../kube/part.ts";
import { type ApprovalPolicy, planApproval } from "../../../private-link/endpoint/approval.ts";
import {
  planCreateEndpoint,
  planDeleteEndpoint,
  planExistingEndpoint,
} from "../../../private-link/endpoint/plan.ts";
import { planChanging } from "../../../private-link/plan-resource.ts";
import type { ObservedEndpoints, Subject } from "../observed.ts";
import { reasons } from "../reasons.ts";
import type { WantedEndpoint } from "../spec/desired.ts";
import type { PrivateLinkStep } from "../steps.ts";
import { checkOwner } from "./owner.ts";
import { endpointPolicy as policy, waitOut } from "./policy.ts";

/*
 * What to do about each private endpoint. The first row that fits counts.
 *
 *   seen                                         steps                          told as
 *   its last operation has failed                none, again when Azure said    NotMade
 *   being changed                                none, again when it is due     BeingMade, or True while it was True
 *   somebody else's, and its tags are not lost   none                           OwnedByAnother
 *   there, Azure never changes what differs,     remove it; the next reconcile       BeingReplaced
 *   or its connection was taken away             makes it anew
 *   there, and Failed or Canceled                write it again, with its etag  BeingChanged
 *   there, something else differs                change it, with its etag       BeingChanged, or True while it was True
 *   there, waits for approval                    none, ever more seldom         ApprovalPending
 *   there, rejected                              none                           ConnectionRejected
 *   there, as wanted                             none                           Realised
 *   absent                                       make it                        BeingMade
 *   ours, and not asked for                      remove it                      BeingRemoved
 */

/** Decide about the endpoints that are wanted, and those that are not any more. */
export function planEndpoints(
  seen: ObservedEndpoints,
  subject: Subject,
  prune: { why: string } | undefined,
): Part<PrivateLinkStep>[] {
  const wanted = seen.wanted.map((each) => wantedEndpoint(each, subject));
  if (prune === undefined) return wanted;
  return [...wanted, ...seen.unwanted.map((each) => unwantedEndpoint(each, prune.why))];
}

function wantedEndpoint(
  { endpoint, look, lacksTags = false }: ObservedEndpoints["wanted"][number],
  subject: Subject,
): Part<PrivateLinkStep> {
  const name = endpoint.name;
  switch (look.state) {
    case "failed":
      return waitOut(look.failure, reasons.notMade);
    case "changing":
      return planChanging(name, look, policy);
    case "absent": {
      const why = `private endpoint ${name} is asked for and does not exist`;
      return planCreateEndpoint(endpoint, why, policy);
    }
    case "there": {
      const { resource } = look;
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
  { name, connections }: WantedEndpoint,
  { conditions }: Subject,
): ApprovalPolicy {
  const services = connections.map(({ service }) => service).join(", ");
  const present = conditions.find(
    ({ type, reason }) => type === policy.condition && reason === reasons.approvalPending,
  );
  return {
    pending: () => ({
      reason: reasons.approvalPending,
      message: `private endpoint ${name} waits for approval · its connection to ${services} is Pending · have the owner of that service approve it`,
      waitMs: (present?.sinceMs ?? 0) / 4,
    }),
    rejected: () => ({
      reason: reasons.rejected,
      message: `private endpoint ${name} cannot be used · the owner of ${services} has rejected its connection, which is final · agree with them and delete the endpoint, which is then made anew, or take it out`,
    }),
  };
}

/** Delete what is not asked for any more. */
function unwantedEndpoint(
  { id, look }: ObservedEndpoints["unwanted"][number],
  why: string,
): Part<PrivateLinkStep> {
  switch (look.state) {
    case "absent":
      return done;
    case "failed":
      return waitOut(look.failure, reasons.notRemoved);
    case "changing": {
      const message = policy.deletionMessage(nameOf(id), why);
      return wait({ reason: reasons.removing, message }, look.retryAfterMs);
    }
    case "there":
      return planDeleteEndpoint({ id, found: look.resource, why }, policy);
  }
}
