import type { PlannedCondition } from "@postern/core/conditions.ts";
import type { Plan, Requeue } from "../../kube/feature.ts";
import { conditionFor, join, type Part, type Problem, report } from "../../kube/part.ts";
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
  isPublished,
  planFailed,
  presentCondition,
  published,
  reportedSteps,
} from "./dns/report.ts";
import { shadowed } from "./dns/shadow.ts";
import { planWantedZone } from "./dns/zone.ts";
import type { Observed, OwnStatus, ZoneInRole } from "./observed.ts";
import { undo } from "./plan-delete.ts";
import { planEndpoint } from "./private-endpoint/plan.ts";
import { reasons } from "./reasons.ts";
import {
  type Part as EndpointPart,
  type EndpointStep,
  isFalse,
  rest,
  type Verdict,
} from "./steps.ts";

/**
 * Decide, do not act.
 *
 *   object or control plane   control plane  →
 *   going or gone                            undo the guest side, then let go (undo.ts)
 *   stays                     unknown        say that the object has no owner
 *   stays                     misnamed       say that the annotation does not name a cluster
 *   stays                     not verified   say why: it may have been written by anybody
 *   stays                     not allowed    say what the policy forbids
 *   stays                     not held       wait: `observe` holds it, so that its credential outlives what is made here
 *   stays                     held           endpoint (endpoint.ts), zones (zone.ts), Services (services.ts), all at once
 *
 *   AzurePrivateLinkServiceAvailable is True if all of these are, else it says what the first that is not says:
 *     AzurePLSCreated, for the object as it is now
 *     AzurePrivateEndpointAvailable: approved, with an address
 *     AzurePrivateDNSAvailable: zones, links and names as wanted
 *
 *   A paused cluster is looked at and told about, and not changed; what is going goes all the same.
 */
export function plan(seen: Observed): Plan<EndpointStep> {
  if (seen.going !== undefined) return undo(seen);
  const wait = whatIsMissing(seen);
  if (wait !== undefined)
    return { steps: [], conditions: all(wait, wait, wait), status: seen.status, requeue: "drift" };
  const endpoint = seen.endpointsFailed
    ? { ...unreadEndpoint(seen, seen.endpointsFailed), addresses: undefined }
    : planEndpoint(seen);
  const names = planNames(seen, endpoint.addresses);
  const services = planServices(seen, endpoint.addresses);
  const dns = join([names, services]);
  const endpointVerdict = endpoint.verdict ?? held(seen, conditions.endpoint);
  const dnsVerdict = conditionFor(conditions.dns, dns, presentCondition(seen), {
    reason: reasons.success,
    message: namesMessage(seen),
  });
  const waits = [endpoint.waitMs, dns.requeueMs].flatMap((each) => each ?? []);
  return paused(seen, {
    steps: [...endpoint.steps, ...dns.steps],
    conditions: all(available(seen, endpointVerdict, dnsVerdict), endpointVerdict, dnsVerdict),
    status: { ...endpoint.status, ...names.status },
    events: endpoint.events ?? [],
    finalizer: "add",
    requeue: waits.length > 0 ? { afterMs: Math.min(...waits) } : "drift",
  });
}

function whatIsMissing({ cluster, us }: Observed): Verdict | undefined {
  if (cluster === undefined)
    return isFalse(
      reasons.controlPlaneUnknown,
      "nothing is made in the guest · the object has no HostedControlPlane as its owner · it is made by Postern or HyperShift, not by hand",
    );
  if (cluster.misnamed)
    return isFalse(
      reasons.invalidAnnotation,
      `nothing is made in the guest · the annotation ${clusterAnnotation} is not <namespace>/<name> of a HostedCluster, and tags are made from it · correct it`,
    );
  if (cluster.unverified !== undefined) return isFalse(reasons.unverified, cluster.unverified);
  if (cluster.notAllowed !== undefined) return isFalse(reasons.notAllowed, cluster.notAllowed);
  if (us.clusterID === undefined)
    return isFalse(
      reasons.clusterIDMissing,
      "nothing is made in the guest · neither the HostedControlPlane nor the HostedCluster has spec.clusterID · set it",
    );
  if (!cluster.held)
    return isFalse(
      reasons.controlPlaneNotHeld,
      "nothing is made in the guest yet · the HostedControlPlane has no finalizer that keeps its credential · it is put there shortly",
    );
  return undefined;
}

function unreadEndpoint(
  seen: Observed,
  failure: NonNullable<Observed["endpointsFailed"]>,
): EndpointPart {
  const { privateEndpointID, privateEndpointIP } = seen.status;
  return rest(isFalse(reasons.endpointGetFailed, failure.message), {
    waitMs: failure.requeueAfterMs ?? 30_000,
    status: {
      ...(privateEndpointID && { privateEndpointID }),
      ...(privateEndpointIP && { privateEndpointIP }),
    },
  });
}

type NamesPart = Part<EndpointStep> & { status: OwnStatus };

