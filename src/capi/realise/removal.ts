import { disconnecting } from "../../azure/disconnect.ts";
import type { PrivateLinkService } from "../../azure/gateways/private-link-services.ts";
import { lastSegment, nameOf, type ResourceId } from "../../model/resource-id.ts";
import { reasons } from "./reasons.ts";
import type { Subject } from "./seen.ts";
import { conditionOfSide, foreignEndpointsAnnotation } from "./sides.ts";
import { type RealiseStep, type Verdict, waiting } from "./steps.ts";

const personMs = 60_000;
const soonMs = 15_000;

/** What a link service needs to go, over several passes: endpoints are told, then cut off, then it is deleted. */
export function removeLink(
  id: ResourceId,
  resource: PrivateLinkService,
  why: string,
  { foreignEndpoints: policy, graceMs: guestMs }: Subject,
): Verdict {
  const name = nameOf(id);
  const condition = conditionOfSide.links;
  const failsAs = reasons.notRemoved;
  const isOwn = () => guestMs > 0;
  const decided = disconnecting(resource, { policy, isOwn, guestMs });
  switch (decided.is) {
    case "refused":
      return waiting(
        reasons.foreignEndpoints,
        `private link ${name} cannot go · endpoints are connected to it: ${decided.connected.join(", ")} · have their owners delete them, or set the annotation ${foreignEndpointsAnnotation} to disconnect`,
        personMs,
      );
    case "waiting": {
      const message = `private link ${name} is being removed · the management cluster deletes its endpoints first · nothing to do`;
      return waiting(reasons.removing, message, Math.min(soonMs, decided.retryAfterMs));
    }
    case "reject":
    case "remove":
      return removing(
        name,
        why,
        decided.connections.map(({ id: connection, endpoint }): RealiseStep => {
          const what = `${lastSegment(endpoint)} is connected to a link service that goes: ${why}`;
          const event = decided.is === "reject" ? "EndpointRejected" : "EndpointRemoved";
          const word = `${decided.is} a connection` as const;
          return { do: word, id: connection, why: what, event, condition, failsAs };
        }),
      );
    case "free": {
      const { etag } = resource;
      const event = "RemovingPrivateLink";
      const step: RealiseStep = {
        ...{ do: "remove a link service", id, etag, why: `${name}: ${why}` },
        ...{ event, condition, failsAs },
      };
      return removing(name, why, [step]);
    }
  }
}

function removing(name: string, why: string, steps: readonly RealiseStep[]): Verdict {
  const message = `private link ${name} is being removed · ${why} · nothing to do`;
  return { trouble: { reason: reasons.removing, message }, steps };
}
