import { conditionOf, type PlannedCondition } from "@postern/core/conditions.ts";
import type { Failure } from "@postern/core/failure.ts";
import { ownerKey, ownerTag } from "@postern/core/ownership.ts";
import {
  lastSegment,
  nameOf,
  parentOf,
  parseResourceId,
  type ResourceId,
  sameId,
} from "@postern/core/resource-id.ts";
import type { PrivateLinkService } from "../../azure/gateways/private-link-services.ts";
import type { Plan, Requeue } from "../../kube/feature.ts";
import { act, fail, type Part, type Problem, requeueOf, wait, waits } from "../../kube/part.ts";
import { balancerFullMessage } from "../../private-link/link-service/balancer.ts";
import {
  planAdoptLinkService,
  planCreateLinkService,
  planExistingLinkService,
} from "../../private-link/link-service/plan.ts";
import { planDeleteLinkService } from "../../private-link/link-service/plan-delete.ts";
import type { Reservation } from "../../private-link/nat-subnets/reservations.ts";
import { planChanging } from "../../private-link/plan-resource.ts";
import { conditions } from "../names.ts";
import { longestName } from "./cluster/requirements.ts";
import {
  balancerCondition,
  balancerID,
  balancerProblem,
  serviceDeleting,
} from "./load-balancer/report.ts";
import { chooseNat, chooseNatDeletion } from "./nat/choose.ts";
import type { NatChoice } from "./nat/observed.ts";
import { planRecordSubnet } from "./nat/plan-record.ts";
import type { Observed, StatusFields, Stopped, Unread, Up } from "./observed.ts";
import { planDelete } from "./plan-delete.ts";
import { reasons } from "./reasons.ts";
import { desiredOf, linkServicePolicy } from "./service/desired.ts";
import type { LinkStep } from "./steps.ts";

export { reasons };

/**
 * What to do about one link service. While the load balancers cannot be listed, or a change disturbs nobody who is connected, a
 * condition that is True remains True. A link service that is replaced, or of another owner, is not in the status any more.
 */
export function plan(observed: Observed): Plan<LinkStep> {
  switch (observed.stage) {
    case "stopped":
      return planStopped(observed);
    case "unread":
      return planUnread(observed);
    case "down":
      return planDelete(observed, chooseNatDeletion(observed));
    case "up":
      return planUp(observed, chooseNat(observed));
  }
}

function planStopped({ subject, known }: Stopped): Plan<LinkStep> {
  const present = [...subject.conditions];
  const status = { ...subject.fields };
  if (known.is === "paused") {
    const { untilMs } = known.pause;
    const requeue: Requeue = untilMs === undefined ? "never" : { afterMs: untilMs };
    if (present.length > 0) return { steps: [], conditions: present, status, requeue };
    const message = "the HostedCluster is paused · nothing is changed until spec.pausedUntil ends";
    const paused = condition({ reason: reasons.paused, message }, "");
    return { steps: [], conditions: [paused], status, requeue };
  }
  const balancer = conditionOf(present, conditions.loadBalancer);
  return {
    steps: [],
    conditions: [...(balancer ? [balancer] : []), condition(known, "")],
    status,
    // Whatever can help is watched.
    requeue: "never",
  };
}

function planUnread({ subject, failure }: Unread): Plan<LinkStep> {
  const others = subject.conditions.filter(({ type }) => type !== conditions.link);
  const { message } = failure;
  return {
    steps: [],
    conditions: [...others, condition({ reason: reasons.error, message }, "")],
    // What was published may well be there still.
    status: { ...subject.fields },
    requeue: requeueAfter(planFailure(failure, reasons.error)),
  };
}

/** What is decided about the link service. */
interface LinkPart extends Part<LinkStep> {
  /** What is published of it beside what does not change. */
  status?: StatusFields;
  /** The message of a condition that is True. */
  ready?: string;
  /** Where it is not a time. */
  requeue?: Requeue;
}

