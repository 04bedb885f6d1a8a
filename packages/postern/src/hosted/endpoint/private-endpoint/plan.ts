import { isIp } from "@postern/core/ip.ts";
import { ownedTags, ownership, ownerTag } from "@postern/core/ownership.ts";
import { provisioningOf } from "@postern/core/provisioning.ts";
import { nameOf, type ResourceId, sameId } from "@postern/core/resource-id.ts";
import { shellWord } from "@postern/core/shell.ts";
import { tagOf, withTags } from "@postern/core/tags.ts";
import {
  type PrivateEndpoint,
  withoutEndpointAnswers,
} from "../../../azure/gateways/private-endpoints.ts";
import { addressesOf, connectionOf, stateOf } from "../../../private-link/endpoint/observed.ts";
import { conditions } from "../../names.ts";
import { endpointIds, longestEndpointName } from "../desired/desired.ts";
import type { Observed, OwnStatus } from "../observed.ts";
import { isHyperShifts, isOwned, owner } from "../ownership/owner.ts";
import { reasons } from "../reasons.ts";
import { isFalse, type Part, rest, type Verdict } from "../steps.ts";

/** The part of the plan about the endpoint. Addresses are known only of one that is approved. */
export type EndpointPart = Part & { addresses: readonly string[] | undefined };

const condition = conditions.endpoint;
const requestMessage = "Postern: the guest's end of a hosted control plane's private link";
const firstWaitMs = 30_000;
const longestWaitMs = 5 * 60_000;
const escalationMs = 15 * 60_000;

/**
 * What to do about the endpoint:
 *
 *   ours  alias    as wanted  connection     →
 *   -     unknown                            wait for the alias
 *   -     known                              make it, under the first name that is free
 *   yes   unknown                            tell how it is connected, change nothing
 *   yes   known    no                        remove it; the next reconcile makes it anew (Azure moves none)
 *   yes   known    yes        Disconnected   the same: what it was connected to is gone
 *   yes   known    yes        any            Failed: write it again; not ready before that has succeeded
 *   yes   known    yes        Pending        wait, ever longer, and say who must approve
 *   yes   known    yes        Rejected       say so
 *   yes   known    yes        Approved       True, if it has an address
 */
export function planEndpoint(seen: Observed): EndpointPart {
  const addresses = undefined;
  const changing = seen.endpoints.flatMap(({ look }) =>
    look.state === "changing" ? [look.retryAfterMs] : [],
  );
  for (const { look } of seen.endpoints) {
    if (look.state !== "failed") continue;
    const { failure } = look;
    const verdict = failure.passing
      ? undefined
      : isFalse(reasons.endpointCreationFailed, failure.message);
    return { ...rest(verdict, { waitMs: failure.requeueAfterMs ?? firstWaitMs }), addresses };
  }
  if (changing.length > 0) {
    const held = seen.conditions.find(({ type }) => type === condition);
    // What works goes on working while it is being changed; what is being replaced is said already.
    const known = held?.status === "True" || held?.reason === reasons.endpointReplacing;
    const verdict = known ? held : beingMade(seen);
    const waitMs = Math.min(...changing);
    return { ...rest(verdict, { waitMs, status: endpointStatus(seen) }), addresses };
  }
  const ours = ourEndpoints(seen);
  const [first] = ours;
  if (first === undefined) return { ...makeEndpoint(seen), addresses };
  return keepEndpoint(seen, first);
}

/**
 * Whether an endpoint without an owner tag is this object's: it has one of our names, our status names it, and HyperShift
 * created it, which writes no such tag, or we did, and `az … update --tags` removed it. Our connections have the name of
 * their endpoint.
 */
function isUntagged(seen: Observed, id: ResourceId, found: PrivateEndpoint): boolean {
  return (
    tagOf(found.tags, ownerTag) === undefined &&
    sameId(seen.status.privateEndpointID ?? "", id) &&
    endpointIds(seen.object, seen.us.clusterID).some((each) => sameId(each, id)) &&
    (isHyperShifts(found.tags, "private-endpoint") || connectionOf(found)?.name === nameOf(id))
  );
}

/** The endpoints that are this object's: by tag, left by one before it, or without a tag under our name. */
export function ourEndpoints(seen: Observed): Ours[] {
  return seen.endpoints.flatMap(({ id, look, left = false }) => {
    if (look.state !== "there") return [];
    const { tags } = look.resource;
    const ours = isOwned(tags, seen.us) || left || isUntagged(seen, id, look.resource);
    return ours ? [{ id, found: look.resource, left }] : [];
  });
}

