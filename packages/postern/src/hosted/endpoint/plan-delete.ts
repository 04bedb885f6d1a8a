import { claimsIn } from "@postern/core/claims.ts";
import { idKey, nameOf, sameId } from "@postern/core/resource-id.ts";
import type { Plan } from "../../kube/feature.ts";
import { act, done, fail, join, type Part, type Problem, report, waits } from "../../kube/part.ts";
import { tagsOf } from "../../private-dns/zone/observed.ts";
import { planDeleteEndpoint } from "../../private-link/endpoint/plan.ts";
import { annotations, conditions } from "../names.ts";
import { externalLabel } from "./cluster/services.ts";
import { clusterGroup } from "./desired/desired.ts";
import { planDeleteZone, planStuck, planUnfinished } from "./dns/delete.ts";
import type { Observed } from "./observed.ts";
import { mayBeOfCluster, ownClaim } from "./ownership/owner.ts";
import { ownEndpoints } from "./private-endpoint/plan.ts";
import { deletionPolicy } from "./private-endpoint/policy.ts";
import { reasons } from "./reasons.ts";
import { conditionsFor } from "./report/conditions.ts";
import type { EndpointStep } from "./steps.ts";

/** Delete what is in the network of the hosted cluster, then remove the finalizer. The first check that applies decides. */
export function planDelete(observed: Observed): Plan<EndpointStep> {
  if (!observed.object.hasFinalizer) return removeFinalizer;
  const part = planCleanup(observed);
  return (
    checkAbandoned(observed, part) ?? checkFinished(observed, part) ?? reportCleanup(observed, part)
  );
}

const removeFinalizer: Plan<EndpointStep> = {
  steps: [],
  conditions: [],
  finalizer: "remove",
  requeue: "never",
};

/** Everything is deleted as soon as Azure accepts it, and nothing waits for what is not related. */
function planCleanup(observed: Observed): Part<EndpointStep> {
  const { noCredential, zones, zonesFailed } = observed;
  const why = whyDeleted(observed);
  const part = join<EndpointStep>([
    lastingFailure(observed),
    noCredential ? fail(noCredential, reasons.cleanupFailed) : done,
    planDeleteEndpoints(observed, why),
    ...zones.map((zone) => planDeleteZone(observed, zone, why)),
    zonesFailed ? planStuck(zonesFailed) : done,
    act(deleteServices(observed, why)),
    { steps: [], problems: unknownClaims(observed) },
  ]);
  return {
    ...part,
    steps: part.steps.map((step) => ({ ...step, failsAs: reasons.cleanupFailed })),
  };
}

/** A failure that should have passed by itself is reported when it lasts: nobody would know that the deletion does not end. */
const lastingMs = 15 * 60_000;

function lastingFailure({
  deletingMs,
  endpointsFailed,
  zonesFailed,
  zones,
}: Observed): Part<never> {
  if (deletingMs < lastingMs) return done;
  const failures = [endpointsFailed, zonesFailed, ...zones.map(({ unread }) => unread?.failure)];
  const lasting = failures.find((each) => each?.passing);
  if (lasting === undefined) return done;
  return report({ reason: reasons.cleanupFailed, message: lasting.message });
}

/**
 * The ids of what may remain in Azure: what the status names, and what was read and is owned. Resources that are known not to exist are
 * left out. Zones are listed with everything in them.
 */
function remaining(observed: Observed): string {
  const { status, endpoints, zones } = observed;
  const own = zones.filter(
    (zone) => zone.managed && ownClaim(tagsOf(zone), observed.self) !== undefined,
  );
  const ids = [
    status.privateEndpointID,
    status.privateDNSZoneID,
    status.baseDomainDNSZoneID,
    ...[...ownEndpoints(observed), ...own].map(({ id }) => id),
  ].filter((id) => id !== undefined);
  const absent = [...endpoints, ...zones].filter(
    ({ observation }) => observation.state === "absent",
  );
  const exists = (id: string) => !absent.some((each) => sameId(each.id, id));
  const all = [...new Map(ids.map((id) => [idKey(id), id])).values()].filter(exists);
  if (all.length > 0) return all.join(", ");
  return `whatever has the tag of this cluster in ${clusterGroup(observed.object.spec)}`;
}

/** Reported first, here and on the HostedCluster: once the finalizer is removed, nobody reads the conditions of the object any more. */
function checkAbandoned(
  observed: Observed,
  part: Part<EndpointStep>,
): Plan<EndpointStep> | undefined {
  if (!observed.abandoned) return undefined;
  const isReported = observed.conditions.some(
    ({ type, reason }) => type === conditions.available && reason === reasons.abandoned,
  );
  if (isReported) {
    if (observed.isOnCluster !== false) return removeFinalizer;
    const { conditions: present, status } = observed;
    return { steps: [], conditions: present, status, requeue: { afterMs: waits.progressMs } };
  }
  const problem = problemOf(observed, part);
  if (problem === undefined) return undefined;
  const message = `abandoned in Azure: ${remaining(observed)} · ${annotations.abandon} is set, and it cannot be deleted: ${problem} · delete it by hand, or with postern orphans`;
  const { abandoned: reason } = reasons;
  return {
    steps: [],
    // Nobody reads the network of the hosted cluster any more.
    conditions: conditionsFor({ reason, message }, { status: "Unknown", reason, message }),
    status: observed.status,
    events: [{ reason, note: message, type: "Warning", isLogged: true }],
    requeue: { afterMs: waits.progressMs },
  };
}

