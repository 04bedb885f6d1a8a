import type { PrivateEndpoint } from "../../azure/gateways/private-endpoints.ts";
import { type Part, type Problem, report, wait, waits } from "../../kube/part.ts";
import { connectedOf } from "./desired.ts";

/** A person may take days to decide. */
const longestWaitMs = 5 * 60_000;

/** What a source of private links reports of a connection that is not approved. */
export interface ApprovalPolicy {
  /** With how long to wait for a decision; it is bounded here. */
  pending(): Problem & { waitMs: number };
  rejected(): Problem;
  /** Left out where a disconnected endpoint is replaced in any case. */
  disconnected?(): Problem;
}

/**
 * Wait for what the owner of the link service has not decided; undefined where nothing is to decide. A rejection is final: the remedy is to
 * delete the endpoint, which the next drift check finds.
 */
export function planApproval(
  found: PrivateEndpoint,
  policy: ApprovalPolicy,
): Part<never> | undefined {
  switch (connectedOf(found)) {
    case "pending": {
      const { waitMs, ...problem } = policy.pending();
      return wait(problem, Math.min(longestWaitMs, Math.max(waits.failureMs, waitMs)));
    }
    case "rejected":
      return report(policy.rejected());
    case "disconnected":
      return policy.disconnected && report(policy.disconnected());
    case "approved":
      return undefined;
  }
}
