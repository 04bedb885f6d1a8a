import { lastSegment, nameOf, type ResourceId } from "@postern/core/resource-id.ts";
import type { PrivateLinkService } from "../../azure/gateways/private-link-services.ts";
import { act, type Part, wait, waits } from "../../kube/part.ts";
import { stepWords } from "../plan-resource.ts";
import { disconnecting } from "./disconnect.ts";
import type { LinkServicePolicy } from "./policy.ts";
import type { LinkServiceStep } from "./steps.ts";

/** What a link service needs to be deleted, over several reconciles: its endpoints are rejected, then removed, then it goes. */
export function planDeleteLinkService(
  { id, found, why }: { id: ResourceId; found: PrivateLinkService; why: string },
  policy: LinkServicePolicy,
): Part<LinkServiceStep> {
  const name = nameOf(id);
  const { reasons, deletion } = policy;
  const deleting = {
    reason: reasons.delete,
    message: deletion.message(name, why),
    progress: true,
  } as const;
  const decided = disconnecting(found, deletion);
  switch (decided.is) {
    case "refused": {
      const message = deletion.refusal(name, decided.connected);
      return wait({ reason: deletion.refused, message }, waits.changeMs);
    }
    case "waiting": {
      const message = deletion.waitingMessage?.(name) ?? deleting.message;
      const { retryAfterMs } = decided;
      return wait(
        { ...deleting, message },
        Math.min(deletion.longestWaitMs ?? retryAfterMs, retryAfterMs),
      );
    }
    case "reject":
    case "remove": {
      const { failsAs, condition } = {
        condition: undefined,
        ...stepWords("delete", name, why, policy),
      };
      const steps = decided.connections.map(
        ({ id: connection, endpoint }): LinkServiceStep => ({
          on: "connection",
          verb: decided.is,
          do: decided.is === "reject" ? "reject connection" : "delete connection",
          name: nameOf(connection),
          id: connection,
          why: `private endpoint ${lastSegment(endpoint)} is connected to link service ${name}, which is deleted: ${why}`,
          event: true,
          failsAs,
          ...(condition !== undefined && { condition }),
        }),
      );
      return act(steps, deleting);
    }
    case "free": {
      const words = stepWords("delete", name, why, policy);
      const { etag } = found;
      return act([{ ...words, on: "link service", verb: "delete", id, etag }], deleting);
    }
  }
}
