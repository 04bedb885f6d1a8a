import { nameOf } from "@postern/core/resource-id.ts";
import type { Plan } from "../../../kube/feature.ts";
import { annotations, conditions } from "../../names.ts";
import { reasons } from "../claims/reasons.ts";
import { isFalse } from "./directions/reach.ts";
import { minuteMs, type Observed, type Verdict } from "./observed.ts";
import type { WorkloadStep } from "./steps.ts";

/** So long CAPZ has to delete an endpoint that left the spec. A stock one never does. */
export const graceMs = 2 * 60_000;

/**
 * So long nothing must have been seen of a cluster that has links. A write of the management cluster, or CAPZ, may be under
 * way with what was so before the deletion, and a list of Azure may be some seconds old.
 */
export const quietMs = 20_000;

const remedy = `annotate this AzureCluster with ${annotations.abandon}="true" to let it go all the same`;

/**
 * How a workload cluster goes. The finalizer stays until nothing on the management side leads to it:
 *
 *   management cluster  in its spec  in Azure            →
 *   missing             -            -                   say so and how to get out; go at once where there were no links
 *   being deleted       -            -                   go: its endpoints go with it
 *   there, and its group is another namespace's          go: what leads there is the other cluster's
 *   there, and the policy forbids it                     say so and how to get out
 *   there               some, < 2 min                    wait: the next write of the management cluster takes them out
 *   there               some, longer                     say that it is not written, and how to get out
 *   there               none         cannot be seen      say so and how to get out; a public cluster without links never had any
 *   there               none         some, for < 2 min   wait: CAPZ may delete them
 *   there               none         some, for longer    delete what CAPZ or we made; what nobody marked is left
 *   there               none         none, for < 20 s    wait: something may be under way
 *   there               none         none                go
 *
 * `postern.io/abandon-endpoints: "true"` lets it go wherever it would wait for something that has failed.
 */
export function planDelete(observed: Observed): Plan<WorkloadStep> {
  const { cluster, management, remaining } = observed;
  if (!observed.hasFinalizer) return { steps: [], conditions: [], requeue: "never" };
  if (management === undefined) {
    if (cluster.links.length === 0 && observed.published.api === undefined) return go;
    return stuck(
      observed,
      isFalse(
        reasons.managementNotFound,
        `the endpoints to this cluster cannot be removed · AzureCluster ${observed.managementKey} does not exist · correct --management-cluster-name, or ${remedy}`,
      ),
    );
  }
  if (observed.refused !== undefined && !management.deleting) {
    const { reason, message, requeueAfterMs } = observed.refused;
    // What leads into that group is the other cluster's.
    if (reason === "ResourceGroupTaken") return go;
    return stuck(observed, isFalse(reason, `${message} · or ${remedy}`), requeueAfterMs);
  }
  if (management.deleting || remaining === undefined) return go;
  if (remaining.inSpec.length > 0) {
    const names = remaining.inSpec.join(", ");
    if (!management.paused && remaining.inSpecMs < graceMs)
      return wait(
        isFalse(reasons.remaining, `${names} is being taken out of AzureCluster ${management.key}`),
        Math.min(minuteMs, graceMs - remaining.inSpecMs),
      );
    if (!management.paused)
      return stuck(
        observed,
        isFalse(
          reasons.managementNotWritten,
          `${names} is not taken out of AzureCluster ${management.key} · its last write was refused, or something puts it back · the events of that AzureCluster say why; or ${remedy}`,
        ),
      );
    return stuck(
      observed,
      isFalse(
        reasons.managementPaused,
        `${names} cannot be taken out · AzureCluster ${management.key} is paused · end the pause, or ${remedy}`,
      ),
    );
  }
  if (remaining.failed !== undefined) {
    const { reason, message, requeueAfterMs } = remaining.failed;
    return stuck(observed, isFalse(reason, `${message} · or ${remedy}`), requeueAfterMs);
  }
  return fromAzure(observed);
}

function fromAzure(observed: Observed): Plan<WorkloadStep> {
  const { inAzure = [], cleanMs = 0 } = observed.remaining ?? {};
  const ours = inAzure.filter(({ isOwned, look }) => isOwned && look.state !== "absent");
  const left = inAzure.filter(({ isOwned, look }) => !isOwned && look.state === "there");
  if (ours.length === 0 && left.length === 0) {
    if (cleanMs >= quietMs || observed.cluster.links.length === 0) return go;
    const verdict = isFalse(reasons.remaining, "nothing leads to this cluster any more");
    return wait(verdict, quietMs - cleanMs);
  }
  if (ours.length === 0)
    return lastWord(
      observed,
      isFalse(
        reasons.left,
        `${left.map(({ id }) => id).join(", ")} leads to this cluster and is left · neither CAPZ nor Postern made it · delete it by hand if nobody needs it`,
      ),
    );
  const { reason: reported, message = "Azure has refused to delete it" } = observed.condition ?? {};
  const failed = reported === reasons.deletionFailed;
  if (failed && observed.abandoned) return lastWord(observed, abandonedVerdict);
  const names = ours.map(({ id }) => nameOf(id)).join(", ");
  const verdict: Verdict = failed
    ? isFalse(reasons.deletionFailed, message)
    : isFalse(reasons.remaining, `${names} is still in Azure · it is deleted when CAPZ does not`);
  if (cleanMs < graceMs) return wait(verdict, Math.min(graceMs - cleanMs, minuteMs));
  const waits = ours.flatMap(({ look }) => (look.state === "changing" ? [look.retryAfterMs] : []));
  const steps = ours.flatMap(({ id, look }): WorkloadStep[] =>
    look.state === "changing"
      ? []
      : [
          {
            do: "delete endpoint",
            id,
            etag: look.state === "there" ? look.resource.etag : undefined,
            why: `${nameOf(id)} leads to a cluster that is being deleted, and CAPZ has left it`,
            event: reasons.deletingEndpoint,
            failsAs: reasons.deletionFailed,
          },
        ],
  );
  return { ...wait(verdict, Math.min(minuteMs, ...waits)), steps };
}

const abandonedVerdict = isFalse(
  reasons.abandoned,
  `endpoints of the management cluster may be left · ${annotations.abandon} is set · look for them by hand`,
);

const go: Plan<WorkloadStep> = {
  steps: [],
  conditions: [],
  finalizer: "remove",
  requeue: "never",
};

function wait(verdict: Verdict, afterMs: number): Plan<WorkloadStep> {
  const severity = verdict.reason === reasons.remaining ? "Info" : "Error";
  const condition = { type: conditions.links, ...verdict, severity } as const;
  return { steps: [], conditions: [condition], requeue: { afterMs } };
}

/** Something that people must hear of before the cluster goes: it is told in one reconcile, and gone in the next. */
function lastWord(observed: Observed, verdict: Verdict): Plan<WorkloadStep> {
  const reported = observed.condition?.reason;
  if (reported === verdict.reason || reported === abandonedVerdict.reason) return go;
  const events = [{ reason: verdict.reason, note: verdict.message, type: "Warning" as const }];
  return { ...wait(verdict, 0), events };
}

function stuck(observed: Observed, verdict: Verdict, afterMs = minuteMs): Plan<WorkloadStep> {
  return observed.abandoned ? lastWord(observed, abandonedVerdict) : wait(verdict, afterMs);
}
