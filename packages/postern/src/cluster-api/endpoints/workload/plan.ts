import type { PlannedCondition } from "@postern/core/conditions.ts";
import type { Failure } from "@postern/core/failure.ts";
import type { Plan } from "../../../kube/feature.ts";
import { annotations, conditions } from "../../names.ts";
import { reasons } from "../claims/reasons.ts";
import { isFalse } from "./directions/reach.ts";
import { type ManagementSide, planManagementSide } from "./directions/to-management.ts";
import { planApiSide } from "./directions/to-workload.ts";
import { minuteMs, type Observed, type Side, type Verdict } from "./observed.ts";
import { planDelete } from "./plan-delete.ts";
import type { WorkloadStep } from "./steps.ts";

/**
 * What to do about a workload cluster. Neither side waits for the other:
 *
 *   it is                        management cluster  →
 *   the management cluster                           nothing
 *   paused                                           nothing, also while it is being deleted
 *   being deleted                                    leave (plan-delete.ts)
 *   alive                        missing             say so
 *   alive, refused                                   say so; nothing is written
 *   alive, public                public              only the finalizer
 *   alive, private               public              management → workload (directions/to-workload.ts)
 *   alive, public                private             workload → management (directions/to-management.ts)
 *   alive, private               private             both
 *
 * GSPrivateLinksReady is True when every side that is asked for is connected; it has the reason of what is missing first.
 */
export function plan(observed: Observed): Plan<WorkloadStep> {
  if (observed.isManagement || observed.cluster.paused)
    return { steps: [], conditions: hasFinalizer(observed), requeue: "never" };
  if (observed.cluster.deleting) return planDelete(observed);
  if (observed.management === undefined) {
    const verdict = isFalse(
      reasons.managementNotFound,
      `nothing can be connected · AzureCluster ${observed.managementKey} does not exist · create it, or correct --management-cluster-name and --management-cluster-namespace`,
    );
    return { steps: [], conditions: [conditionOf(verdict)], requeue: "drift" };
  }
  if (observed.refused !== undefined) return refusal(observed.refused);
  const api = planApiSide(observed);
  const management = planManagementSide(observed);
  const verdict = together(api, management);
  const waits = [api, management].flatMap(({ waitMs }) => waitMs ?? []);
  return {
    steps: change(observed, api, management),
    conditions: verdict === undefined ? [] : [conditionOf(verdict)],
    events: [...(api.events ?? []), ...warnings(verdict)],
    finalizer: "add",
    requeue: waits.length > 0 ? { afterMs: Math.min(...waits) } : "drift",
  };
}

function refusal({ reason, message, requeueAfterMs }: Failure): Plan<WorkloadStep> {
  const events = [{ reason, note: message, type: "Warning" as const }];
  return {
    steps: [],
    conditions: [conditionOf(isFalse(reason, message))],
    events,
    requeue: { afterMs: requeueAfterMs ?? minuteMs },
  };
}

function conditionOf(verdict: Verdict): PlannedCondition {
  const waits = verdict.status === "False" && byItself.includes(verdict.reason);
  return { type: conditions.links, ...verdict, ...(waits && { severity: "Info" }) };
}

/** What a little time puts right. */
const byItself: readonly string[] = [
  reasons.linksNotReady,
  reasons.endpointPending,
  reasons.endpointNotFound,
  reasons.interfaceNotFound,
  reasons.addressNotFound,
];

/** The condition as it is, which may say less than ours do: what we do not decide about we do not change either. */
function hasFinalizer({ condition }: Observed): PlannedCondition[] {
  return condition === undefined ? [] : [{ ...condition } as PlannedCondition];
}

/** What only a person can put right is told by an event too. */
const needsAction: readonly string[] = [
  reasons.balancerMissing,
  reasons.unknownBalancer,
  reasons.subnetsNotSet,
  reasons.idProblem,
  reasons.invalidLinks,
  reasons.cannotConnect,
  reasons.nameTaken,
  reasons.anotherTenant,
  reasons.notApproved,
  reasons.endpointElsewhere,
];

function together(...sides: readonly Side[]): Verdict | undefined {
  const said = sides.flatMap(({ verdict }) => verdict ?? []);
  const allWrong = said.filter(({ status }) => status === "False");
  // What nobody puts right by waiting goes before what comes by itself.
  const wrong = allWrong.find(({ reason }) => needsAction.includes(reason)) ?? allWrong[0];
  if (wrong !== undefined || said.length < 2) return wrong ?? said[0];
  const message = said.map((each) => each.message).join("; ");
  return { status: "True", reason: reasons.connected, message };
}

function warnings(verdict: Verdict | undefined) {
  if (verdict === undefined || !needsAction.includes(verdict.reason)) return [];
  return [{ reason: verdict.reason, note: verdict.message, type: "Warning" as const }];
}

/** Endpoints and annotations of the cluster itself, in one step: two would write one object at the same time. */
function change(observed: Observed, api: Side, management: ManagementSide): WorkloadStep[] {
  const { cluster, published } = observed;
  const addresses: Record<string, string | null> = {};
  const set = (key: string, was: string | undefined, address: Side["address"]) => {
    if (address !== "keep" && was !== address) addresses[key] = address ?? null;
  };
  set(annotations.apiServerAddress, published.api, api.address);
  set(annotations.managementAddress, published.management, management.address);
  const keys = Object.keys(addresses);
  if (keys.length === 0 && management.write === undefined) return [];
  const given = Object.values(addresses).filter((each) => each !== null);
  const whys = [
    management.write && "the endpoints to the management cluster are not as they should be",
    given.length > 0 && `connected at ${given.join(" and ")}`,
    keys.length > given.length && "an address no longer holds",
  ];
  return [
    {
      do: "change cluster",
      why: whys.filter((each) => typeof each === "string").join("; "),
      event: management.write ? reasons.endpointsWritten : reasons.addressesPublished,
      target: cluster,
      endpoints: management.write,
      annotations: keys.length > 0 ? addresses : undefined,
    },
  ];
}
