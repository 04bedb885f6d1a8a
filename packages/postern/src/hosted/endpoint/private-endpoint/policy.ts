import { nameOf, type ResourceId } from "@postern/core/resource-id.ts";
import { shellWord } from "@postern/core/shell.ts";
import type { PrivateEndpoint } from "../../../azure/gateways/private-endpoints.ts";
import type { Problem } from "../../../kube/part.ts";
import type { ApprovalPolicy } from "../../../private-link/endpoint/approval.ts";
import { stateOf } from "../../../private-link/endpoint/observed.ts";
import type { EndpointPolicy } from "../../../private-link/endpoint/policy.ts";
import { conditions } from "../../names.ts";
import type { Observed } from "../observed.ts";
import { type Reason, reasons } from "../reasons.ts";

/** An endpoint of this object that exists. */
export interface OwnEndpoint {
  id: ResourceId;
  found: PrivateEndpoint;
  /** The object that it was created for does not exist any more. */
  left: boolean;
}

/** A connection that is pending for longer than this is reported with the remedy. */
const escalationMs = 15 * 60_000;

/** Why an endpoint is replaced, the most important first. What else may differ is left to others. */
const replacements = {
  connections: "it is connected to another link service",
  subnet: "it is in another subnet",
  disconnected: "its connection was removed from the link service",
} as const;

/** How the private endpoint of a hosted cluster is created, updated and replaced, in words. */
export function endpointPolicy(observed: Observed, existing?: OwnEndpoint): EndpointPolicy {
  const name = existing ? nameOf(existing.id) : "";
  const isLeft = existing?.left === true;
  const creating = creatingProblem(observed);
  const failed = reasons.endpointCreationFailed;
  const replacing = (why: string) => `the private endpoint ${name} is recreated: ${why}`;
  return {
    condition: conditions.endpoint,
    steps: {
      create: "create private endpoint",
      change: isLeft ? "adopt private endpoint" : "update private endpoint",
      delete: "delete private endpoint",
    },
    reasons: {
      create: creating.reason,
      change: failed,
      replace: reasons.endpointReplacing,
      delete: reasons.deleting,
      failed: { create: failed, change: failed, delete: failed },
    },
    messages: {
      write: () => creating.message,
      create: () => creating.message,
      change: (_name, why) => `${why} · Postern updates it`,
      replace: (_name, why) => replacing(why),
    },
    describe: (differences, state) => {
      if (state !== undefined) return failedMessage(name, state);
      const first = Object.entries(replacements).find(([each]) =>
        differences.some((difference) => difference === each),
      );
      if (isLeft) return "the object that it was created for does not exist any more";
      return first?.[1] ?? "tags are missing";
    },
    whyReplaced: replacing,
    deletionMessage: (_name, why) => why,
  };
}

/** How it is deleted for good. */
export function deletionPolicy(observed: Observed): EndpointPolicy {
  const policy = endpointPolicy(observed);
  return {
    ...policy,
  };
}

/** What is reported of a connection that is not approved. */
export function approvalPolicy(observed: Observed, found: PrivateEndpoint): ApprovalPolicy {
  const { link, object } = observed;
  const service = link.id ?? link.alias ?? "the link service";
  const problem = (message: string) => ({ reason: reasons.endpointNotApproved, message });
  const final = (message: string) => ({ reason: reasons.endpointRejected, message });
  const state = stateOf(found);
  const unknown = () =>
    problem(`the connection is neither approved nor pending but ${state} · check it in Azure`);
  return {
    pending: () => {
      if (state === "") {
        const message = "Azure does not report whether the connection is approved";
        return { ...problem(message), progress: true, waitMs: 0 };
      }
      if (state !== "pending") return { ...unknown(), waitMs: Number.POSITIVE_INFINITY };
      const present = presentCondition(observed);
      const isReported =
        present?.reason === reasons.endpointNotApproved ||
        present?.reason === reasons.endpointApprovalOverdue;
      const waitMs = isReported ? observed.endpointSinceMs : 0;
      if (waitMs < escalationMs) {
        const message = "the connection waits for approval · Postern checks it again";
        return { ...problem(message), progress: true, waitMs };
      }
      const message = `the connection has waited for approval for 15 minutes or more · the link service does not auto-approve subscription ${object.spec.subscriptionID} · approve it: az network private-endpoint-connection approve --id <the pending connection in: az network private-endpoint-connection list --id ${shellWord(service)}>, or add the subscription to additionalAllowedSubscriptions`;
      return { reason: reasons.endpointApprovalOverdue, message, waitMs };
    },
    rejected: () =>
      final(
        `connection rejected by the owner of ${service} · ask them to accept it, then delete private endpoint ${found.id ?? ""}; Postern recreates it`,
      ),
    disconnected: unknown,
  };
}

/** The condition of the endpoint, as it is. */
export function presentCondition({ conditions: present }: Observed) {
  return present.find(({ type }) => type === conditions.endpoint);
}

/** The problem until the endpoint exists. If the present reason is one of these, it is reported until it is known how a write ends. */
export function creatingProblem(
  observed: Observed,
  reportedReasons: readonly Reason[] = [reasons.endpointCreationFailed],
): Problem {
  const present = presentCondition(observed);
  if (present !== undefined && reportedReasons.some((reason) => reason === present.reason))
    return { reason: present.reason, message: present.message };
  return { reason: reasons.endpointCreating, message: "the private endpoint is being created" };
}

/** An endpoint whose last write failed, in a sentence. */
export function failedMessage(name: string, state: string): string {
  return `the private endpoint ${name} is ${state}`;
}
