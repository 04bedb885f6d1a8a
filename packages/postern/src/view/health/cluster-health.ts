import type { Node, OperatorPresence } from "@postern/core/dashboard/picture.ts";
import { type Cause, type HealthReport, reportOf } from "@postern/core/health.ts";
import { inSentences } from "./condition-report.ts";
import { capitalised, isFinal, kindNames, observedCauses } from "./observed-causes.ts";

/** What was observed of one cluster: its conditions, its resources in Azure, and the operator. */
export interface ObservedCluster {
  /** The health by the conditions of its objects. */
  reported: HealthReport;
  /** Its resources in Azure, as they are drawn. */
  nodes: readonly Node[];
  isDeleting: boolean;
  operator: OperatorPresence;
}

/** A cluster's health, and whether Azure shows otherwise than its conditions. */
export interface ClusterHealth extends HealthReport {
  isContradicted?: true;
}

/**
 * The health of a cluster: the one place where it is decided. What Azure shows outranks conditions that say that all is well;
 * where conditions say that something is in progress, what Azure does not have yet is in progress too.
 *
 * | conditions  | Azure                          | health      |
 * |-------------|--------------------------------|-------------|
 * | Healthy     | as reported                    | Healthy     |
 * | Healthy     | unreadable, an operator runs   | Healthy     |
 * | Healthy     | unreadable, none is known to   | Unknown     |
 * | Healthy     | a hop is missing or failed     | Unavailable |
 * | Healthy     | one of several names is wrong  | Degraded    |
 * | Progressing | a hop is missing or failed     | Progressing |
 * | any         | a connection is rejected       | Unavailable |
 * | Unavailable | as it should be, but the operator may not read it | Degraded |
 * | Unavailable | otherwise                      | Unavailable |
 * | any         | no operator renews its lease   | Unknown, if nothing worse is observed |
 */
export function clusterHealth(observed: ObservedCluster): ClusterHealth {
  const { reported, nodes, isDeleting, operator } = observed;
  const { final, others } = isDeleting
    ? { final: [], others: [] }
    : observedCauses(nodes, reported.health);
  const stale = isDeleting ? lost(operator) : [...lost(operator), ...unvouched(nodes, operator)];
  // What is final is the cause of the conditions; a failed condition explains why Azure is not as it should be.
  // Azure does not say since when; where the conditions agree, they do.
  const since = reported.health === "Unavailable" ? reported.causes[0]?.since : undefined;
  const rejected = final.map((each) => ({ ...each, ...(since !== undefined && { since }) }));
  const isServing = final.length + others.length === 0 && isOnlyUnread(reported, nodes);
  const conditions = reported.causes.map((cause) => ({
    ...inSentences(cause),
    ...(isServing && { health: "Degraded" as const }),
  }));
  const causes = [...rejected, ...conditions, ...others, ...stale];
  const isContradicted =
    reported.health === "Healthy"
      ? [...final, ...others].some(({ health }) => /^(Unavailable|Degraded)$/.test(health))
      : !isDeleting && isRejectionOver(reported, nodes);
  const report = reportOf(causes, isContradicted ? undefined : reported.since);
  return { ...report, ...(isContradicted && { isContradicted }) };
}

/** Reasons that say only that the operator could not read Azure: a link service, load balancers, or anything else. */
const unreadReasons = ["AzureError", "ILBLookupFailed", "AuthorizationFailed"];

/** Whether conditions only say that the operator could not read Azure, while whoever looks now has read its endpoint there. */
function isOnlyUnread({ health, causes }: HealthReport, nodes: readonly Node[]): boolean {
  const own = nodes.filter(({ facts }) => facts.owner !== "another");
  return (
    health === "Unavailable" &&
    causes.every(({ reason }) => unreadReasons.includes(reason)) &&
    own.some(({ kind, state }) => kind === "endpoint" && state === "ok") &&
    !own.some(({ isUnread }) => isUnread)
  );
}

/** Nobody tells the operator that a rejected endpoint was deleted, for which its remedy asks: it would be found by the next drift check. */
function isRejectionOver({ causes }: HealthReport, nodes: readonly Node[]): boolean {
  if (!causes.some(({ reason }) => reason.endsWith("ConnectionRejected"))) return false;
  const own = nodes.filter(({ kind, facts }) => kind === "endpoint" && facts.owner !== "another");
  return own.length > 0 && !own.some((node) => node.isUnread || isFinal(node));
}

/** Conditions are as new as the operator: one that is gone updates none. */
function lost({ state, since, holder }: OperatorPresence): Cause[] {
  if (state !== "lost") return [];
  const cause: Cause = {
    health: "Unknown",
    reason: "OperatorLost",
    message: `No operator is running${holder ? ` (the last one was ${holder})` : ""}, so conditions may be out of date.`,
    remedy: "Check the operator's pods and their log: postern doctor",
    ...(since !== undefined && { since }),
  };
  return [cause];
}

/** Where Azure cannot be read, conditions are all that is known, and only an operator that runs keeps them up to date. */
function unvouched(nodes: readonly Node[], { state }: OperatorPresence): Cause[] {
  const unread = nodes.find(({ isUnread, facts }) => isUnread && facts.owner !== "another");
  if (state !== "unknown" || unread === undefined) return [];
  return [
    {
      health: "Unknown",
      reason: "NotRead",
      message: `${capitalised(kindNames[unread.kind])} ${unread.label} could not be read in Azure, and it is not known whether an operator runs, so conditions may be out of date.`,
      remedy: "Grant the credential the right to read it: postern permissions",
      about: unread.label,
    },
  ];
}
