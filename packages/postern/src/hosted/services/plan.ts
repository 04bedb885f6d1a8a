import type { PlannedCondition } from "@postern/core/conditions.ts";
import { isExplained } from "@postern/core/failure.ts";
import { isIp } from "@postern/core/ip.ts";
import type { AzurePlatform } from "@postern/core/kinds/azure-platform.ts";
import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { Service } from "@postern/core/kinds/core.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { type PrivateAccess, privateAccess } from "@postern/core/kinds/private-access.ts";
import { parentOf, parseResourceId, type ResourceId, sameId } from "@postern/core/resource-id.ts";
import type { Plan, Requeue } from "../../kube/feature.ts";
import { whyNamesUnusable } from "../dns-names.ts";
import {
  annotations,
  conditions,
  controlPlaneFinalizer,
  endpointFinalizer,
  internalLoadBalancerAnnotation,
  oauthServer,
  privateRouter,
} from "../names.ts";
import { desiredLink, differenceOf } from "./desired/link.ts";
import type { Observed } from "./observed.ts";
import { observeReasons } from "./reasons.ts";
import type { ObserveStep } from "./steps.ts";

interface Warning {
  reason: string;
  note: string;
  type: "Warning";
}

/** The plan for one Service: at most one step, and what is wrong. */
interface ServicePlan {
  step?: ObserveStep;
  problems?: readonly Warning[];
}

/**
 * Which link objects a control plane has: one for each Service that is reached by a private link and has an internal address.
 * A problem is a condition of the control plane too: events expire, and without a link object nothing else could report it.
 */
export function plan(observed: Observed): Plan<ObserveStep> {
  const { controlPlane, pause, links } = observed;
  if (controlPlane.metadata.deletionTimestamp !== undefined) {
    const found = links.some(({ metadata }) => metadata.finalizers?.includes(endpointFinalizer));
    const waiting = noSteps("never");
    return found ? waiting : { ...waiting, finalizer: "remove" };
  }
  if (observed.unverified !== undefined)
    return {
      ...noSteps("never"),
      ...reportProblems([warning(observeReasons.unverified, observed.unverified)]),
    };
  if (pause.paused)
    return noSteps(pause.untilMs === undefined ? "never" : { afterMs: pause.untilMs });
  const access = blockMissing(observed) ?? accessOf(controlPlane);
  if (access && "reason" in access) return { ...noSteps("never"), ...reportProblems([access]) };

  const names = access === undefined ? [] : desiredLinks(controlPlane);
  const steps: ObserveStep[] = unwantedLinks(observed, names);
  const events: Warning[] = [];
  if (access)
    for (const name of names) {
      const { step, problems = [] } = planService(name, observed, access);
      if (step) steps.push(step);
      events.push(...problems);
    }
  if (names.length === 0 && steps.length === 0 && links.length === 0 && hasFinalizer(controlPlane))
    return { ...noSteps("never"), finalizer: "remove" };
  // Somebody may have removed it; while there are links the credential is needed.
  const needsFinalizer =
    steps.some((step) => step.verb === "create") ||
    links.some((link) => names.includes(link.metadata.name) && isOwned(link, controlPlane));
  return {
    ...noSteps("drift"),
    steps,
    ...reportProblems(events),
    ...(needsFinalizer && { finalizer: "add" }),
  };
}

/** An event for each problem, and a condition for all of them: events expire. */
function reportProblems(
  problem: readonly Warning[],
): Pick<Plan<ObserveStep>, "events" | "conditions"> {
  const [first] = problem;
  if (first === undefined) return { events: [], conditions: [] };
  const message = problem.map(({ note }) => note).join(" · ");
  const condition: PlannedCondition = {
    type: conditions.available,
    status: "False",
    reason: first.reason,
    message,
  };
  return { events: problem, conditions: [condition] };
}

/** Without the block nobody knows whether the cluster should still have links: the existing ones are not deleted. */
function blockMissing({ controlPlane, links }: Observed): Warning | undefined {
  const { type, azure } = controlPlane.spec.platform;
  const ownsLinks = links.some((link) => isOwned(link, controlPlane));
  if (azure !== undefined || (type !== "Azure" && !ownsLinks)) return undefined;
  const note =
    "spec.platform.azure of the HostedControlPlane is missing · it says how the cluster is reached, so nothing is changed or deleted · restore it, or delete the cluster";
  return warning(observeReasons.azureMissing, note);
}