/** Decide about a link that is desired, with the subnet that was chosen for it. */
export function planUp(observed: Up, nat: NatChoice): Plan<LinkStep> {
  const { service, subject } = observed;
  const part = decide(observed, nat);
  const { steps, events, ready = "" } = part;
  const [problem] = part.problems;
  const present = conditionOf(subject.conditions, conditions.link);
  const remainsTrue = problem?.harmless === true && present?.status === "True";
  const withdraws = withdrawing.some((reason) => reason === problem?.reason);
  // While it is not known what will be, the published fields do not change.
  const keeps = service.state !== "absent" && !withdraws;
  const { privateLinkServiceID, privateLinkServiceAlias } = subject.fields;
  return {
    steps,
    conditions: [balancerCondition(observed), remainsTrue ? present : condition(problem, ready)],
    status: {
      internalLoadBalancerID: balancerID(observed),
      ...(keeps && { privateLinkServiceID, privateLinkServiceAlias }),
      ...part.status,
    },
    ...(events && { events }),
    finalizer: "add",
    requeue: requeueAfter(part),
  };
}

/** The reasons with which a link service is not in the status any more. */
const withdrawing = [reasons.replacing, reasons.ownedByAnother, reasons.serviceDeleting];

function decide(observed: Up, nat: NatChoice): LinkPart {
  const { service, subject, frontend } = observed;
  switch (service.state) {
    case "failed": {
      const existed = subject.fields.privateLinkServiceID !== undefined;
      return planFailure(service.failure, existed ? reasons.updateFailed : reasons.creationFailed);
    }
    case "changing":
      if (frontend.is === "released") return wait(serviceDeleting(subject), service.retryAfterMs);
      return planChanging(observed.known.serviceName, service, linkServicePolicy(subject));
    case "exists":
      return decideThere(observed, service.resource);
    case "absent":
      return checkBalancer(observed) ?? checkRoom(observed) ?? decideAbsent(observed, nat);
  }
}

function decideThere(observed: Up, found: PrivateLinkService): LinkPart {
  const { known, subject, frontend, id, owner } = observed;
  const policy = linkServicePolicy(subject);
  const owned = ownerKey(known.clusterID, subject.uid);
  if (owner.is === "left") {
    const why = "the object that it was created for does not exist any more";
    const tags = { [ownerTag]: owned };
    return planAdoptLinkService({ id, found, tags, why }, policy);
  }
  if (owner.is === "another") {
    const message = `link service ${nameOf(id)} belongs to ${owner.described} · delete it, or set its tag postern_owner to ${owned}`;
    return { ...act([], { reason: reasons.ownedByAnother, message }), requeue: "drift" };
  }
  if (frontend.is === "released") return planRelease(observed, found);
  const status = { privateLinkServiceID: statusID(found, id) };
  const problem = checkBalancer(observed);
  if (problem !== undefined) {
    // It works as it did where only the list of load balancers is missing.
    const harmless = frontend.is === "failed" && ({ harmless: true } as const);
    return { ...problem, problems: problem.problems.map((e) => ({ ...e, ...harmless })), status };
  }
  const part = planExistingLinkService(found, desiredOf(observed, observed.natSubnetID), policy);
  const { natOfService: subnet } = observed;
  const reserves = subnet && reservationOf(observed, subnet);
  const recording = planRecordSubnet(observed, subnet, reserves);
  switch (part.problems[0]?.reason) {
    case undefined:
      return { ...planReady(observed, found, status), steps: recording };
    case reasons.replacing:
      return { ...part, steps: [...recording, ...part.steps] };
    case reasons.foreignEndpoints:
      return part;
    default:
      return { ...part, steps: [...part.steps, ...recording], status };
  }
}

/** Its Service is being deleted, and the load balancer of that cannot be deleted while the link service uses it. */
function planRelease(observed: Up, found: PrivateLinkService): LinkPart {
  const { id, subject, natOfService: subnet } = observed;
  const why = `Service ${subject.name} is being deleted, and its load balancer can only be deleted after the link service; the cluster cannot be reached until the next Service ${subject.name} has an address`;
  const part = planDeleteLinkService({ id, found, why }, linkServicePolicy(subject));
  if (part.problems[0]?.reason !== reasons.deleting) return part;
  // The subnet is used again for the next link service.
  const recording = planRecordSubnet(observed, subnet, subnet && reservationOf(observed, subnet));
  const problem = { ...serviceDeleting(subject), progress: true } as const;
  return { ...part, steps: [...recording, ...part.steps], problems: [problem] };
}