/** Nothing is left. An object that remains, because only its control plane is deleted, is not Available any more. */
function checkFinished(
  observed: Observed,
  { steps, problems, requeueMs }: Part<EndpointStep>,
): Plan<EndpointStep> | undefined {
  if (steps.length > 0 || problems.length > 0 || requeueMs !== undefined) return undefined;
  const available = observed.conditions.find(({ type }) => type === conditions.available);
  if (available?.status !== "True") return removeFinalizer;
  const message = `what was created for the hosted cluster is deleted: ${whyDeleted(observed)}`;
  return {
    steps: [],
    conditions: conditionsFor({ reason: reasons.deleting, message }),
    requeue: { afterMs: 0 },
  };
}

function reportCleanup(observed: Observed, part: Part<EndpointStep>): Plan<EndpointStep> {
  const [stuck] = part.problems;
  const afterMs = part.requeueMs ?? (stuck && waits.failureMs);
  const deleting = deletingProblem(observed);
  const problem = problemOf(observed, part);
  const available =
    problem === undefined
      ? deleting
      : {
          reason: reasons.cleanupFailed,
          message: `the deletion cannot finish · ${problem} · this remains in Azure: ${remaining(observed)} · to abandon it, annotate this object or its HostedCluster with ${annotations.abandon}: "true"`,
        };
  return {
    steps: part.steps,
    conditions: conditionsFor(
      available,
      stuck ? { ...stuck, reason: reasons.cleanupFailed } : deleting,
    ),
    status: observed.status,
    requeue: afterMs === undefined ? "soon" : { afterMs },
  };
}

/** What is in the way now, or was when the last reconcile tried: every reconcile tries again and reports it again. */
function problemOf(observed: Observed, { problems }: Part<EndpointStep>): string | undefined {
  const failed = observed.conditions.find(
    ({ type, reason }) => type !== conditions.available && reason === reasons.cleanupFailed,
  );
  return problems[0]?.message ?? failed?.message;
}

function deletingProblem(observed: Observed): Problem {
  const unfinished = unfinishedIn(observed);
  const waitsFor =
    unfinished.length > 0
      ? ` · waiting for Azure to finish its operation on ${unfinished.join(", ")} · check it in Azure if this takes long`
      : "";
  const message = `what was created for the hosted cluster is being deleted: ${whyDeleted(observed)}${waitsFor}`;
  return { reason: reasons.deleting, message };
}

/** Without an owner nobody knows which claims are this cluster's: a zone of it would be orphaned, and nobody would know. */
function unknownClaims({ self, zones }: Observed): Problem[] {
  if (self.controlPlaneUid !== undefined) return [];
  return zones
    .filter((zone) => claimsIn(tagsOf(zone)).some((claim) => mayBeOfCluster(claim, self)))
    .map(({ id }) => ({
      reason: reasons.cleanupFailed,
      message: `the zone ${nameOf(id)} may be this cluster's · the object has no HostedControlPlane as its owner any more, and there is not exactly one in its namespace · restore its ownerReferences`,
    }));
}

/** The Services for external-dns are deleted with the router's link: they point to its endpoint. */
function deleteServices({ services }: Observed, why: string): EndpointStep[] {
  return services
    .filter(({ metadata }) => metadata.labels?.[externalLabel] === "true")
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map((found) => ({
      on: "service",
      do: "delete Service",
      name: found.metadata.name,
      verb: "delete",
      found,
      why,
      condition: conditions.dns,
    }));
}

function planDeleteEndpoints(observed: Observed, why: string): Part<EndpointStep> {
  if (observed.endpointsFailed) return planStuck(observed.endpointsFailed);
  const policy = deletionPolicy(observed);
  const steps = ownEndpoints(observed).flatMap(
    ({ id, found }) => planDeleteEndpoint({ id, found, why }, policy).steps,
  );
  return { ...planUnfinished(observed.endpoints), steps };
}

/** The resources whose last operation Azure has not finished. */
function unfinishedIn({ endpoints, zones, endpointsFailed }: Observed): string[] {
  const all = [
    ...(endpointsFailed ? [] : endpoints.map((each) => ["private endpoint", each] as const)),
    ...zones.flatMap((zone) => [
      ["zone", zone] as const,
      ...zone.links.map((each) => ["zone link", each] as const),
    ]),
  ];
  return all
    .filter(([, { observation }]) => observation.state === "changing")
    .map(([kind, { id }]) => `${kind} ${nameOf(id)}`);
}

function whyDeleted({ deletion, object }: Observed): string {
  switch (deletion) {
    case "control plane":
      return "the control plane is being deleted";
    case "orphan":
      return "the control plane does not exist any more";
    case "object":
      return `${object.name} is being deleted`;
    default:
      return "it is not wanted any more";
  }
}
