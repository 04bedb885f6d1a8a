import { isReported } from "@postern/core/conditions.ts";
import { isIp } from "@postern/core/ip.ts";
import { ownedTags, ownership, ownerTag } from "@postern/core/ownership.ts";
import { nameOf, type ResourceId, sameId } from "@postern/core/resource-id.ts";
import { tagOf } from "@postern/core/tags.ts";
import type { PrivateEndpoint } from "../../../azure/gateways/private-endpoints.ts";
import { done, fail, type Part, report, wait, waits } from "../../../kube/part.ts";
import { planApproval } from "../../../private-link/endpoint/approval.ts";
import {
  asFound,
  connectedOf,
  type DesiredEndpoint,
} from "../../../private-link/endpoint/desired.ts";
import { addressesOf, connectionOf } from "../../../private-link/endpoint/observed.ts";
import {
  planCreateEndpoint,
  planDeleteEndpoint,
  planExistingEndpoint,
  planTagEndpoint,
} from "../../../private-link/endpoint/plan.ts";
import type { EndpointPolicy } from "../../../private-link/endpoint/policy.ts";
import type { PrivateEndpointStep } from "../../../private-link/endpoint/steps.ts";
import { failedState } from "../../../private-link/plan-resource.ts";
import { endpointIds, longestEndpointName } from "../desired/desired.ts";
import type { Observed, OwnStatus } from "../observed.ts";
import { isHyperShifts, isOwned, owner } from "../ownership/owner.ts";
import { reasons } from "../reasons.ts";
import {
  approvalPolicy,
  creatingProblem,
  endpointPolicy,
  failedMessage,
  type OwnEndpoint,
  presentCondition,
} from "./policy.ts";

/** The part of the plan about the endpoint. */
export interface EndpointPart extends Part<PrivateEndpointStep> {
  status?: OwnStatus;
  /** Known only of an endpoint that is approved. */
  addresses?: readonly string[];
}

const requestMessage = "Postern: the guest's end of a hosted control plane's private link";

/** What to do about the endpoint. The first check that has something to say decides. */
export function planEndpoint(observed: Observed): EndpointPart {
  return (
    checkRead(observed) ??
    checkFailed(observed) ??
    checkChanging(observed) ??
    planOwn(observed) ??
    checkAlias(observed) ??
    planNew(observed)
  );
}

function checkRead(observed: Observed): EndpointPart | undefined {
  const { endpointsFailed: failure } = observed;
  if (failure === undefined) return undefined;
  return { ...fail(failure, reasons.endpointGetFailed), status: endpointStatus(observed) };
}

/** The last operation failed. A failure that passes by itself leaves the condition as it is. */
function checkFailed(observed: Observed): EndpointPart | undefined {
  for (const { observation } of observed.endpoints) {
    if (observation.state !== "failed") continue;
    const part = fail(observation.failure, reasons.endpointCreationFailed);
    if (!observation.failure.passing) return part;
    const { reason, message } = presentCondition(observed) ?? creatingProblem(observed);
    return { ...part, problems: [{ reason, message, harmless: true }] };
  }
  return undefined;
}

/** What works is not affected while it is being changed, and a replacement is reported already. */
function checkChanging(observed: Observed): EndpointPart | undefined {
  const times = observed.endpoints.flatMap(({ observation }) =>
    observation.state === "changing" ? [observation.retryAfterMs] : [],
  );
  if (times.length === 0) return undefined;
  const reportedReasons = [reasons.endpointCreationFailed, reasons.endpointReplacing];
  const problem = { ...creatingProblem(observed, reportedReasons), harmless: true } as const;
  return { ...wait(problem, Math.min(...times)), status: endpointStatus(observed) };
}

function planOwn(observed: Observed): EndpointPart | undefined {
  const [own] = ownEndpoints(observed);
  if (own === undefined) return undefined;
  const { id, found } = own;
  const part = planUpdate(observed, own);
  if (part.problems[0]?.reason === reasons.endpointReplacing) return part;
  const addresses = addressesOf(found);
  const problem = checkState(observed, own) ?? checkConnection(observed, found, addresses);
  const ip = addresses.find((each) => isIp(each, 4)) ?? addresses[0];
  return {
    ...(problem ?? done),
    steps: part.steps,
    status: { privateEndpointID: id, ...(ip && { privateEndpointIP: ip }) },
    ...(problem === undefined && { addresses }),
  };
}

/**
 * Until the link service has an alias, nothing but tags is changed. Only a disconnected endpoint is deleted at once: Azure never
 * connects it again, and the next one is created the sooner.
 */
function planUpdate(observed: Observed, own: OwnEndpoint): Part<PrivateEndpointStep> {
  const { id, found } = own;
  const policy = endpointPolicy(observed, own);
  const { alias } = observed.link;
  if (alias !== undefined)
    return planExistingEndpoint(found, desiredOf(observed, id, alias, found), policy);
  if (connectedOf(found) === "disconnected") return planReplaceDisconnected(own, policy);
  return planTagEndpoint({ id, found, ...endpointTags(observed) }, policy);
}

function planReplaceDisconnected(
  { id, found }: OwnEndpoint,
  policy: EndpointPolicy,
): Part<PrivateEndpointStep> {
  const why = policy.describe(["disconnected"]);
  const part = planDeleteEndpoint({ id, found, why: policy.whyReplaced(why) }, policy);
  const message = policy.messages.replace(nameOf(id), why);
  return { ...part, problems: [{ reason: reasons.endpointReplacing, message, progress: true }] };
}