/** It is as it should be, and published with its alias. */
function planReady(
  { id, known: { warning } }: Up,
  { properties }: PrivateLinkService,
  status: StatusFields,
): LinkPart {
  const { alias = "" } = properties;
  const name = nameOf(id);
  if (alias === "") {
    const message = `waiting for Azure to assign an alias to link service ${name}`;
    return { ...act([], { reason: reasons.error, message }), status };
  }
  const message = `link service ${name} is ready${linkIdsIn(properties)}`;
  const warned = { reason: "PausedUntilUnreadable", note: warning ?? "", type: "Warning" } as const;
  return {
    ...act([]),
    ready: warning === undefined ? message : `${message}, but ${warning}`,
    status: { ...status, privateLinkServiceAlias: alias },
    events: [
      { reason: "PLSReady", note: `${message}, its alias is ${alias}` },
      ...(warning === undefined ? [] : [warned]),
    ],
  };
}

/** A message has room for so many connections; `postern tree` shows all. */
const mostShown = 5;

/** Which endpoint each link id of the PROXY protocol means. */
function linkIdsIn({
  enableProxyProtocol,
  privateEndpointConnections = [],
}: PrivateLinkService["properties"]): string {
  if (enableProxyProtocol !== true) return "";
  const known = privateEndpointConnections
    .flatMap(({ properties: { linkIdentifier, privateEndpoint } }) =>
      linkIdentifier === undefined
        ? []
        : [`${linkIdentifier} is ${lastSegment(privateEndpoint?.id ?? "")}`],
    )
    .sort();
  const more = known.length > mostShown ? ` and ${known.length - mostShown} more` : "";
  const shown = known.slice(0, mostShown).join(", ");
  return ` and sends the PROXY protocol${shown && `; link id ${shown}${more}`}`;
}

/** Why the link service cannot use its load balancer yet; the cloud provider creates or repairs it. */
function checkBalancer(observed: Up): LinkPart | undefined {
  const { frontend } = observed;
  if (frontend.is === "failed")
    return planFailure(frontend.failure, reasons.loadBalancerLookupFailed);
  const problem = balancerProblem(observed);
  return problem && wait({ reason: problem.reason, message: problem.message }, waits.failureMs);
}

/** Azure refuses one more link service, and says only that a limit is reached. */
function checkRoom({ isBalancerFull, frontend, subject }: Up): LinkPart | undefined {
  if (!isBalancerFull || frontend.is !== "found") return undefined;
  const balancer = nameOf(frontend.frontend.balancer);
  const remedy = `have the cloud provider spread Services over several load balancers (https://cloud-provider-azure.sigs.k8s.io/topics/multislb), then delete Service ${subject.name}: it is created again and gets another one`;
  const message = balancerFullMessage("the link service", balancer, remedy);
  return wait({ reason: reasons.loadBalancerFull, message }, waits.changeMs);
}

function decideAbsent(observed: Up, nat: NatChoice): LinkPart {
  const { subject } = observed;
  switch (nat.is) {
    case "failed":
      return planFailure(withScope(observed, nat.failure), reasons.natSubnetFailed);
    case "unfit":
      return wait({ reason: reasons.natSubnetUnfit, message: nat.message }, waits.changeMs);
    case "changing":
      return wait(creatingSubnet, nat.retryAfterMs);
    case "to be made":
      return planSubnet(observed, nat);
    case "not needed":
      return act([], { reason: reasons.creating, message: "" });
    case "exists": {
      const { subnet, isOwn, spare, capacity } = nat;
      const existed = subject.fields.privateLinkServiceID !== undefined;
      const why = existed ? "it was deleted" : "the cluster has none yet";
      const policy = linkServicePolicy(subject);
      const created = planCreateLinkService(desiredOf(observed, subnet), why, policy);
      const remedy = neededOn(observed, subnet);
      const part = {
        ...created,
        steps: remedy ? created.steps.map((step) => ({ ...step, remedy })) : created.steps,
      };
      const reserves = {
        ...reservationOf(observed, subnet),
        ...(capacity !== undefined && { capacity }),
      };
      const steps: LinkStep[] = isOwn
        ? [
            ...planRecordSubnet(observed, subnet, reserves),
            ...part.steps.map((step) => ({ ...step, reserves })),
          ]
        : [...part.steps];
      if (spare !== undefined)
        steps.push({
          ...spare,
          on: "subnet",
          do: "create NAT subnet",
          name: nameOf(spare.id),
          isSpare: true,
          why: `few addresses are left in ${nameOf(subnet)}`,
          event: true,
        });
      return { ...part, steps };
    }
  }
}

