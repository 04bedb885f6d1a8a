import { conditionOf, type PlannedCondition } from "@postern/core/conditions.ts";
import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import type { Plan, Requeue } from "../../kube/feature.ts";
import { reasons } from "../endpoint/reasons.ts";
import { clusterAnnotation, conditions, success } from "../names.ts";
import { isReservedNamespace } from "../tenancy.ts";
import { type Checked, check, type Problem } from "./cluster/check.ts";
import { hostnameTaken } from "./cluster/forbidden.ts";
import { numbersOf } from "./cluster/ids.ts";
import { collected } from "./cluster/link-conditions.ts";
import {
  controlPlaneChange,
  desiredAccount,
  desiredControlPlane,
  desiredNamespace,
} from "./desired/control-plane.ts";
import { isAnothers, isMade, isOf, isOwn } from "./desired/labels.ts";
import { publishEndpoint } from "./network/endpoint.ts";
import { linksOf, networkPlan } from "./network/plan.ts";
import type { Observed } from "./observed.ts";
import { planDelete } from "./plan-delete.ts";
import { topologyApplied, topologyReasons } from "./reasons.ts";
import type { TopologyStep } from "./steps.ts";
import { create, isBeingDeleted, update } from "./steps.ts";

/**
 * What to do for a HostedCluster. Where HyperShift is installed, only the conditions of its links are collected. Elsewhere Postern
 * creates what HyperShift would: namespace, control plane, Services and Routes (network/plan.ts).
 */
export function plan(observed: Observed): Plan<TopologyStep> {
  const planned = planCluster(observed);
  const events = unfinishedDeletion(planned.conditions);
  return events.length === 0 ? planned : { ...planned, events };
}

/** What a link cannot delete is an event of the cluster too: the events of the link are deleted with its namespace. */
function unfinishedDeletion(all: readonly PlannedCondition[]) {
  const found = all.find(({ type }) => type === conditions.available);
  const unfinished: readonly string[] = [reasons.cleanupFailed, reasons.abandoned];
  if (found === undefined || !unfinished.includes(found.reason)) return [];
  return [{ reason: found.reason, note: found.message, type: "Warning", isLogged: true } as const];
}

function planCluster(observed: Observed): Plan<TopologyStep> {
  const { cluster, hyperShift, pause } = observed;
  const checked = cluster.spec.platform.type === "Azure" ? check(cluster) : undefined;
  if (checked === undefined || (checked.ok && checked.access.type === "Swift"))
    return isLeftWithFinalizer(observed) ? planDelete(observed) : noSteps([], "never");
  const links = linkConditions(observed, checked).map((each) =>
    hyperShift ? hyperShiftsOr(observed, each) : each,
  );
  const [taken] = (observed.taken ?? []).map(hostnameTaken);
  const problemOfCluster = checked.ok
    ? (observed.forbidden ?? taken ?? checked.unusable ?? checked.warning)
    : checked.problem;
  if (hyperShift)
    return noSteps(
      [...links, ...(problemOfCluster ? [notApplied(problemOfCluster)] : [])],
      "never",
    );
  if (cluster.metadata.deletionTimestamp !== undefined) {
    const deletion = planDelete(observed);
    return { ...deletion, conditions: [...links, ...deletion.conditions] };
  }
  if (!checked.ok) return noSteps([...links, notApplied(checked.problem)], "never");
  const uncreatable = observed.controlPlane === undefined ? (taken ?? checked.unusable) : undefined;
  const forbidden = observed.forbidden ?? uncreatable;
  if (forbidden) return noSteps([...links, notApplied(forbidden)], "drift");
  if (pause.paused)
    return noSteps(
      [...links, ...presentCondition(observed)],
      pause.untilMs === undefined ? "never" : { afterMs: pause.untilMs },
    );
  const { steps, waiting, published } = build(observed, checked);
  const problem =
    steps.length > 0 ? (waiting ?? applying) : (waiting ?? checked.unusable ?? checked.warning);
  const message = `the Services and Routes of topology ${checked.access.topology} are in place`;
  return {
    steps: [...steps, ...published],
    conditions: [
      ...links,
      problem
        ? notApplied(problem)
        : { type: topologyApplied, status: "True", reason: success, message },
    ],
    finalizer: "add",
    requeue: "drift",
  };
}

/** Whether a cluster that Postern does not own any more is being deleted: nobody else would remove our finalizer. */
function isLeftWithFinalizer({ cluster, hyperShift, namespace, controlPlane }: Observed): boolean {
  if (hyperShift || cluster.metadata.deletionTimestamp === undefined) return false;
  const made = [namespace, controlPlane].some(
    (each) => each && isMade(each) && isOf(each, cluster),
  );
  return made || conditionOf(cluster.status?.conditions, topologyApplied) !== undefined;
}

interface Built {
  steps: TopologyStep[];
  waiting: Problem | undefined;
  /** Writes of the status: the topology is applied without them. */
  published: TopologyStep[];
}