interface Ours {
  id: ResourceId;
  found: PrivateEndpoint;
  left: boolean;
}

function makeEndpoint(seen: Observed): Part {
  const { alias } = seen.link;
  if (alias === undefined)
    return rest(isFalse(reasons.linkPending, "the link service has no alias yet"));
  const free = seen.endpoints.filter(
    ({ look }, at) => look.state === "absent" && !(at === 0 && seen.nameReserved),
  );
  const id = free[0]?.id;
  if (id === undefined) return rest(isFalse(reasons.ownedByAnother, whoseEndpoints(seen)));
  const name = nameOf(id);
  if (name.length > longestEndpointName)
    return rest(
      isFalse(
        reasons.nameTooLong,
        `the private endpoint cannot be made · its name ${name} has ${name.length} characters and Azure takes ${longestEndpointName} · use a shorter name for the Service`,
      ),
    );
  const { spec } = seen.object;
  const body: PrivateEndpoint = {
    location: spec.location,
    tags: endpointTags(seen),
    properties: {
      subnet: { id: spec.guestSubnetID },
      manualPrivateLinkServiceConnections: [
        { name, properties: { privateLinkServiceId: alias, requestMessage } },
      ],
    },
  };
  const why = `the private endpoint ${name} does not exist`;
  const failsAs = reasons.endpointCreationFailed;
  const event = "CreatingPrivateEndpoint";
  return {
    steps: [{ on: "endpoint", do: "make endpoint", id, body, why, event, condition, failsAs }],
    verdict: beingMade(seen),
  };
}

/** A failure stays told while it is tried again. */
function beingMade({ conditions: all }: Observed): Verdict {
  const held = all.find(({ type }) => type === condition);
  return held?.reason === reasons.endpointCreationFailed
    ? held
    : isFalse(reasons.endpointCreating, "the private endpoint is being made");
}

function keepEndpoint(seen: Observed, ours: Ours) {
  const { id, found } = ours;
  const wrong = seen.link.alias === undefined ? undefined : whatIsWrong(seen, found);
  if (wrong !== undefined) {
    const why = `the private endpoint ${nameOf(id)} is made anew: ${wrong}`;
    const event = "ReplacingPrivateEndpoint";
    const failsAs = reasons.endpointCreationFailed;
    const { etag: ifMatch } = found;
    return {
      steps: [
        { on: "endpoint", do: "remove endpoint", id, ifMatch, why, event, condition, failsAs },
      ],
      verdict: isFalse(reasons.endpointReplacing, why),
      addresses: undefined,
    } satisfies EndpointPart;
  }
  const addresses = addressesOf(found);
  const part =
    provisioningOf(found) === "failed"
      ? rest(isFalse(reasons.endpointCreationFailed, failedMessage(seen, ours)))
      : told(seen, found, addresses);
  const ip = addresses.find((each) => isIp(each, 4)) ?? addresses[0];
  return {
    ...part,
    steps: repairs(seen, ours),
    status: { privateEndpointID: id, ...(ip && { privateEndpointIP: ip }) },
    addresses: part.verdict?.status === "True" ? addresses : undefined,
  };
}

/** Why an endpoint cannot stay; undefined where it can. */
function whatIsWrong(seen: Observed, found: PrivateEndpoint): string | undefined {
  if (!isConnectedToUs(seen, found)) return "it is connected to another link service";
  if (!sameId(found.properties.subnet?.id ?? "", seen.object.spec.guestSubnetID))
    return "it is in another subnet";
  if (["disconnected", "removed"].includes(stateOf(found)))
    return "its connection was removed from the link service";
  return undefined;
}

function isConnectedToUs({ link }: Observed, found: PrivateEndpoint): boolean {
  const target = connectionOf(found)?.properties.privateLinkServiceId;
  return (
    target !== undefined &&
    [link.alias, link.id].some((each) => each !== undefined && sameId(each, target))
  );
}

