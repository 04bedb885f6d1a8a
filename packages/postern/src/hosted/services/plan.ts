import type { PlannedCondition } from "@postern/core/conditions.ts";
import { isExplained } from "@postern/core/failure.ts";
import { isIp } from "@postern/core/ip.ts";
import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { Service } from "@postern/core/kinds/core.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { type PrivateAccess, privateAccess } from "@postern/core/kinds/private-access.ts";
import type { Plan, Requeue } from "../../kube/feature.ts";
import {
  conditions,
  controlPlaneFinalizer,
  endpointFinalizer,
  internalLoadBalancerAnnotation,
  oauthServer,
  privateRouter,
} from "../names.ts";
import { differenceOf, wantedLink } from "./desired/link.ts";
import type { Observed } from "./observed.ts";
import { observeReasons } from "./reasons.ts";
import type { ObserveStep } from "./steps.ts";

interface Said {
  reason: string;
  note: string;
  type: "Warning";
}

/** What is decided about one Service: at most one thing to do, and at most one to say. */
interface Decided {
  step?: ObserveStep;
  said?: Said;
}

/**
 * Which link objects a control plane has.
 *
 *     control plane                         Service               link object          →
 *     being deleted                         any                   endpoint's finalizer wait
 *     being deleted                         any                   none with it         release the control plane
 *     not verified                          any                   any                  nothing, said
 *     paused                                any                   any                  nothing
 *     fields that contradict each other     any                   any                  nothing, said
 *     not private, or by Swift              any                   ours                 delete; then release
 *     private, OAuth not by LoadBalancer    oauth-openshift       ours                 delete
 *     private                               absent, no address    any                  nothing: its change wakes us
 *     private                               another's, public,    any                  nothing, said
 *                                           a name as address
 *     private                               internal, address     absent               hold the control plane, make
 *     private                               internal, address     being deleted        wait; then make
 *     private                               internal, address     of an earlier one    delete; then make
 *     private                               internal, address     another's            nothing, said
 *     private                               internal, address     ours, differs        change what can be changed,
 *                                                                                      say what cannot
 *
 * What is said is a condition of the control plane too: events are forgotten, and without a link object nothing else
 * could tell why there is none.
 */
export function plan(seen: Observed): Plan<ObserveStep> {
  const { controlPlane, pause, links } = seen;
  if (controlPlane.metadata.deletionTimestamp !== undefined) {
    const held = links.some(({ metadata }) => metadata.finalizers?.includes(endpointFinalizer));
    const over = nothing("never");
    return held ? over : { ...over, finalizer: "remove" };
  }
  if (seen.unverified !== undefined)
    return {
      ...nothing("never"),
      ...telling([warning(observeReasons.unverified, seen.unverified)]),
    };
  if (pause.paused)
    return nothing(pause.untilMs === undefined ? "never" : { afterMs: pause.untilMs });
  const access = accessOf(controlPlane);
  if (access && "reason" in access) return { ...nothing("never"), ...telling([access]) };

  const names = access === undefined ? [] : linksWanted(controlPlane);
  const steps: ObserveStep[] = surplus(seen, names);
  const events: Said[] = [];
  if (access)
    for (const name of names) {
      const { step, said } = forService(name, seen, access);
      if (step) steps.push(step);
      if (said) events.push(said);
    }
  if (names.length === 0 && steps.length === 0 && links.length === 0 && hasFinalizer(controlPlane))
    return { ...nothing("never"), finalizer: "remove" };
  // Somebody may have taken it off; while there are links the guest's credential is needed.
  const holds =
    steps.some((step) => step.verb === "create") ||
    links.some((link) => names.includes(link.metadata.name) && isOwned(link, controlPlane));
  return {
    ...nothing("drift"),
    steps,
    ...telling(events),
    ...(holds && { finalizer: "add" }),
  };
}

/** Say it to those who watch, and to those who come later. */
function telling(said: readonly Said[]): Pick<Plan<ObserveStep>, "events" | "conditions"> {
  const [first] = said;
  if (first === undefined) return { events: [], conditions: [] };
  const message = said.map(({ note }) => note).join("; ");
  const told: PlannedCondition = {
    type: conditions.available,
    status: "False",
    reason: first.reason,
    message,
  };
  return { events: said, conditions: [told] };
}