/** The namespace, the control plane in it, and its network: each needs the one before it. */
function build(observed: Observed, { access, publishing }: Extract<Checked, { ok: true }>): Built {
  const { cluster, namespace, controlPlane } = observed;
  const first: TopologyStep[] = [];
  const { clusterID, infraID } = numbersOf(
    cluster,
    controlPlane && isOwn(controlPlane, cluster) ? controlPlane : undefined,
  );
  const missing = {
    ...(!cluster.spec.clusterID && { clusterID }),
    ...(!cluster.spec.infraID && { infraID }),
  };
  if (Object.keys(missing).length > 0)
    first.push(
      update(
        "HostedCluster",
        cluster,
        { spec: missing },
        `it has no ${Object.keys(missing).join(" and no ")} yet`,
      ),
    );
  const home = desiredNamespace(cluster);
  if (isReservedNamespace(home.metadata.name)) return only([], reserved(home));
  if (namespace === undefined && !isDnsLabel(home.metadata.name))
    return only([], nameUnusable(home));
  if (namespace === undefined)
    first.push(create("Namespace", home, "it is the namespace of the control plane"));
  else if (isBeingDeleted(namespace)) return only(first, terminating(namespace));
  else if (!isOf(namespace, cluster)) return only([], notCreatedForThis(namespace, cluster));
  if (first.length > 0) return only(first);

  const desired = desiredControlPlane(cluster);
  if (controlPlane === undefined)
    return only([create("HostedControlPlane", desired, "the cluster has none")]);
  if (!isOwn(controlPlane, cluster)) return only([], another("HostedControlPlane", controlPlane));
  if (isBeingDeleted(controlPlane)) return only([], controlPlaneDeleting);
  const patch = controlPlaneChange(controlPlane, desired);
  const { steps, waiting } = networkPlan(
    observed,
    desiredAs(controlPlane, desired),
    access,
    publishing,
  );
  if (access.type === "PrivateLink" && observed.account === undefined)
    steps.push(
      create("ServiceAccount", desiredAccount(controlPlane), "it proves who the cluster is"),
    );
  if (patch === undefined) {
    const published = publishEndpoint(observed, controlPlane, access, publishing);
    return { steps, waiting, published };
  }
  const copy = update("HostedControlPlane", controlPlane, patch, "the HostedCluster changed");
  return only([copy, ...steps], waiting);
}

/** The control plane as it will be: its identifiers do not change. */
function desiredAs<T extends KubeObject>(found: T, desired: T): T {
  return { ...desired, metadata: { ...found.metadata, ...desired.metadata } };
}

function linkConditions({ cluster, controlPlane, ...observed }: Observed, checked: Checked) {
  const links = observed.links.filter((link) => !isAnothers(link, cluster));
  const present = conditionOf(cluster.status?.conditions, conditions.available);
  // The list of what is abandoned in Azure remains on the cluster as long as the cluster exists.
  if (links.length === 0 && isBeingDeleted(cluster) && present?.reason === reasons.abandoned)
    return [present];
  // While the cluster contradicts itself nobody knows which links it should have; those that it has still speak.
  if (!checked.ok) return collected(links, []);
  const expected = linksOf(checked.access, checked.publishing);
  const stays = ![cluster, controlPlane].some((each) => each && isBeingDeleted(each));
  const known = controlPlane && stays && isOwn(controlPlane, cluster) ? controlPlane : undefined;
  return expected.length === 0 ? [] : collected(links, expected, known);
}

/**
 * Newer HyperShift collects these conditions itself, and writes them again as soon as one differs. Its own have no
 * generation: they are left as they are, or the two of us would never come to rest.
 */
function hyperShiftsOr({ cluster }: Observed, own: PlannedCondition): PlannedCondition {
  const found = conditionOf(cluster.status?.conditions, own.type);
  if (found === undefined || found.observedGeneration !== undefined) return own;
  return { ...found, observedGeneration: undefined } as PlannedCondition;
}

/** The condition before a pause, for the generation that it was written for. */
function presentCondition({ cluster }: Observed): PlannedCondition[] {
  const found = conditionOf(cluster.status?.conditions, topologyApplied);
  return found ? [found] : [];
}

function only(steps: TopologyStep[], waiting?: Problem): Built {
  return { steps, waiting, published: [] };
}

function noSteps(conditions: PlannedCondition[], requeue: Requeue): Plan<TopologyStep> {
  return { steps: [], conditions, requeue };
}

function notApplied({ reason, message }: Problem): PlannedCondition {
  return { type: topologyApplied, status: "False", reason, message };
}

/** The same words for every reconcile: a new cluster takes several. */
const applying: Problem = {
  reason: topologyReasons.applying,
  message: "the control plane and its network are being created or updated",
};

/** Namespaces take less than names of clusters do. */
function isDnsLabel(name: string): boolean {
  return /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name);
}

function nameUnusable({ metadata }: KubeObject): Problem {
  return {
    reason: topologyReasons.nameUnusable,
    message: `the control plane cannot be created · its namespace would be ${metadata.name}, and such a name has at most 63 characters · create the cluster under another name`,
  };
}

function reserved({ metadata }: KubeObject): Problem {
  return {
    reason: topologyReasons.reserved,
    message: `the control plane cannot be created · its namespace would be ${metadata.name}, which is reserved · create the cluster under another name or in another namespace`,
  };
}

/** Whoever can write a Namespace may hand it over; a tenant cannot. */
function notCreatedForThis({ metadata }: KubeObject, cluster: KubeObject): Problem {
  return {
    reason: topologyReasons.another,
    message: `the control plane cannot be created · namespace ${metadata.name} exists and was not created for this cluster · create the cluster under another name, or assign the namespace to it: kubectl annotate namespace ${metadata.name} ${clusterAnnotation}=${keyOf(cluster)}`,
  };
}

function terminating({ metadata }: KubeObject): Problem {
  return {
    reason: topologyReasons.terminating,
    message: `the control plane cannot be created · namespace ${metadata.name} of an earlier cluster is still being deleted · wait, or see its finalizers`,
  };
}

const controlPlaneDeleting: Problem = {
  reason: topologyReasons.controlPlaneDeleting,
  message:
    "the HostedControlPlane is being deleted although the cluster is not · it is recreated afterwards · wait, or see its finalizers",
};

function another(kind: string, { metadata }: KubeObject): Problem {
  return {
    reason: topologyReasons.another,
    message: `the control plane cannot be created · ${kind} ${metadata.name} belongs to another cluster · give this cluster another name`,
  };
}