/** All zones: those that are not wanted any more go first, because a network resolves a domain by one zone only. */
function planNames(seen: Observed, addresses: readonly string[] | undefined): NamesPart {
  const { choices, cluster, object } = seen;
  const dnsZoneName =
    choices.zones === "none" ? {} : { dnsZoneName: internalZoneName(cluster?.name ?? "") };
  const keep: OwnStatus = { ...zoneStatus(seen), ...dnsZoneName };
  if (choices.wrong !== undefined)
    return { ...report(problemOf(reasons.invalidAnnotation, choices.wrong)), status: keep };
  if (seen.zonesFailed !== undefined)
    return { ...planFailed(seen, seen.zonesFailed, reasons.zoneCreationFailed), status: keep };
  const unwanted = join(
    seen.zones.filter((zone) => !zone.wanted).map((zone) => planGiveUpZone(seen, zone)),
  );
  if (unwanted.problems.length > 0) return { ...unwanted, status: keep };
  const refusal = choices.zones === "managed" ? shadowed(seen) : undefined;
  const zones = seen.zones
    .filter(({ wanted, role }) => wanted && (role === "internal" || refusal === undefined))
    .map((zone) => planOneZone(seen, zone, addresses));
  const lacksDomain = object.name !== privateRouter && object.spec.baseDomain === undefined;
  const problems = [
    refusal,
    lacksDomain && choices.zones !== "none" ? noBaseDomain : undefined,
    choices.zones === "existing" ? missingId(seen) : undefined,
  ].filter((each) => each !== undefined);
  const status = Object.assign({}, ...zones.map((zone) => zone.status), dnsZoneName);
  return { ...join([...zones, { steps: [], problems }]), status };
}

function planOneZone(
  seen: Observed,
  zone: ZoneInRole,
  addresses: readonly string[] | undefined,
): NamesPart {
  const { usable, steps, ...part } = planWantedZone(seen, zone, addresses);
  // Of a zone that cannot be read, what was published stays published.
  const kept = zone.unread !== undefined && isPublished(seen, zone);
  return {
    ...part,
    steps: reportedSteps(steps, zone),
    status: usable || kept ? published(zone) : {},
  };
}

const noBaseDomain = problemOf(
  reasons.baseDomainMissing,
  "the OAuth server has no name in the guest · spec.baseDomain is missing · publish OAuthServer under a hostname oauth-<cluster>.<domain>, or set spec.dns.baseDomain",
);

function problemOf(reason: string, message: string): Problem {
  return { reason, message };
}

function missingId({ choices, object }: Observed): Problem | undefined {
  const lacks = (key: string) =>
    problemOf(
      reasons.zoneMissing,
      `the names are not written · ${annotations.zones} is existing and ${key} is missing · set it on the HostedCluster to the id of the zone`,
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

function namesMessage({ choices, cluster, object }: Observed): string {
  const message =
    choices.zones === "none"
      ? `names are left to others, as ${annotations.zones}: none says`
      : "names are written";
  if (object.name !== privateRouter || cluster?.public !== false) return message;
  const withheld = Object.values(cluster.withheld ?? {});
  return withheld.length === 0
    ? message
    : `${message}, but not for external-dns: ${withheld.join("; ")}`;
}

/** What a client in the guest's network can count on. */
function available(seen: Observed, endpoint: Verdict, dns: Verdict): Verdict {
  const { condition, current } = seen.link;
  if (condition === undefined || (condition.status === "True" && !current))
    return isFalse(reasons.linkPending, "the link service is not known to be ready");
  if (condition.status !== "True") return isFalse(condition.reason, condition.message);
  const missing = [endpoint, dns].find(({ status }) => status !== "True");
  if (missing !== undefined) return isFalse(missing.reason, missing.message);
  return { status: "True", reason: reasons.success, message: "reachable from the guest's network" };
}

/** The same without its steps, where the cluster is paused. */
function paused(seen: Observed, planned: Plan<EndpointStep>): Plan<EndpointStep> {
  if (!seen.pause.paused) return planned;
  const { finalizer: _, ...rest } = planned;
  const waits = new Set(planned.steps.map(({ condition }) => condition));
  const where = seen.cluster?.hostedClusterKey ?? seen.object.name;
  const message = `there is something to do and the cluster is paused · spec.pausedUntil of HostedCluster ${where} · clear it to go on`;
  const conditionsNow = planned.conditions.map((each) =>
    each.status !== "True" &&
    waits.size > 0 &&
    (waits.has(each.type) || each.type === conditions.available)
      ? { ...each, reason: reasons.paused, message }
      : each,
  );
  // What was not begun has no place in the status.
  const status = { ...seen.status };
  return {
    ...rest,
    steps: [],
    conditions: conditionsNow,
    status,
    requeue: untilResumed(seen, planned.requeue),
  };
}

function untilResumed({ pause }: Observed, requeue: Requeue): Requeue {
  const untilMs = pause.paused ? pause.untilMs : undefined;
  return untilMs === undefined || untilMs > 5 * 60_000 ? requeue : { afterMs: untilMs };
}

function held({ conditions: now }: Observed, type: string): Verdict {
  const found = now.find((each) => each.type === type);
  return found ?? isFalse(reasons.endpointCreating, "the private endpoint is being made");
}

function all(available: Verdict, endpoint: Verdict, dns: Verdict): PlannedCondition[] {
  const of = (type: string, { status, reason, message }: Verdict) => ({
    type,
    status,
    reason,
    message,
  });
  return [
    of(conditions.available, available),
    of(conditions.endpoint, endpoint),
    of(conditions.dns, dns),
  ];
}
