import { isReported, type PlannedCondition } from "@postern/core/conditions.ts";
import type { Plan, Requeue } from "../../kube/feature.ts";
import { conditionFor, join, type Part, type Problem, report, requeueOf } from "../../kube/part.ts";
import {
  annotations,
  clusterAnnotation,
  conditions,
  internalZoneName,
  privateRouter,
} from "../names.ts";
import { planServices } from "./cluster/services.ts";
import { planGiveUpZone } from "./dns/delete.ts";
import {
  presentCondition as dnsPresent,
  isPublished,
  planFailed,
  published,
  reportedSteps,
} from "./dns/report.ts";
import { planDesiredZone } from "./dns/zone.ts";
import type { Observed, OwnStatus, ZoneInRole } from "./observed.ts";
import { planDelete } from "./plan-delete.ts";
import { planEndpoint } from "./private-endpoint/plan.ts";
import { presentCondition as endpointPresent } from "./private-endpoint/policy.ts";
import { reasons } from "./reasons.ts";
import { conditionsFor, type Outcome } from "./report/conditions.ts";
import type { EndpointStep } from "./steps.ts";

/**
 * What to do for one AzurePrivateLinkService: endpoint, zones and Services begin at once. It is Available if its link service,
 * its endpoint and its DNS records are, and the link reaches the API server; else it reports the first that is not.
 */
export function plan(observed: Observed): Plan<EndpointStep> {
  if (observed.deletion !== undefined) return planDelete(observed);
  const problem = checkCluster(observed);
  if (problem !== undefined)
    return {
      steps: [],
      conditions: conditionsFor(problem),
      status: observed.status,
      requeue: "drift",
    };
  const endpoint = planEndpoint(observed);
  const names = planNames(observed, endpoint.addresses);
  const dns = join([names, planServices(observed, endpoint.addresses)]);
  const endpointCondition = conditionFor(conditions.endpoint, endpoint, endpointPresent(observed), {
    reason: reasons.success,
    message: connectedMessage(observed),
  });
  const dnsCondition = conditionFor(conditions.dns, dns, dnsPresent(observed), {
    reason: reasons.success,
    message: namesMessage(observed),
  });
  const available = availability(observed, endpointCondition, dnsCondition);
  const part = join<EndpointStep>([endpoint, dns]);
  return pausePlan(observed, {
    steps: part.steps,
    conditions: conditionsFor(available, endpointCondition, dnsCondition),
    status: { ...endpoint.status, ...names.status },
    events: [...(endpoint.events ?? []), ...tagEvents(observed, endpointCondition)],
    finalizer: "add",
    requeue: requeueOf(part),
  });
}

/** What is missing before anything may be created, the most important first. */
function checkCluster({ cluster, self }: Observed): Problem | undefined {
  if (cluster === undefined)
    return problemOf(
      reasons.controlPlaneUnknown,
      "nothing is created for the hosted cluster · the object has no HostedControlPlane as its owner · let Postern or HyperShift create it",
    );
  if (cluster.misnamed)
    return problemOf(
      reasons.invalidAnnotation,
      `nothing is created for the hosted cluster · the annotation ${clusterAnnotation} is not <namespace>/<name> of a HostedCluster, and tags are derived from it · correct it`,
    );
  if (cluster.unverified !== undefined) return problemOf(reasons.unverified, cluster.unverified);
  if (cluster.notAllowed !== undefined) return problemOf(reasons.notAllowed, cluster.notAllowed);
  if (self.clusterID === undefined)
    return problemOf(
      reasons.clusterIDMissing,
      "nothing is created for the hosted cluster · neither the HostedControlPlane nor the HostedCluster has spec.clusterID · set it",
    );
  if (!cluster.hasFinalizer)
    return problemOf(
      reasons.finalizerMissing,
      "nothing is created for the hosted cluster yet · the HostedControlPlane has no finalizer that keeps its credential · Postern adds it shortly",
    );
  return undefined;
}

type NamesPart = Part<EndpointStep> & { status: OwnStatus };

/** All zones. Those that are not desired any more are given up first, because a network resolves a domain by one zone only. */
function planNames(observed: Observed, addresses: readonly string[] | undefined): NamesPart {
  const { choices, cluster, object } = observed;
  const dnsZoneName =
    choices.zones === "none" ? {} : { dnsZoneName: internalZoneName(cluster?.name ?? "") };
  const keep: OwnStatus = { ...zoneStatus(observed), ...dnsZoneName };
  if (choices.wrong !== undefined)
    return { ...report(problemOf(reasons.invalidAnnotation, choices.wrong)), status: keep };
  if (observed.zonesFailed !== undefined)
    return {
      ...planFailed(observed, observed.zonesFailed, reasons.zoneCreationFailed),
      status: keep,
    };
  const unwanted = join(
    observed.zones.filter((zone) => !zone.desired).map((zone) => planGiveUpZone(observed, zone)),
  );
  if (unwanted.problems.length > 0) return { ...unwanted, status: keep };
  const zones = observed.zones
    .filter(({ desired }) => desired)
    .map((zone) => planOneZone(observed, zone, addresses));
  const lacksDomain = object.name !== privateRouter && object.spec.baseDomain === undefined;
  const problems = [
    lacksDomain && choices.zones !== "none" ? noBaseDomain : undefined,
    choices.zones === "existing" ? missingId(observed) : undefined,
  ].filter((each) => each !== undefined);
  const status = Object.assign({}, ...zones.map((zone) => zone.status), dnsZoneName);
  return { ...join([...zones, { steps: [], problems }]), status };
}

