import type { Condition } from "./kinds/condition.ts";

/**
 * How a cluster is, for whoever is on call. `Healthy`: clients can connect. `Progressing`: something is being created, changed or
 * deleted, and no one needs to act. `Degraded`: clients can connect, or nobody expects them to, and something needs attention.
 * `Unavailable`: clients cannot connect. `Unknown`: what is known is too old, or cannot be read.
 */
export type Health = "Healthy" | "Progressing" | "Degraded" | "Unavailable" | "Unknown";

/** Worst first: the order of lists, and the rule by which children roll up. */
export const healthOrder: readonly Health[] = [
  "Unavailable",
  "Degraded",
  "Unknown",
  "Progressing",
  "Healthy",
];

/** Why something is not healthy, and what to do about it. */
export interface Cause {
  health: Health;
  /** One CamelCase word: the reason of a condition, or what Azure says. */
  reason: string;
  /** A sentence or two for people. */
  message: string;
  remedy?: string;
  /** When it began, as far as that is known. */
  since?: string;
  /** What it is about: the type of a condition, or the name of a resource. */
  about?: string;
}

/** The health of something, with the worst cause first. */
export interface HealthReport {
  health: Health;
  causes: Cause[];
  /** Since when clients can, or cannot, connect. */
  since?: string;
}

/** What counts of a condition here; Cluster API writes a severity beside it. */
export type HealthCondition = Pick<Condition, "type" | "status"> &
  Partial<Pick<Condition, "reason" | "message" | "lastTransitionTime">> & { severity?: string };

/** What the health of an object is computed from. */
export interface ConditionRules {
  conditions: readonly HealthCondition[] | undefined;
  /** The condition that says whether clients can connect. */
  available: string;
  /** The other conditions that count; what others write on the object does not. */
  types: readonly string[];
  /** Since when the object is being deleted. */
  deletedAt?: string | undefined;
  /** What people call the object, where it is only a part of what is reported on. */
  subject?: string;
  /** When the object was created: where it has no condition yet, its controller is expected to write one soon. */
  createdAt?: string;
  now: Date;
}

/** What Azure takes longest to create, and some. Whatever is in progress for longer needs somebody's attention. */
export const progressDeadlineMs = 20 * 60_000;
/** An approval that nobody gives in this time is not given by an automatic rule. */
export const approvalDeadlineMs = 3 * 60_000;
/** A new object without a condition: its controller has not observed it yet. */
const firstConditionMs = 60_000;

/**
 * The health of an object by its conditions alone.
 *
 * | deleting | available | worst other condition | health      |
 * |----------|-----------|-----------------------|-------------|
 * | no       | True      | none or in progress   | Healthy     |
 * | no       | True      | failed                | Degraded    |
 * | no       | False     | in progress           | Progressing |
 * | no       | False     | failed, or overdue    | Unavailable |
 * | no       | absent    |                       | Progressing, then Unknown |
 * | yes      | any       | failed                | Degraded    |
 * | yes      | any       | otherwise, or none    | Progressing |
 */
export function healthOfConditions(rules: ConditionRules): HealthReport {
  const { conditions = [], available, types, deletedAt, now } = rules;
  const isDeleting = deletedAt !== undefined;
  const main = conditions.find(({ type }) => type === available);
  const otherConditions = conditions.filter(
    ({ type }) => type !== available && types.includes(type),
  );
  const isAvailable = main?.status === "True";
  const failed: Health = isAvailable || isDeleting ? "Degraded" : "Unavailable";
  const causes = [...otherConditions, ...(main ? [main] : [])].flatMap((each): Cause[] => {
    const progress = conditionProgress(each, now);
    if (progress === "failed") return [causeOf(each, failed)];
    // What changes while clients can connect does not concern them.
    return progress === "progressing" && !isAvailable ? [causeOf(each, "Progressing")] : [];
  });
  if (main === undefined && !isDeleting) causes.push(notReported(rules));
  // Conditions may still be those of before, or be gone already.
  if (isDeleting && causes.length === 0) causes.push(deletion(deletedAt, rules.subject));
  return reportOf(causes, main?.lastTransitionTime);
}

