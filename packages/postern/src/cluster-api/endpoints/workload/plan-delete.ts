import type { Failure } from "@postern/core/failure.ts";
import { nameOf } from "@postern/core/resource-id.ts";
import type { Plan } from "../../../kube/feature.ts";
import { type Part, type Problem, requeueOf, retry, wait, waits } from "../../../kube/part.ts";
import { annotations, conditions } from "../../names.ts";
import { reasons } from "../claims/reasons.ts";
import type { Observed } from "./observed.ts";
import type { WorkloadStep } from "./steps.ts";

/** How long CAPZ has to delete an endpoint that is no longer in the spec. Upstream CAPZ never does. */
export const graceMs = 2 * 60_000;

/**
 * How long nothing must have been observed of a cluster that has links. A write of the management cluster, or of CAPZ, may be
 * under way that was planned before the deletion, and a list of Azure may be some seconds old.
 */
export const quietMs = 20_000;

const remedy = `annotate this AzureCluster with ${annotations.abandon}="true" to delete it anyway`;

/**
 * The finalizer stays until nothing on the management side leads to the cluster. `postern.io/abandon-endpoints: "true"` removes
 * it wherever it would wait for something that failed.
 */
export function planDelete(observed: Observed): Plan<WorkloadStep> {
  if (!observed.hasFinalizer) return { steps: [], conditions: [], requeue: "never" };
  return (
    checkManagement(observed) ??
    checkRefusal(observed) ??
    checkNothingObserved(observed) ??
    checkSpec(observed) ??
    checkReads(observed) ??
    planAzure(observed)
  );
}

function checkManagement(observed: Observed): Plan<WorkloadStep> | undefined {
  const { cluster, management, published } = observed;
  if (management !== undefined) return undefined;
  if (cluster.links.length === 0 && published.api === undefined) return removeFinalizer;
  return waitOrAbandon(observed, {
    reason: reasons.managementNotFound,
    message: `the endpoints to this cluster cannot be deleted · AzureCluster ${observed.managementKey} does not exist · correct --management-cluster-name, or ${remedy}`,
  });
}

function checkRefusal(observed: Observed): Plan<WorkloadStep> | undefined {
  const { management, refused } = observed;
  if (refused === undefined || management?.deleting) return undefined;
  // What leads into that resource group is owned by the other cluster.
  if (refused.reason === "ResourceGroupTaken") return removeFinalizer;
  return retryOrAbandon(observed, refused);
}

/** The endpoints of a management cluster that is being deleted are deleted with it. */
function checkNothingObserved({ management, remaining }: Observed) {
  return management?.deleting || remaining === undefined ? removeFinalizer : undefined;
}

function checkSpec(observed: Observed): Plan<WorkloadStep> | undefined {
  const { management, remaining } = observed;
  if (management === undefined || !remaining || remaining.inSpec.length === 0) return undefined;
  const names = remaining.inSpec.join(", ");
  if (management.paused)
    return waitOrAbandon(observed, {
      reason: reasons.managementPaused,
      message: `${names} cannot be removed · AzureCluster ${management.key} is paused · end the pause, or ${remedy}`,
    });
  if (remaining.inSpecMs >= graceMs)
    return waitOrAbandon(observed, {
      reason: reasons.managementNotWritten,
      message: `${names} is not removed from AzureCluster ${management.key} · its last write was rejected, or something adds it again · see the events of that AzureCluster, or ${remedy}`,
    });
  const message = `${names} is being removed from AzureCluster ${management.key}`;
  return planPart(deleting(message, graceMs - remaining.inSpecMs));
}

function checkReads(observed: Observed): Plan<WorkloadStep> | undefined {
  const failed = observed.remaining?.failed;
  return failed && retryOrAbandon(observed, failed);
}

