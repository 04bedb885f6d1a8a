import type { Plan } from "../../../kube/feature.ts";
import { claimsOf, idProblem } from "../claims/claims.ts";
import { decide } from "../claims/decide.ts";
import { reasons } from "../claims/reasons.ts";
import { straysOf } from "../spec/applied.ts";
import type { ClusterFacts } from "../spec/facts.ts";
import type { Observed } from "./observed.ts";
import type { ManagementStep } from "./steps.ts";

/** So long after a write the next one waits, so that what comes together is written together. */
export const gatherMs = 5_000;
/** How many names an event has. */
const shownNames = 3;

/** The endpoints of the management cluster, in one write. Without valid ids, only those to clusters being deleted are removed. */
export function plan(observed: Observed): Plan<ManagementStep> {
  const { management, clusters, applied, foreign, sinceWriteMs } = observed;
  const unchanged = { steps: [], conditions: [], requeue: "drift" } as const;
  if (management === undefined) return { ...unchanged, requeue: "never" };
  if (management.paused || management.deleting) return unchanged;
  const problem = problemOf(management, clusters);
  const idle = problem
    ? { ...unchanged, events: [{ ...problem, type: "Warning" as const }] }
    : unchanged;
  if (management.subnet === undefined) return idle;
  const { subnet } = management;
  // Where nothing can be requested, clusters that are not being deleted keep their endpoints.
  const counted = problem
    ? clusters.map((each) => (each.deleting ? each : { ...each, paused: true }))
    : clusters;
  const strays = straysOf(management, applied);
  const decided = decide(subnet, management, counted, strays, foreign);
  const { endpoints, added, corrected, removed, retained } = decided;
  const allRemoved = [
    ...removed,
    ...decided.removedElsewhere.filter((name) => !added.includes(name)),
  ];
  if (added.length + corrected.length + allRemoved.length === 0) return idle;
  if (sinceWriteMs < gatherMs) return { ...idle, requeue: { afterMs: gatherMs - sinceWriteMs } };
  const why = [
    listOf("added", added),
    listOf("corrected", corrected),
    listOf("removed", allRemoved),
  ]
    .filter((each) => each !== undefined)
    .join("; ");
  const step: ManagementStep = {
    do: "write endpoints",
    verb: allRemoved.length > 0 ? "delete" : "change",
    why,
    event: reasons.endpointsWritten,
    target: management,
    write: {
      subnet: subnet.name,
      endpoints,
      removed,
      differs: added.length + corrected.length > 0,
      retained,
    },
  };
  return { ...idle, steps: [step] };
}

function problemOf(management: ClusterFacts, clusters: readonly ClusterFacts[]) {
  const wanting = clusters.filter(({ deleting, links }) => !deleting && links.length > 0);
  if (wanting.length === 0) return undefined;
  const note = idProblem(management);
  if (note !== undefined) return { reason: reasons.idProblem, note };
  if (management.subnet !== undefined) return undefined;
  if (!wanting.some((each) => claimsOf(each, management).length > 0)) return undefined;
  return {
    reason: reasons.subnetsNotSet,
    note: "private endpoints of workload clusters cannot be added · this AzureCluster has no subnets · add one to spec.networkSpec.subnets",
  };
}

function listOf(what: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const first = names.slice(0, shownNames).join(", ");
  const more = names.length > shownNames ? ` and ${names.length - shownNames} more` : "";
  return `${what} ${first}${more}`;
}
