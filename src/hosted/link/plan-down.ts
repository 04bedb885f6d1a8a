import { disconnecting } from "../../azure/disconnect.ts";
import type { PrivateLinkService } from "../../azure/gateways/private-link-services.ts";
import type { Again, Plan } from "../../kube/feature.ts";
import type { PlannedCondition } from "../../model/conditions.ts";
import type { Failure } from "../../model/failure.ts";
import { lastSegment, nameOf, type ResourceId, sameId } from "../../model/resource-id.ts";
import { annotations, conditions } from "../names.ts";
import { reasons } from "./reasons.ts";
import type { Down, Subject } from "./seen.ts";
import type { LinkStep } from "./steps.ts";

/*
 * The object is being deleted. The first row that fits counts; what is not ours is not there.
 *
 *   seen                                              steps                         AzurePLSCreated
 *   a service whose last operation has failed         none, again when Azure said   False PLSDeletionFailed
 *   a service that is being changed                   none, again when it is due    False PLSDeleting
 *   a service in a subnet of ours that is not noted   note it                       False PLSDeleting
 *   endpoints of others, and the policy is refuse     none                          False ForeignEndpointsConnected
 *   our own endpoint, whose side has time left        none, until it has gone       False PLSDeleting
 *   endpoints that are approved or wait for it        reject them                   False PLSDeleting
 *   endpoints in any other state                      remove their connections      False PLSDeleting
 *   a service without connections                     remove it, with its etag      False PLSDeleting
 *   no service, the last one in a subnet of ours      remove that                   False PLSDeleting
 *   a note of a subnet that is not used any more      remove the note               False PLSDeleting
 *   nothing                                           none, and the finalizer goes
 */

/** Decide what is to be done about a link that goes. */
export function planDown(seen: Down): Plan<LinkStep> {
  const { subject, services, natOfService, nat } = seen;
  const ours = services.filter((each) => each.ours);
  if (natOfService !== undefined && !sameId(subject.notedSubnet ?? "", natOfService)) {
    const { namespace, name, uid } = subject;
    const why = "the service that tells of it is about to go";
    const note = { do: "note the NAT subnet", subnet: natOfService, why } as const;
    return going(seen, [{ ...note, namespace, name, uid }], "soon");
  }
  const steps: LinkStep[] = [];
  const waits: number[] = [];
  for (const { id, look } of ours) {
    if (look.state === "failed") return failing(seen, reasons.deletionFailed, look.failure);
    if (look.state === "changing") waits.push(look.retryAfterMs);
    if (look.state !== "there") continue;
    const why = "its object is being deleted";
    const { resource } = look;
    const gone = removal(subject, { id, resource, why, guestMs: seen.guestMs });
    if (gone.refused)
      return told(seen, gone.refused.reason, gone.refused.message, { afterMs: 60_000 });
    steps.push(...gone.steps);
    if (gone.retryAfterMs !== undefined) waits.push(gone.retryAfterMs);
  }
  if (steps.length > 0) return going(seen, steps, "soon");
  if (waits.length > 0) return going(seen, [], { afterMs: Math.min(...waits) });
  switch (nat.is) {
    case "failed":
      return failing(seen, reasons.natSubnetDeletionFailed, nat.failure);
    case "changing":
      return going(seen, [], { afterMs: nat.retryAfterMs });
    case "to be removed": {
      const why = "the last link service in it has gone";
      const failsAs = reasons.natSubnetDeletionFailed;
      const step = { do: "remove the NAT subnet", id: nat.subnet, why, failsAs } as const;
      return going(seen, [{ ...step, event: "NATSubnetDeleting" }], "soon");
    }
    case "nothing": {
      if (subject.notedSubnet === undefined)
        return { steps: [], conditions: [], finalizer: "release", again: "never" };
      const { namespace, name, uid } = subject;
      const why = "the link does not use it any more";
      return going(seen, [{ do: "forget the NAT subnet", namespace, name, uid, why }], "soon");
    }
  }
}

/** The steps that a service needs to go, one after another over several passes. */
export function removal(
  subject: Subject,
  given: { id: ResourceId; resource: PrivateLinkService; why: string; guestMs: number },
): {
  steps: LinkStep[];
  refused?: { reason: string; message: string };
  retryAfterMs?: number;
} {
  const { id, resource, why, guestMs } = given;
  const isOwn = (endpoint: string) => subject.ownEndpoints.some((own) => sameId(own, endpoint));
  const decided = disconnecting(resource, { policy: subject.foreignEndpoints, isOwn, guestMs });
  const failsAs = reasons.deletionFailed;
  switch (decided.is) {
    case "refused": {
      const message = `endpoints of others are connected to link service ${nameOf(id)}: ${decided.connected.join(", ")} · the annotation ${annotations.foreignEndpoints} does not allow to disconnect them · have their owners delete them, or set it to disconnect`;
      return { steps: [], refused: { reason: reasons.foreignEndpoints, message } };
    }
    case "waiting":
      return { steps: [], retryAfterMs: decided.retryAfterMs };
    case "reject":
    case "remove": {
      const word = decided.is;
      const steps = decided.connections.map(({ id: connection, endpoint }): LinkStep => {
        const what = `${lastSegment(endpoint)} is connected to a link service that goes: ${why}`;
        const event = word === "reject" ? "EndpointRejected" : "EndpointRemoved";
        return { do: `${word} a connection`, id: connection, why: what, event, failsAs };
      });
      return { steps };
    }
    case "free": {
      const event = reasons.deleting;
      const { etag } = resource;
      return { steps: [{ do: "remove the link service", id, etag, why, event, failsAs }] };
    }
  }
}

function going(seen: Down, steps: LinkStep[], again: Again): Plan<LinkStep> {
  const message =
    "the link service is being deleted, and its NAT subnet if nobody else uses it · nothing to do";
  return { ...told(seen, reasons.deleting, message, again), steps };
}

function failing(seen: Down, reason: string, failure: Failure): Plan<LinkStep> {
  const { message, requeueAfterMs = 30_000 } = failure;
  return told(seen, reason, message, { afterMs: requeueAfterMs });
}

/** The ids stay in the status until everything is gone: they tell where to look. The alias leads nowhere any more. */
function told({ subject }: Down, reason: string, message: string, again: Again): Plan<LinkStep> {
  const { internalLoadBalancerID, privateLinkServiceID } = subject.fields;
  const condition: PlannedCondition = { type: conditions.link, status: "False", reason, message };
  const others = subject.conditions.filter(({ type }) => type !== conditions.link);
  return {
    steps: [],
    conditions: [...others, condition],
    status: { internalLoadBalancerID, privateLinkServiceID },
    again,
  };
}