/** What CAPZ or Postern created is deleted, once CAPZ had its time; what nobody owns is left. */
function planAzure(observed: Observed): Plan<WorkloadStep> {
  const { inAzure = [], cleanMs = 0 } = observed.remaining ?? {};
  const owned = inAzure.filter(
    ({ isOwned, observation }) => isOwned && observation.state !== "absent",
  );
  const foreign = inAzure.filter(
    ({ isOwned, observation }) => !isOwned && observation.state === "exists",
  );
  if (owned.length === 0 && foreign.length === 0) {
    if (cleanMs >= quietMs || observed.cluster.links.length === 0) return removeFinalizer;
    return planPart(deleting("no endpoint connects to this cluster any more", quietMs - cleanMs));
  }
  if (owned.length === 0)
    return reportThenRemove(observed, {
      reason: reasons.left,
      message: `${foreign.map(({ id }) => id).join(", ")} connects to this cluster and is not deleted · neither CAPZ nor Postern created it · delete it if it is not needed`,
    });
  const { reason: present, message = "Azure has refused to delete it" } = observed.condition ?? {};
  const hasFailed = present === reasons.deletionFailed;
  if (hasFailed && observed.abandoned) return reportThenRemove(observed, abandoned);
  const names = owned.map(({ id }) => nameOf(id)).join(", ");
  const waitFor = (ms: number) =>
    hasFailed
      ? wait({ reason: reasons.deletionFailed, message }, Math.min(ms, waits.changeMs))
      : deleting(`${names} is still in Azure · Postern deletes it if CAPZ does not`, ms);
  if (cleanMs < graceMs) return planPart(waitFor(graceMs - cleanMs));
  const changing = owned.flatMap(({ observation }) =>
    observation.state === "changing" ? [observation.retryAfterMs] : [],
  );
  const steps = owned.flatMap(({ id, observation }): WorkloadStep[] =>
    observation.state === "changing"
      ? []
      : [
          {
            do: "delete private endpoint",
            name: nameOf(id),
            verb: "delete",
            id,
            etag: observation.state === "exists" ? observation.resource.etag : undefined,
            why: "its cluster is being deleted, and CAPZ has not deleted it",
            event: true,
            failsAs: reasons.deletionFailed,
          },
        ],
  );
  return { ...planPart(waitFor(Math.min(waits.changeMs, ...changing))), steps };
}

const abandoned: Problem = {
  reason: reasons.abandoned,
  message: `endpoints of the management cluster may be orphaned · ${annotations.abandon} is set · check for them in Azure`,
};

const removeFinalizer: Plan<WorkloadStep> = {
  steps: [],
  conditions: [],
  finalizer: "remove",
  requeue: "never",
};

function deleting(message: string, requeueMs: number): Part<never> {
  const problem = { reason: reasons.remaining, message, progress: true } as const;
  return wait(problem, Math.min(requeueMs, waits.changeMs));
}

function planPart(part: Part<never>): Plan<WorkloadStep> {
  const planned = part.problems.map(({ reason, message, progress }) => ({
    type: conditions.links,
    status: "False" as const,
    reason,
    message,
    severity: progress ? ("Info" as const) : ("Error" as const),
  }));
  return { steps: [], conditions: planned, requeue: requeueOf(part) };
}

/** A problem that must be reported before the cluster is gone: in one reconcile it is, the next one removes the finalizer. */
function reportThenRemove({ condition }: Observed, problem: Problem): Plan<WorkloadStep> {
  const { reason, message: note } = problem;
  if (condition?.reason === reason || condition?.reason === abandoned.reason)
    return removeFinalizer;
  return { ...planPart(wait(problem, 0)), events: [{ reason, note, type: "Warning" }] };
}

function waitOrAbandon(observed: Observed, problem: Problem): Plan<WorkloadStep> {
  return orAbandon(observed, wait(problem, waits.changeMs));
}

function retryOrAbandon(observed: Observed, failure: Failure): Plan<WorkloadStep> {
  const message = `${failure.message} · or ${remedy}`;
  return orAbandon(observed, retry({ ...failure, message }, { retryMs: waits.changeMs }));
}

function orAbandon(observed: Observed, part: Part<never>): Plan<WorkloadStep> {
  return observed.abandoned ? reportThenRemove(observed, abandoned) : planPart(part);
}