/** How the cluster is reached by a private link, undefined where it is not, or what contradicts itself. */
function accessOf(controlPlane: HostedControlPlane): PrivateAccess | Said | undefined {
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

function linksWanted({ spec }: HostedControlPlane): string[] {
  const oauth = spec.services?.find(({ service }) => service === "OAuthServer");
  return oauth?.servicePublishingStrategy.type === "LoadBalancer"
    ? [privateRouter, oauthServer]
    : [privateRouter];
}

/** The link objects that were made for Services which have none any more. */
function surplus({ links, controlPlane }: Observed, wanted: readonly string[]): ObserveStep[] {
  return links
    .filter(({ metadata: { name } }) => [privateRouter, oauthServer].includes(name))
    .filter((link) => !wanted.includes(link.metadata.name) && isOwned(link, controlPlane))
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map((link) => remove(link, "is not reached by a private link any more"));
}

/** What to do about one Service that should have a link. */
function forService(name: string, seen: Observed, access: PrivateAccess): Decided {
  const { controlPlane, services, links, poolSubnetID } = seen;
  const azure = controlPlane.spec.platform.azure;
  const service = services.find(({ metadata }) => metadata.name === name);
  const address = service && addressOf(service, controlPlane);
  if (azure === undefined || address === undefined) return {};
  if (typeof address !== "string") return { said: address };

  const subnet = azure.subnetID || poolSubnetID;
  if (subnet === undefined) {
    const note = `no private link for ${name} · neither the control plane nor a NodePool names a subnet · set spec.platform.azure.subnetID`;
    return { said: warning(observeReasons.noGuestSubnet, note) };
  }
  const wanted = wantedLink(name, address, controlPlane, azure, access, subnet);
  const held = links.find(({ metadata }) => metadata.name === name);
  if (held === undefined) return { step: make(wanted) };
  if (held.metadata.deletionTimestamp !== undefined) return {};
  if (isOwned(held, controlPlane)) return compared(held, wanted);
  if (isLeftOver(held, controlPlane))
    return { step: remove(held, "belongs to an earlier control plane of this name") };
  const note = `AzurePrivateLinkService ${name} is left alone · its owner is not this control plane · delete it, and it is made anew`;
  return { said: warning(observeReasons.notOurs, note) };
}

function make(link: AzurePrivateLinkService): ObserveStep {
  return {
    verb: "create",
    do: "make link object",
    object: link,
    why: `${link.metadata.name} has the address ${link.spec.loadBalancerIP}`,
    event: observeReasons.made,
    failsAs: observeReasons.failed,
  };
}

function remove(link: AzurePrivateLinkService, why: string): ObserveStep {
  return {
    verb: "delete",
    do: "delete link object",
    object: link,
    why: `${link.metadata.name} ${why}`,
    event: observeReasons.deleted,
    failsAs: observeReasons.failed,
  };
}

function compared(held: AzurePrivateLinkService, wanted: AzurePrivateLinkService): Decided {
  const { name } = held.metadata;
  const { change, changed, fixed } = differenceOf(held, wanted);
  const note = `AzurePrivateLinkService ${name} keeps its ${fixed.join(", ")} · they cannot change once set · put back the old ones, or delete it, and it is made anew`;
  return {
    ...(fixed.length > 0 && { said: warning(observeReasons.cannotChange, note) }),
    ...(change && {
      step: {
        verb: "change",
        do: "change link object",
        object: held,
        change,
        why: `${changed.join(", ")} of ${name} changed`,
        event: observeReasons.changed,
        failsAs: observeReasons.failed,
      },
    }),
  };
}

/** The address of a Service, undefined while it has none, or why it cannot have a link. */
function addressOf(service: Service, controlPlane: HostedControlPlane): string | Said | undefined {
  const { metadata, status } = service;
  const { name } = metadata;
  const owned = metadata.ownerReferences?.some(
    ({ kind, uid }) => kind === "HostedControlPlane" && uid === controlPlane.metadata.uid,
  );
  if (!owned)
    return warning(
      observeReasons.serviceNotOwned,
      `no private link for Service ${name} · it has no owner reference to this control plane · let it be made by the control plane`,
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

/** The reference by which the garbage collector knows whose it is; HyperShift sets the same. */
function isOwned(link: AzurePrivateLinkService, { metadata }: HostedControlPlane): boolean {
  return (
    link.metadata.ownerReferences?.some(
      ({ controller, uid }) => controller === true && uid === metadata.uid,
    ) ?? false
  );
}

/** Of a control plane that is gone: the garbage collector would delete it, and where there is none we do. */
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

function warning(reason: string, note: string): Said {
  return { type: "Warning", reason, note };
}

function nothing(requeue: Requeue): Plan<ObserveStep> {
  return { steps: [], conditions: [], requeue };
}