/** How the cluster is reached by a private link, undefined where it is not, or what contradicts itself. */
function accessOf(controlPlane: HostedControlPlane): PrivateAccess | Warning | undefined {
  const { azure } = controlPlane.spec.platform;
  if (azure === undefined) return undefined;
  try {
    const access = privateAccess(azure);
    return access.reachablePrivately && access.type === "PrivateLink" ? access : undefined;
  } catch (error) {
    if (!isExplained(error)) throw error;
    const { reason, message } = error.explain();
    return { type: "Warning", reason, note: message };
  }
}

function desiredLinks({ spec }: HostedControlPlane): string[] {
  const oauth = spec.services?.find(({ service }) => service === "OAuthServer");
  return oauth?.servicePublishingStrategy.type === "LoadBalancer"
    ? [privateRouter, oauthServer]
    : [privateRouter];
}

/** The link objects of Services that should have none any more. */
function unwantedLinks(
  { links, controlPlane }: Observed,
  desired: readonly string[],
): ObserveStep[] {
  return links
    .filter(({ metadata: { name } }) => [privateRouter, oauthServer].includes(name))
    .filter((link) => !desired.includes(link.metadata.name) && isOwned(link, controlPlane))
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map((link) => remove(link, "its Service needs no private link any more"));
}

/** What to do about one Service that should have a link. */
function planService(name: string, observed: Observed, access: PrivateAccess): ServicePlan {
  const { controlPlane, services, links } = observed;
  const azure = controlPlane.spec.platform.azure;
  const service = services.find(({ metadata }) => metadata.name === name);
  const address = service && addressOf(service, controlPlane);
  if (azure === undefined || address === undefined) return {};
  if (typeof address !== "string") return { problems: [address] };

  const given = endpointSubnetOf(observed, azure);
  const found = links.find(({ metadata }) => metadata.name === name);
  const desiredIn = (subnet: string) =>
    desiredLink(name, address, controlPlane, azure, access, subnet);
  if (found === undefined) {
    const subnet = firstSubnet(name, observed, azure, given);
    return typeof subnet === "string" ? { step: make(desiredIn(subnet)) } : { problems: [subnet] };
  }
  if (found.metadata.deletionTimestamp !== undefined) return {};
  if (isOwned(found, controlPlane)) {
    // Azure does not move an endpoint: only an annotation that names another subnet asks for that.
    const isUsable = typeof given === "string";
    const desired = desiredIn(isUsable ? given : found.spec.guestSubnetID);
    const { step, problems = [] } = planExisting(found, desired);
    const unusable = isUsable || given === undefined ? [] : [given];
    return { ...(step && { step }), problems: [...unusable, ...problems] };
  }
  if (isLeftOver(found, controlPlane))
    return { step: remove(found, "it belongs to an earlier control plane of this name") };
  const note = `AzurePrivateLinkService ${name} is not changed · it is not owned by this control plane · delete it; Postern recreates it`;
  return { problems: [warning(observeReasons.ownedByAnother, note)] };
}

/** The subnet for the endpoint of a link that does not exist yet, or why there can be no link. */
function firstSubnet(
  name: string,
  { controlPlane, poolSubnetID }: Observed,
  azure: AzurePlatform,
  given: ResourceId | Warning | undefined,
): string | Warning {
  if (given !== undefined && typeof given !== "string") return given;
  const subnet = given || azure.subnetID || poolSubnetID;
  if (subnet === undefined)
    return warning(
      observeReasons.subnetMissing,
      `no private link for ${name} · neither the control plane nor a NodePool names a subnet · set spec.platform.azure.subnetID, or create a NodePool`,
    );
  const unusable = whyNamesUnusable(controlPlane);
  return unusable === undefined
    ? subnet
    : warning(observeReasons.nameUnusable, `no private link for ${name} · ${unusable}`);
}

/** The subnet that the cluster names for its endpoint, undefined where it names none, or why it cannot be used. */
function endpointSubnetOf(
  { endpointSubnetID: text }: Observed,
  { vnetID }: AzurePlatform,
): ResourceId | Warning | undefined {
  if (text === undefined) return undefined;
  const refused = (why: string) =>
    warning(
      observeReasons.endpointSubnet,
      `the annotation ${annotations.endpointSubnet} cannot be used · ${why} · specify a subnet of the hosted cluster's network, or remove the annotation`,
    );
  try {
    const id = parseResourceId(text.trim(), "Microsoft.Network/virtualNetworks/subnets");
    return sameId(parentOf(id) ?? "", vnetID) ? id : refused("the subnet is in another network");
  } catch (error) {
    if (!isExplained(error)) throw error;
    return refused(error.message);
  }
}

