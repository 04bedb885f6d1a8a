import type { PlannedCondition } from "@postern/core/conditions.ts";
import type { Plan } from "../../../kube/feature.ts";
import {
  conditionFor,
  join,
  type Part,
  type Problem,
  report,
  requeueOf,
  retry,
  waits,
} from "../../../kube/part.ts";
import { annotations, conditions } from "../../names.ts";
import { reasons } from "../claims/reasons.ts";
import type { Direction } from "./directions/direction.ts";
import { type ManagementDirection, planToManagement } from "./directions/to-management.ts";
import { planToWorkload } from "./directions/to-workload.ts";
import type { Observed } from "./observed.ts";
import { planDelete } from "./plan-delete.ts";
import type { WorkloadStep } from "./steps.ts";

/**
 * What to do about a workload cluster. Neither direction waits for the other. GSPrivateLinksReady is True when every direction
 * that is used is connected.
 */
export function plan(observed: Observed): Plan<WorkloadStep> {
  const { cluster, management, refused } = observed;
  if (observed.isManagement || cluster.paused)
    return { steps: [], conditions: presentCondition(observed), requeue: "never" };
  if (cluster.deleting) return planDelete(observed);
  if (management === undefined) {
    const message = `nothing can be connected · AzureCluster ${observed.managementKey} does not exist · create it, or correct --management-cluster-name and --management-cluster-namespace`;
    return planProblem(report({ reason: reasons.managementNotFound, message }));
  }
  if (refused !== undefined) {
    const { reason, message: note } = refused;
    const events = [{ reason, note, type: "Warning" as const }];
    return { ...planProblem(retry(refused, { retryMs: waits.changeMs })), events };
  }
  const toWorkload = planToWorkload(observed);
  const toManagement = planToManagement(observed);
  const directions = [toWorkload, toManagement];
  const { events = [], ...part } = join<never>(directions);
  const problem = firstProblem(part);
  return {
    steps: planChange(observed, toWorkload, toManagement),
    conditions: conditionsOf(directions, problem),
    events: [...events, ...warningsOf(problem)],
    finalizer: "add",
    requeue: requeueOf(part),
  };
}

function planProblem(part: Part<never>): Plan<WorkloadStep> {
  const condition = conditionFor(conditions.links, part, undefined, unnamed);
  return { steps: [], conditions: [condition], requeue: requeueOf(part) };
}

/** The condition as it is, which may have fewer fields than ours: what is not decided here is not changed either. */
function presentCondition({ condition }: Observed): PlannedCondition[] {
  return condition === undefined ? [] : [{ ...condition } as PlannedCondition];
}

/** What only a person can correct: it comes first, and has an event too. */
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

function firstProblem({ problems }: Pick<Part, "problems">): Problem | undefined {
  return problems.find(({ reason }) => needsAction.includes(reason)) ?? problems[0];
}

const unnamed = { reason: "", message: "" };

function conditionsOf(
  directions: readonly Direction[],
  problem: Problem | undefined,
): PlannedCondition[] {
  const ready = directions.flatMap((each) => each.ready ?? []);
  if (problem === undefined && ready.length === 0) return [];
  const message = ready.map((each) => each.message).join("; ");
  const [first = unnamed] = ready;
  const reason = ready.length > 1 ? reasons.connected : first.reason;
  const problems = problem === undefined ? [] : [problem];
  return [conditionFor(conditions.links, { problems }, undefined, { reason, message })];
}

function warningsOf(problem: Problem | undefined) {
  if (problem === undefined || !needsAction.includes(problem.reason)) return [];
  return [{ reason: problem.reason, note: problem.message, type: "Warning" as const }];
}

/**
 * Endpoints and annotations of the cluster itself, in one step: two would write one object at the same time. A write that removes
 * an endpoint waits until the annotations are as they should be: a policy may withhold it, and they must not wait for that.
 */
function planChange(
  { cluster, published }: Observed,
  toWorkload: Direction,
  { planned, ...toManagement }: ManagementDirection,
): WorkloadStep[] {
  const addresses: Record<string, string | null> = {};
  const set = (key: string, present: string | undefined, address: Direction["address"]) => {
    if (address !== "keep" && present !== address) addresses[key] = address ?? null;
  };
  set(annotations.apiServerAddress, published.api, toWorkload.address);
  set(annotations.managementAddress, published.management, toManagement.address);
  const keys = Object.keys(addresses);
  const write = planned?.removes && keys.length > 0 ? undefined : planned?.write;
  if (keys.length === 0 && write === undefined) return [];
  const added = Object.values(addresses).filter((each) => each !== null);
  const whys = [
    write && "its private endpoints to the management cluster differ from what is desired",
    added.length > 0 && `it is connected at ${added.join(" and ")}`,
    keys.length > added.length && "an address is not in use any more",
  ];
  return [
    {
      do: "update AzureCluster",
      name: cluster.name,
      verb: write && planned?.removes ? "delete" : "change",
      why: whys.filter((each) => typeof each === "string").join("; "),
      event: true,
      target: cluster,
      endpoints: write,
      annotations: keys.length > 0 ? addresses : undefined,
    },
  ];
}
