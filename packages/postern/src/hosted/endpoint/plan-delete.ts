import { claimsIn } from "@postern/core/claims.ts";
import type { PlannedCondition } from "@postern/core/conditions.ts";
import { nameOf, sameId } from "@postern/core/resource-id.ts";
import type { Plan } from "../../kube/feature.ts";
import { done, join, type Part, type Problem, waits } from "../../kube/part.ts";
import { tagsOf } from "../../private-dns/zone/observed.ts";
import { annotations, conditions } from "../names.ts";
import { externalLabel } from "./cluster/services.ts";
import { planDeleteZone, planStuck, planUnfinished } from "./dns/delete.ts";
import type { Observed } from "./observed.ts";
import { ourEndpoints } from "./private-endpoint/plan.ts";
import { reasons } from "./reasons.ts";
import { type EndpointStep, isFalse, type Verdict } from "./steps.ts";

/**
 * Undo the guest side. Everything begins as soon as Azure accepts it, and nothing waits for what is not related:
 *
 *   endpoint               at once, whatever becomes of the names
 *   names of this object   at once; not one by one where the whole zone goes
 *   links and zones        when no other link of the cluster needs them: our claim goes; with the last claim the link goes,
 *                          then the zone, unless somebody else has put something into it
 *   owner unknown          held while a zone has a claim that may be ours: it is said what to do
 *   our finalizer          when nothing is left
 */
export function undo(seen: Observed): Plan<EndpointStep> {
  if (!seen.object.held) return letGo;
  const why = whyOf(seen);
  const part = join<EndpointStep>([
    planDeleteEndpoints(seen),
    ...seen.zones.map((zone) => planDeleteZone(seen, zone, why)),
    seen.zonesFailed ? planStuck(seen.zonesFailed) : done,
    { steps: deleteServices(seen), problems: claimsOfUnknown(seen) },
  ]);
  const now = [
    ...(seen.noCredential ? [seen.noCredential.message] : []),
    ...part.problems.map(({ message }) => message),
  ];
  const problem = now[0] ?? failedBefore(seen);
  if (seen.abandoned && isAbandonmentTold(seen)) return letGo;
  if (seen.abandoned && problem !== undefined) return abandon(seen, problem);
  const steps = part.steps.map((step) => ({ ...step, failsAs: reasons.cleanupFailed }));
  const { requeueMs } = part;
  if (steps.length === 0 && requeueMs === undefined && now.length === 0) return release(seen);
  const failedMs =
    now.length > 0 ? (seen.noCredential?.requeueAfterMs ?? waits.failureMs) : undefined;
  const afterMs = requeueMs ?? failedMs;
  const unended = unendedIn(seen);
  const waitsFor =
    unended.length > 0
      ? ` · it waits for Azure to end what it does to ${unended.join(", ")} · look there if this takes long`
      : "";
  const message = `the guest side is being removed: ${why}${waitsFor}`;
  const going = isFalse(reasons.deleting, message);
  const stuck = now[0] === undefined ? going : isFalse(reasons.cleanupFailed, now[0]);
  const wayOut =
    problem === undefined
      ? going
      : isFalse(
          reasons.cleanupFailed,
          `the guest side cannot be removed · ${problem} · or leave it behind: annotate this object or its HostedCluster with ${annotations.abandon}: "true"`,
        );
  return {
    steps,
    conditions: told(wayOut, stuck, stuck),
    status: seen.status,
    requeue: afterMs === undefined ? "soon" : { afterMs },
  };
}

/** Without an owner nobody knows which claims are ours: a zone that may be would stay for ever, and nobody would hear of it. */
function claimsOfUnknown({ us, zones }: Observed): Problem[] {
  if (us.controlPlaneUid !== undefined) return [];
  return zones
    .filter((zone) =>
      claimsIn(tagsOf(zone)).some(
        ({ clusterID }) => us.clusterID === undefined || sameId(clusterID, us.clusterID),
      ),
    )
    .map(({ id }) => ({
      reason: reasons.cleanupFailed,
      message: `the zone ${nameOf(id)} may be this cluster's · the object has no HostedControlPlane as its owner any more, and none is alone beside it · put its ownerReferences back`,
    }));
}