function make(link: AzurePrivateLinkService): ObserveStep {
  return {
    verb: "create",
    do: "create AzurePrivateLinkService",
    name: link.metadata.name,
    object: link,
    why: `its Service has the address ${link.spec.loadBalancerIP}`,
    event: true,
    failsAs: observeReasons.failed,
  };
}

function remove(link: AzurePrivateLinkService, why: string): ObserveStep {
  return {
    verb: "delete",
    do: "delete AzurePrivateLinkService",
    name: link.metadata.name,
    object: link,
    why,
    event: true,
    failsAs: observeReasons.failed,
  };
}

function planExisting(
  found: AzurePrivateLinkService,
  desired: AzurePrivateLinkService,
): ServicePlan {
  const { name } = found.metadata;
  const { change, changed, fixed } = differenceOf(found, desired);
  const note = `AzurePrivateLinkService ${name} keeps its ${fixed.join(", ")} · they are immutable · restore the old values, or delete it; Postern recreates it`;
  return {
    ...(fixed.length > 0 && { problems: [warning(observeReasons.cannotChange, note)] }),
    ...(change && {
      step: {
        verb: "change",
        do: "update AzurePrivateLinkService",
        name,
        object: found,
        change,
        why: `${changed.join(", ")} changed`,
        event: true,
        failsAs: observeReasons.failed,
      },
    }),
  };
}

/** The address of a Service, undefined while it has none, or why it cannot have a link. */
function addressOf(
  service: Service,
  controlPlane: HostedControlPlane,
): string | Warning | undefined {
  const { metadata, status } = service;
  const { name } = metadata;
  // Its load balancer is about to be deleted with its address. The link feature deletes the link service meanwhile.
  if (metadata.deletionTimestamp !== undefined)
    return warning(
      observeReasons.serviceDeleting,
      `no private link for Service ${name} · it is being deleted · Postern creates the link again when a new Service ${name} has an address`,
    );
  const owned = metadata.ownerReferences?.some(
    ({ kind, uid }) => kind === "HostedControlPlane" && uid === controlPlane.metadata.uid,
  );
  if (!owned)
    return warning(
      observeReasons.serviceNotOwned,
      `no private link for Service ${name} · it has no owner reference to this control plane · let the control plane create it`,
    );
  if (metadata.annotations?.[internalLoadBalancerAnnotation] !== "true")
    return warning(
      observeReasons.serviceNotInternal,
      `no private link for Service ${name} · its load balancer is not internal · set the annotation ${internalLoadBalancerAnnotation}: "true"`,
    );
  const ingress = status?.loadBalancer?.ingress ?? [];
  const address = ingress.find(({ ip }) => ip !== undefined && isIp(ip))?.ip;
  if (address !== undefined || ingress.length === 0) return address;
  return warning(
    observeReasons.serviceHasNoIp,
    `no private link for Service ${name} · its load balancer has a name but no address · use a load balancer of Azure`,
  );
}

/** By the reference that the garbage collector uses; HyperShift sets the same. */
function isOwned(link: AzurePrivateLinkService, { metadata }: HostedControlPlane): boolean {
  return (
    link.metadata.ownerReferences?.some(
      ({ controller, uid }) => controller === true && uid === metadata.uid,
    ) ?? false
  );
}

/** Of a control plane that does not exist any more: the garbage collector deletes it, or we do where there is none. */
function isLeftOver(link: AzurePrivateLinkService, { metadata }: HostedControlPlane): boolean {
  const { ownerReferences = [] } = link.metadata;
  return ownerReferences.some(
    ({ kind, name, uid, controller }) =>
      controller === true &&
      kind === "HostedControlPlane" &&
      name === metadata.name &&
      uid !== metadata.uid,
  );
}

function hasFinalizer({ metadata }: HostedControlPlane): boolean {
  return metadata.finalizers?.includes(controlPlaneFinalizer) ?? false;
}

function warning(reason: string, note: string): Warning {
  return { type: "Warning", reason, note };
}

function noSteps(requeue: Requeue): Plan<ObserveStep> {
  return { steps: [], conditions: [], requeue };
}