/** The endpoint as it should be. Of one that exists, the region and whatever others have set are not changed. */
function desiredOf(
  observed: Observed,
  id: ResourceId,
  alias: string,
  found?: PrivateEndpoint,
): DesiredEndpoint {
  const { spec } = observed.object;
  const desired = {
    id,
    location: found?.location ?? spec.location,
    ...endpointTags(observed),
    subnet: spec.guestSubnetID,
  };
  const connection = { name: nameOf(id), service: alias, groupIds: [], requestMessage };
  const asked = { manual: true, connections: [connection] };
  if (found === undefined)
    return { ...desired, ...asked, interfaceName: "", addresses: [], securityGroups: [] };
  return { ...desired, ...asFound(found), ...(!isConnected(observed, found) && asked) };
}

/** Whether an endpoint is connected to our link service, by its alias or its id. */
function isConnected({ link }: Observed, found: PrivateEndpoint): boolean {
  const target = connectionOf(found)?.properties.privateLinkServiceId;
  return (
    target !== undefined &&
    [link.alias, link.id].some((each) => each !== undefined && sameId(each, target))
  );
}

function checkState({ link }: Observed, { id, found }: OwnEndpoint): Part<never> | undefined {
  const state = failedState(found);
  if (state === undefined) return undefined;
  const when = link.alias === undefined ? " when the link service is ready" : "";
  const message = `${failedMessage(nameOf(id), state)} · Postern updates it${when}`;
  return report({ reason: reasons.endpointCreationFailed, message });
}

function checkConnection(
  observed: Observed,
  found: PrivateEndpoint,
  addresses: readonly string[],
): Part<never> | undefined {
  const part = planApproval(found, approvalPolicy(observed, found));
  const [problem] = part?.problems ?? [];
  if (part !== undefined && problem !== undefined) {
    const { reason, message, progress } = problem;
    if (isReported(presentCondition(observed), problem)) return part;
    const type = progress ? "Normal" : "Warning";
    return { ...part, events: [{ reason, note: message, type }] };
  }
  if (addresses.length > 0) return undefined;
  const message = "the private endpoint is approved and has no address yet";
  return wait({ reason: reasons.addressPending, message }, waits.failureMs);
}

function checkAlias({ link }: Observed): EndpointPart | undefined {
  if (link.alias !== undefined) return undefined;
  return report({ reason: reasons.linkPending, message: "the link service has no alias yet" });
}

/** Create it, under the first name that is free. */
function planNew(observed: Observed): EndpointPart {
  const free = observed.endpoints.find(
    ({ observation }, at) => observation.state === "absent" && !(at === 0 && observed.nameReserved),
  );
  if (free === undefined)
    return report({ reason: reasons.ownedByAnother, message: foreignMessage(observed) });
  const { id } = free;
  const name = nameOf(id);
  if (name.length > longestEndpointName) {
    const message = `the private endpoint cannot be created · its name ${name} has ${name.length} characters and Azure allows ${longestEndpointName} · use a shorter name for the Service`;
    return report({ reason: reasons.nameTooLong, message });
  }
  const desired = desiredOf(observed, id, observed.link.alias ?? "");
  const why = `the private endpoint ${name} does not exist`;
  return planCreateEndpoint(desired, why, endpointPolicy(observed));
}

/**
 * Whether an endpoint without an owner tag is this object's: it has one of our names, our status names it, and HyperShift
 * created it, which writes no such tag, or we did, and `az … update --tags` removed it. Our connections have the name of
 * their endpoint.
 */
function isUntagged(observed: Observed, id: ResourceId, found: PrivateEndpoint): boolean {
  return (
    tagOf(found.tags, ownerTag) === undefined &&
    sameId(observed.status.privateEndpointID ?? "", id) &&
    endpointIds(observed.object, observed.self.clusterID).some((each) => sameId(each, id)) &&
    (isHyperShifts(found.tags, "private-endpoint") || connectionOf(found)?.name === nameOf(id))
  );
}

/** The endpoints of this object: by tag, of an object before it, or without a tag under our name. */
export function ownEndpoints(observed: Observed): OwnEndpoint[] {
  return observed.endpoints.flatMap(({ id, observation, left = false }) => {
    if (observation.state !== "exists") return [];
    const found = observation.resource;
    const isOwn = isOwned(found.tags, observed.self) || left || isUntagged(observed, id, found);
    return isOwn ? [{ id, found, left }] : [];
  });
}

function endpointTags(observed: Observed) {
  const { hostedCluster = "" } = observed.cluster ?? {};
  const tags = ownedTags(hostedCluster, "private-endpoint", owner(observed));
  return { tags, userTags: observed.choices.tags };
}

function endpointStatus({ status }: Observed): OwnStatus {
  const { privateEndpointID, privateEndpointIP } = status;
  return {
    ...(privateEndpointID && { privateEndpointID }),
    ...(privateEndpointIP && { privateEndpointIP }),
  };
}

function foreignMessage(observed: Observed): string {
  const owners = observed.endpoints.flatMap(({ id, observation }) => {
    if (observation.state !== "exists") return [];
    const is = ownership(observation.resource.tags, owner(observed));
    const foreignOwner = is.is === "another" ? is.described : "an unknown owner";
    return [`${nameOf(id)} belongs to ${foreignOwner}`];
  });
  return `the private endpoint cannot be created · ${owners.join(", ")} · remove or rename it, or use another resource group`;
}