const letGo: Plan<EndpointStep> = {
  steps: [],
  conditions: [],
  finalizer: "remove",
  requeue: "never",
};

function isAbandonmentTold({ conditions: now }: Observed): boolean {
  return now.some(
    ({ type, reason }) => type === conditions.available && reason === reasons.abandoned,
  );
}

/** What the last reconcile could not do. Every reconcile tries again and says so anew, so it is never an old story. */
function failedBefore({ conditions: now }: Observed): string | undefined {
  return now.find(
    ({ type, reason }) => type !== conditions.available && reason === reasons.cleanupFailed,
  )?.message;
}

/** The Services for external-dns go with the router's link: they lead to its endpoint. */
function deleteServices(seen: Observed): EndpointStep[] {
  return seen.services
    .filter(({ metadata }) => metadata.labels?.[externalLabel] === "true")
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map((found) => ({
      on: "service",
      do: "remove service",
      found,
      why: `the Service ${found.metadata.name} goes: ${whyOf(seen)}`,
      condition: conditions.dns,
    }));
}

function planDeleteEndpoints(seen: Observed): Part<EndpointStep> {
  if (seen.endpointsFailed) return planStuck(seen.endpointsFailed);
  const steps = ourEndpoints(seen).map(
    ({ id, found }): EndpointStep => ({
      on: "endpoint",
      do: "remove endpoint",
      id,
      ifMatch: found.etag,
      why: `the private endpoint ${nameOf(id)} goes: ${whyOf(seen)}`,
      event: "DeletingPrivateEndpoint",
      condition: conditions.endpoint,
    }),
  );
  return { ...planUnfinished(seen.endpoints), steps };
}

/** What Azure has not ended yet. */
function unendedIn({ endpoints, zones, endpointsFailed }: Observed): string[] {
  const all = [
    ...(endpointsFailed ? [] : endpoints.map((each) => ["private endpoint", each] as const)),
    ...zones.flatMap((zone) => [
      ["zone", zone] as const,
      ...zone.links.map((each) => ["zone link", each] as const),
    ]),
  ];
  return all
    .filter(([, { look }]) => look.state === "changing")
    .map(([kind, { id }]) => `${kind} ${nameOf(id)}`);
}

function release(seen: Observed): Plan<EndpointStep> {
  // An object that stays, because only its control plane goes, must not go on saying that all is well.
  const available = seen.conditions.find(({ type }) => type === conditions.available);
  if (available?.status === "True") {
    const gone = isFalse(reasons.deleting, `the guest side is removed: ${whyOf(seen)}`);
    return { steps: [], conditions: told(gone, gone, gone), requeue: { afterMs: 0 } };
  }
  return letGo;
}

/** Told first: nobody hears of it any more once the object is let go. */
function abandon(seen: Observed, problem: string): Plan<EndpointStep> {
  const message = `what is in the guest is left behind, as ${annotations.abandon} says · ${problem} · remove it by hand: endpoints and zones with the tag of this cluster in ${seen.object.spec.resourceGroupName}`;
  const left = isFalse(reasons.abandoned, message);
  return {
    steps: [],
    conditions: told(left, left, left),
    status: seen.status,
    events: [{ reason: reasons.abandoned, note: message, type: "Warning" }],
    requeue: { afterMs: 0 },
  };
}

function told(available: Verdict, endpoint: Verdict, dns: Verdict): PlannedCondition[] {
  return [
    { type: conditions.available, ...available },
    { type: conditions.endpoint, ...endpoint },
    { type: conditions.dns, ...dns },
  ];
}

function whyOf({ going, object }: Observed): string {
  switch (going) {
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