function told(seen: Observed, found: PrivateEndpoint, addresses: readonly string[]): Part {
  const held = seen.conditions.find(({ type }) => type === condition);
  const service = seen.link.id ?? seen.link.alias ?? "the link service";
  const not = (message: string, type: "Normal" | "Warning", waitMs: number): Part => {
    const news = held?.reason !== reasons.endpointNotApproved || held.message !== message;
    const events = news ? [{ reason: reasons.endpointNotApproved, note: message, type }] : [];
    return rest(isFalse(reasons.endpointNotApproved, message), { events, waitMs });
  };
  switch (stateOf(found)) {
    case "approved":
      if (addresses.length > 0)
        return rest({ status: "True", reason: reasons.success, message: "connected" });
      return rest(
        isFalse(reasons.addressPending, "the private endpoint is approved and has no address yet"),
        { waitMs: firstWaitMs },
      );
    case "pending": {
      const sinceMs = held?.reason === reasons.endpointNotApproved ? seen.endpointSinceMs : 0;
      const waitMs = Math.min(Math.max(sinceMs, firstWaitMs), longestWaitMs);
      const guest = seen.object.spec.subscriptionID;
      return sinceMs < escalationMs
        ? not("the connection waits for approval · it is looked at again", "Normal", waitMs)
        : not(
            `the connection waits for approval since 15 minutes or more · the link service does not approve subscription ${guest} by itself · approve it: az network private-endpoint-connection approve --id <the pending connection in: az network private-endpoint-connection list --id ${shellWord(service)}>, or add the subscription to additionalAllowedSubscriptions`,
            "Warning",
            longestWaitMs,
          );
    }
    case "rejected":
      return not(
        `the connection was rejected, which is final · by somebody who may manage ${service} · agree with them, then delete the private endpoint ${found.id ?? ""}: it is made anew and asks again`,
        "Warning",
        longestWaitMs,
      );
    case "":
      return not("Azure does not say whether the connection is approved", "Normal", firstWaitMs);
    default:
      return not(
        `the connection is neither approved nor pending but ${stateOf(found)} · look at it in Azure`,
        "Warning",
        longestWaitMs,
      );
  }
}

function failedMessage({ link }: Observed, { id, found }: Ours): string {
  const remedy =
    link.alias === undefined
      ? "Postern writes it again when the link service is ready"
      : "Postern writes it again";
  return `the private endpoint ${nameOf(id)} is ${found.properties.provisioningState} · ${remedy}`;
}

function repairs(seen: Observed, { id, found, left }: Ours): Part["steps"] {
  const tags = withTags(found.tags ?? {}, endpointTags(seen));
  const isFailed = provisioningOf(found) === "failed" && seen.link.alias !== undefined;
  if (tags === found.tags && !isFailed) return [];
  const { properties } = withoutEndpointAnswers(found);
  const body: PrivateEndpoint = {
    ...(found.location !== undefined && { location: found.location }),
    tags,
    properties,
  };
  const why = left
    ? `the private endpoint ${nameOf(id)} is taken over: the object of this cluster that it was made for does not exist any more`
    : isFailed
      ? `the private endpoint ${nameOf(id)} is ${found.properties.provisioningState}`
      : `tags of the private endpoint ${nameOf(id)} are missing`;
  const failsAs = reasons.endpointCreationFailed;
  const event = left ? { event: "AdoptingPrivateEndpoint" } : {};
  const { etag: ifMatch } = found;
  const verb = isFailed ? "repair endpoint" : "tag endpoint";
  const step = { on: "endpoint", do: verb, id, ifMatch, body, why } as const;
  return [{ ...step, ...event, condition, failsAs }];
}

function endpointTags(seen: Observed) {
  return ownedTags(seen.cluster?.hostedCluster ?? "", "private-endpoint", owner(seen));
}

function endpointStatus({ status }: Observed): OwnStatus {
  const { privateEndpointID, privateEndpointIP } = status;
  return {
    ...(privateEndpointID && { privateEndpointID }),
    ...(privateEndpointIP && { privateEndpointIP }),
  };
}

function whoseEndpoints(seen: Observed): string {
  const said = seen.endpoints.flatMap(({ id, look }) => {
    if (look.state !== "there") return [];
    const is = ownership(look.resource.tags, owner(seen));
    const whose = is.is === "another" ? is.whose : "somebody who has not tagged it as ours";
    return [`${nameOf(id)} belongs to ${whose}`];
  });
  return `the private endpoint cannot be made · ${said.join(", ")} · remove or rename it, or use another resource group`;
}
