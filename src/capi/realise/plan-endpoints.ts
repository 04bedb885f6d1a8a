import type { PrivateEndpoint } from "../../azure/gateways/private-endpoints.ts";
import { nameOf, type ResourceId } from "../../model/resource-id.ts";
import { connectedOf, endpointDifferences, newEndpoint, repairedEndpoint } from "./endpoint.ts";
import { reasons } from "./reasons.ts";
import type { EndpointsSeen, HeldCondition, Subject } from "./seen.ts";
import { conditionOfSide } from "./sides.ts";
import { fine, type RealiseStep, unsettled, type Verdict, waiting } from "./steps.ts";
import type { WantedEndpoint } from "./wanted.ts";
import { whose } from "./whose.ts";

/*
 * What to do about each private endpoint. The first row that fits counts.
 *
 *   seen                                         steps                          told as
 *   its last operation has failed                none, again when Azure said    NotMade
 *   being changed                                none, again when it is due     BeingMade, or True while it was True
 *   somebody else's, and its tags are not lost   none                           OwnedByAnother
 *   there, Azure never changes what differs,     remove it; the next pass       BeingReplaced
 *   or its connection was taken away             makes it anew
 *   there, something else differs                change it, with its etag       BeingChanged, or True while it was True
 *   there, waits for approval                    none, ever more seldom         ApprovalPending
 *   there, rejected                              none                           ConnectionRejected
 *   there, as wanted                             none                           Realised
 *   absent                                       make it                        BeingMade
 *   ours, and not asked for                      remove it                      BeingRemoved
 */

const soonMs = 30_000;
const longestWaitMs = 5 * 60_000;
const condition = conditionOfSide.endpoints;

/** Decide about the endpoints that are wanted, and those that are not any more. */
export function planEndpoints(
  seen: EndpointsSeen,
  subject: Subject,
  prune: { why: string } | undefined,
): Verdict[] {
  const wanted = seen.wanted.map((each) => wantedEndpoint(each, subject));
  if (prune === undefined) return wanted;
  return [...wanted, ...seen.unwanted.map((each) => unwantedEndpoint(each, prune.why))];
}

function wantedEndpoint(
  { endpoint, look, hasLostTags }: EndpointsSeen["wanted"][number],
  subject: Subject,
): Verdict {
  switch (look.state) {
    case "failed":
    case "changing":
      return unsettled(`private endpoint ${endpoint.name}`, look);
    case "there":
      return there(endpoint, look.resource, subject, hasLostTags === true);
    case "absent":
      return absent(endpoint);
  }
}

function there(
  endpoint: WantedEndpoint,
  found: PrivateEndpoint,
  subject: Subject,
  hasLostTags: boolean,
): Verdict {
  const { name, id } = endpoint;
  const owner = whose(found.tags, subject.owner, subject.cluster);
  if (owner.is === "another" && !hasLostTags)
    return waiting(
      reasons.ownedByAnother,
      `private endpoint ${name} is not changed · it is somebody else's: ${owner.whose} · give the endpoint another name, or tag it ${Object.entries(endpoint.tags).at(-1)?.join(": ")}`,
      soonMs * 2,
    );
  const { fixed, changeable } = endpointDifferences(found, endpoint);
  if (fixed.length > 0) {
    const why = `${fixed.join(", ")}, which Azure never changes`;
    const message = `private endpoint ${name} is being replaced · ${why} · nothing to do`;
    return {
      trouble: { reason: reasons.replacing, message },
      steps: [removal(id, found, `it is made anew: ${why}`)],
    };
  }
  const connected = decided(endpoint, found, subject);
  if (changeable.length === 0) return connected;
  const why = changeable.join(", ");
  const step: RealiseStep = {
    ...{ do: "change an endpoint", id, etag: found.etag },
    ...{ body: repairedEndpoint(found, endpoint), why: `${name}: ${why}` },
    ...{ event: "ChangingPrivateEndpoint", condition, failsAs: reasons.notChanged },
  };
  const message = `private endpoint ${name} is being put right · ${why} · nothing to do`;
  const trouble = { reason: reasons.changing, message, keepsTrue: true };
  return { ...connected, trouble: connected.trouble ?? trouble, steps: [step] };
}

/** What the owner of the link service has decided. */
function decided(
  { name, connections }: WantedEndpoint,
  found: PrivateEndpoint,
  subject: Subject,
): Verdict {
  const services = connections.map(({ service }) => service).join(", ");
  switch (connectedOf(found)) {
    case "pending": {
      const message = `private endpoint ${name} waits for approval · its connection to ${services} is Pending · have the owner of that service approve it`;
      return waiting(reasons.approvalPending, message, patience(subject.conditions));
    }
    case "rejected": {
      const message = `private endpoint ${name} cannot be used · the owner of ${services} has rejected its connection, which is final · agree with them and delete the endpoint, which is then made anew, or take it out`;
      return waiting(reasons.rejected, message, longestWaitMs);
    }
    default:
      return fine;
  }
}

/** A person may take days to approve: it is looked at ever more seldom. */
function patience(held: readonly HeldCondition[]): number {
  const known = held.find(
    ({ type, reason }) => type === condition && reason === reasons.approvalPending,
  );
  return Math.min(longestWaitMs, Math.max(soonMs, (known?.sinceMs ?? 0) / 4));
}

function absent(endpoint: WantedEndpoint): Verdict {
  const { name, id } = endpoint;
  const step: RealiseStep = {
    ...{ do: "make an endpoint", id, body: newEndpoint(endpoint) },
    why: `private endpoint ${name} is asked for and does not exist`,
    ...{ event: "MakingPrivateEndpoint", condition, failsAs: reasons.notMade },
  };
  const message = `private endpoint ${name} is being made · Azure needs about half a minute · nothing to do`;
  return { trouble: { reason: reasons.making, message }, steps: [step] };
}

/** Take away what is not asked for any more. */
function unwantedEndpoint({ id, look }: EndpointsSeen["unwanted"][number], why: string): Verdict {
  const message = `private endpoint ${nameOf(id)} is being removed · ${why} · nothing to do`;
  switch (look.state) {
    case "absent":
      return fine;
    case "failed":
      return waiting(
        reasons.notRemoved,
        look.failure.message,
        look.failure.requeueAfterMs ?? soonMs,
      );
    case "changing":
      return waiting(reasons.removing, message, look.retryAfterMs);
    case "there":
      return {
        trouble: { reason: reasons.removing, message },
        steps: [removal(id, look.resource, why)],
      };
  }
}

function removal(id: ResourceId, { etag }: PrivateEndpoint, why: string): RealiseStep {
  return {
    ...{ do: "remove an endpoint", id, etag, why: `${nameOf(id)}: ${why}` },
    ...{ event: "RemovingPrivateEndpoint", condition, failsAs: reasons.notRemoved },
  };
}