function planOneZone(
  observed: Observed,
  zone: ZoneInRole,
  addresses: readonly string[] | undefined,
): NamesPart {
  const { usable, steps, ...part } = planDesiredZone(observed, zone, addresses);
  // Of a zone that cannot be read, the published status is not removed.
  const isRetained = zone.unread !== undefined && isPublished(observed, zone);
  return {
    ...part,
    steps: reportedSteps(steps, zone),
    status: usable || isRetained ? published(observed, zone) : {},
  };
}

const noBaseDomain = problemOf(
  reasons.baseDomainMissing,
  "the OAuth server has no name in the network of the hosted cluster · spec.baseDomain is missing · publish OAuthServer under a hostname oauth-<cluster>.<domain>, or set spec.dns.baseDomain",
);

function problemOf(reason: string, message: string): Problem {
  return { reason, message };
}

function missingId({ choices, object }: Observed): Problem | undefined {
  const lacks = (key: string) =>
    problemOf(
      reasons.zoneMissing,
      `DNS records are not written · ${annotations.zones} is existing and ${key} is missing · set it on the HostedCluster to the id of the zone`,
    );
  if (object.name === privateRouter && choices.internalZone === undefined)
    return lacks(annotations.internalZone);
  if (object.spec.baseDomain !== undefined && choices.baseZone === undefined)
    return lacks(annotations.baseZone);
  return undefined;
}

function zoneStatus({ status }: Observed): OwnStatus {
  const { privateDNSZoneID, baseDomainDNSZoneID } = status;
  return {
    ...(privateDNSZoneID && { privateDNSZoneID }),
    ...(baseDomainDNSZoneID && { baseDomainDNSZoneID }),
  };
}

function connectedMessage({ choices: { wrongTags } }: Observed): string {
  return wrongTags === undefined ? "connected" : `connected, but ${wrongTags}`;
}

/** Tags that are not written stop nothing: the condition and an event say so when they become wrong. */
function tagEvents(observed: Observed, planned: PlannedCondition): Plan["events"] & object {
  const { wrongTags: note } = observed.choices;
  if (note === undefined || planned.status !== "True") return [];
  if (isReported(endpointPresent(observed), planned)) return [];
  return [{ reason: reasons.invalidAnnotation, note, type: "Warning" }];
}

function namesMessage({ choices, cluster, object }: Observed): string {
  const message =
    choices.zones === "none"
      ? `Postern writes no DNS records: ${annotations.zones} is none`
      : "DNS records are written";
  if (object.name !== privateRouter || cluster?.public !== false) return message;
  const withheld = Object.values(cluster.withheld ?? {});
  return withheld.length === 0
    ? message
    : `${message}, but not for external-dns: ${withheld.join("; ")}`;
}

/** What a client in the network of the hosted cluster can count on. */
function availability(
  { link: { condition, current }, object, cluster, choices }: Observed,
  endpoint: PlannedCondition,
  dns: PlannedCondition,
): Outcome {
  if (condition === undefined || (condition.status === "True" && !current))
    return problemOf(reasons.linkPending, "the link service is not known to be ready");
  const unavailable = [condition, endpoint, dns].find(({ status }) => status !== "True");
  if (unavailable !== undefined) return problemOf(unavailable.reason, unavailable.message);
  // The link of the OAuth server points to nothing else.
  if (object.name === privateRouter && cluster?.apiServerProblem !== undefined)
    return cluster.apiServerProblem;
  return {
    status: "True",
    reason: reasons.success,
    message: choices.skipsOwnNetwork
      ? `reachable from the network of the hosted cluster, where others resolve its names: ${annotations.ownNetwork} is unlinked`
      : "reachable from the network of the hosted cluster",
  };
}

/** The same without its steps, where the cluster is paused. */
function pausePlan(observed: Observed, planned: Plan<EndpointStep>): Plan<EndpointStep> {
  if (!observed.pause.paused) return planned;
  const { finalizer: _, ...rest } = planned;
  const pending = new Set(planned.steps.map(({ condition }) => condition));
  if (pending.size > 0) pending.add(conditions.available);
  const where = observed.cluster?.hostedClusterKey ?? observed.object.name;
  const message = `changes are pending, but the cluster is paused · spec.pausedUntil of HostedCluster ${where} is set · clear it to continue`;
  return {
    ...rest,
    steps: [],
    conditions: planned.conditions.map((each) =>
      each.status !== "True" && pending.has(each.type)
        ? { ...each, reason: reasons.paused, message }
        : each,
    ),
    // What was not begun has no place in the status.
    status: { ...observed.status },
    requeue: untilResumed(observed, planned.requeue),
  };
}

function untilResumed({ pause }: Observed, requeue: Requeue): Requeue {
  const untilMs = pause.paused ? pause.untilMs : undefined;
  return untilMs === undefined || untilMs > 5 * 60_000 ? requeue : { afterMs: untilMs };
}