/** Which permissions a NAT subnet needs that the role in the link service's own resource group does not give. */
function neededOn({ id, natSubnetID }: Up, subnet: string): string | undefined {
  if (natSubnetID === undefined) return undefined;
  const network = parentOf(parseResourceId(subnet, "Microsoft.Network/virtualNetworks/subnets"));
  if (network === undefined || sameId(parentOf(network) ?? "", parentOf(id) ?? ""))
    return undefined;
  return `natSubnetID is in another resource group than the link service: the operator's identity needs Microsoft.Network/virtualNetworks/read, virtualNetworks/subnets/read and virtualNetworks/subnets/join/action at the scope ${network}`;
}

/** A refused read with the scope of the permission. */
function withScope(observed: Up, failure: Failure): Failure {
  const needed =
    failure.kind === "forbidden" ? neededOn(observed, observed.natSubnetID ?? "") : undefined;
  return needed ? { ...failure, message: `${failure.message} · ${needed}` } : failure;
}

/** The subnet is recorded first: after a crash its owner is known, and that it may be deleted. */
function planSubnet(observed: Up, { subnet }: Extract<NatChoice, { is: "to be made" }>): LinkPart {
  const name = nameOf(subnet.id);
  if (name.length > longestName) {
    const message = `the NAT subnet name ${name} is too long · Azure allows at most ${longestName} characters · use a shorter infraID, or share subnets`;
    return { ...act([], { reason: reasons.nameTooLong, message }), requeue: "never" };
  }
  // Whoever creates it has the first address.
  const createdIn = parentOf(subnet.id) as ResourceId;
  const reserves = { ...reservationOf(observed, subnet.id), createdIn };
  const recording = planRecordSubnet(observed, subnet.id, reserves);
  if (recording.length > 0) return act(recording, creatingSubnet);
  const step: LinkStep = {
    ...subnet,
    on: "subnet",
    do: "create NAT subnet",
    name,
    why: subnet.broken
      ? "it cannot be used as it is"
      : "no subnet for link services has an address left",
    event: true,
    failsAs: reasons.natSubnetFailed,
    reserves,
  };
  return act([step], creatingSubnet);
}

function reservationOf({ subject, known }: Up, subnet: ResourceId): Reservation {
  const { uid, namespace } = subject;
  return { link: { uid, namespace }, subnet, service: known.serviceName };
}

/** Azure may answer in another case than the schema of the status takes. */
function statusID({ id }: PrivateLinkService, desired: string): string {
  return parseResourceId(id ?? desired, "Microsoft.Network/privateLinkServices");
}

function planFailure(failure: Failure, reason: string): LinkPart {
  const part = fail(failure, reason);
  return failure.terminal === true ? { ...part, requeue: "never" } : part;
}

function requeueAfter(part: LinkPart): Requeue {
  if (part.requeue !== undefined) return part.requeue;
  return part.requeueMs === undefined && part.problems.length > 0 ? "soon" : requeueOf(part);
}

function condition(problem: Reported | undefined, ready: string): PlannedCondition {
  if (problem === undefined)
    return { type: conditions.link, status: "True", reason: reasons.success, message: ready };
  const { reason, message } = problem;
  return { type: conditions.link, status: "False", reason, message };
}

type Reported = Pick<Problem, "reason" | "message">;

const creatingSubnet: Problem = {
  reason: reasons.natSubnetCreating,
  message: "the NAT subnet is being created · Azure allows one write to a network at a time",
};