/** A report of causes: the worst comes first, and decides. Equal causes are named once. */
export function reportOf(causes: readonly Cause[], since?: string): HealthReport {
  const sorted = causes.toSorted((a, b) => rankOf(a.health) - rankOf(b.health));
  const unique = new Map(
    sorted.toReversed().map((each) => [`${each.reason} ${each.message}`, each]),
  );
  return {
    health: sorted[0]?.health ?? "Healthy",
    causes: sorted.filter((each) => unique.get(`${each.reason} ${each.message}`) === each),
    ...(since !== undefined && { since }),
  };
}

/** Of several states the worst. */
export function worstHealth(all: readonly Health[]): Health {
  return healthOrder.find((each) => all.includes(each)) ?? "Healthy";
}

/** The place of a state in a list that begins with the worst. */
export function rankOf(health: Health): number {
  return healthOrder.indexOf(health);
}

/**
 * Every reason of a condition that is not a failure: `working` is in progress, `expected` comes from another controller soon, and
 * `approval` is what a person, or an automatic rule, has yet to give. A reason that is not here has failed. A test compares this
 * with the reasons that are written.
 */
export const progressReasons: Readonly<Record<string, "working" | "expected" | "approval">> = {
  // Hosted clusters.
  Applying: "working",
  ControlPlaneDeleting: "working",
  ControlPlaneUnknown: "expected",
  Deleting: "working",
  LinkServicePending: "working",
  NamesPending: "working",
  NamespaceTerminating: "working",
  NATSubnetCreating: "working",
  PLSCreating: "working",
  PLSDeleting: "working",
  PLSReplacing: "working",
  PLSUpdating: "working",
  PrivateEndpointAddressPending: "working",
  PrivateEndpointCreating: "working",
  PrivateEndpointReplacing: "working",
  ServiceDeleting: "working",
  StatusUnknown: "working",
  WaitingForPrivateLink: "working",
  WaitingForPublicAddress: "working",
  ILBNotFound: "expected",
  LoadBalancerIPMissing: "expected",
  PrivateEndpointConnectionNotApproved: "approval",
  // Cluster API.
  BeingChanged: "working",
  BeingMade: "working",
  BeingRemoved: "working",
  BeingReplaced: "working",
  NATSubnetBeingChanged: "working",
  PlaceUnknown: "expected",
  PrivateEndpointPending: "working",
  PrivateEndpointsLeaving: "working",
  PrivateNamesPending: "working",
  LoadBalancerMissing: "expected",
  ApprovalPending: "approval",
  PrivateEndpointNotApproved: "approval",
};

/** Whether a condition says that a connection is not approved. */
export function isApprovalPending({ status, reason = "" }: HealthCondition): boolean {
  return status !== "True" && progressOf(reason) === "approval";
}

function progressOf(reason: string) {
  return Object.hasOwn(progressReasons, reason) ? progressReasons[reason] : undefined;
}

/** Whether what a condition is about is done, in progress, or failed. What is in progress for too long has failed. */
export function conditionProgress(
  { status, reason = "", severity, lastTransitionTime }: HealthCondition,
  now: Date,
): "done" | "progressing" | "failed" {
  if (status === "True") return "done";
  const ageMs = now.getTime() - Date.parse(lastTransitionTime ?? "");
  const progress = progressOf(reason);
  if (progress === "approval") return ageMs > approvalDeadlineMs ? "failed" : "progressing";
  const isProgressing = status === "Unknown" || severity === "Info" || progress !== undefined;
  return isProgressing && !(ageMs > progressDeadlineMs) ? "progressing" : "failed";
}

function causeOf(condition: HealthCondition, health: Health): Cause {
  const { type, reason, message, lastTransitionTime } = condition;
  return {
    health,
    reason: reason || type,
    message: message || `${type} is ${condition.status}.`,
    about: type,
    ...(lastTransitionTime !== undefined && { since: lastTransitionTime }),
  };
}

function deletion(since: string, subject = "It"): Cause {
  return {
    health: "Progressing",
    reason: "Deleting",
    message: `${subject} is being deleted.`,
    since,
  };
}

/** An object without the condition: new, or served by no controller. */
function notReported({ available, createdAt, now }: ConditionRules): Cause {
  const isNew = createdAt !== undefined && now.getTime() - Date.parse(createdAt) < firstConditionMs;
  return isNew
    ? {
        health: "Progressing",
        reason: "Waiting",
        message: "The operator has not reported on it yet.",
      }
    : {
        health: "Unknown",
        reason: "NotReported",
        message: `It has no condition ${available}: no operator reports on it.`,
        remedy: "Check that the operator runs and serves this namespace: postern doctor",
      };
}
