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
  const { endpoints, added, corrected } = decided;
  const removed = [
    ...decided.removed,
    ...decided.removedElsewhere.filter((name) => !added.includes(name)),
  ];
  if (added.length + corrected.length + removed.length === 0) return idle;
  if (sinceWriteMs < gatherMs) return { ...idle, requeue: { afterMs: gatherMs - sinceWriteMs } };
  const common = {
    do: "update AzureCluster",
    name: management.name,
    event: true,
    target: management,
  } as const;
  // What is not desired any more is removed by a write of its own after that: a policy may withhold it.
  const step: ManagementStep =
    added.length + corrected.length > 0
      ? {
          ...common,
          verb: "change",
          why: `private endpoints ${namesOf({ added, corrected })}`,
          write: {
            subnet: subnet.name,
            endpoints,
            removed: [],
            differs: true,
            retained: strays.filter(
              (each) => decided.retained.includes(each) || !added.includes(each.endpoint.name),
            ),
          },
        }
      : {
          ...common,
          verb: "delete",
          why: `private endpoints ${namesOf({ removed })}`,
          write: {
            subnet: subnet.name,
            endpoints,
            removed: decided.removed,
            differs: false,
            retained: decided.retained,
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

/** `added a, b; corrected c`, with the first names of each. */
function namesOf(lists: Record<string, readonly string[]>): string {
  return Object.entries(lists)
    .filter(([, names]) => names.length > 0)
    .map(([what, names]) => {
      const first = names.slice(0, shownNames).join(", ");
      const more = names.length > shownNames ? ` and ${names.length - shownNames} more` : "";
      return `${what} ${first}${more}`;
    })
    .join("; ");
}
