import { conditionOf, type PlannedCondition } from "@postern/core/conditions.ts";
import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import type { Plan, Requeue } from "../../kube/feature.ts";
import { clusterAnnotation, success } from "../names.ts";
import { isReservedNamespace } from "../tenancy.ts";
import { type Checked, check, type Problem } from "./cluster/check.ts";
import { hostnameTaken } from "./cluster/forbidden.ts";
import { numbersOf } from "./cluster/ids.ts";
import { collected } from "./cluster/link-conditions.ts";
import {
  controlPlaneChange,
  wantedAccount,
  wantedControlPlane,
  wantedNamespace,
} from "./desired/control-plane.ts";
import { isAnothers, isMade, isOf, isOwn } from "./desired/labels.ts";
import { linksOf, networkPlan } from "./network/plan.ts";
import type { Observed } from "./observed.ts";
import { planDown } from "./plan-delete.ts";
import { topologyApplied, topologyReasons } from "./reasons.ts";
import type { TopologyStep } from "./steps.ts";
import { change, isBeingDeleted, make } from "./steps.ts";

/**
 * What becomes of a HostedCluster.
 *
 *     HyperShift   cluster                         →
 *     absent       not on Azure any more, deleted  see planDown, where what we made shows that the hold is ours
 *     any          not on Azure, or by Swift       nothing; no condition of ours
 *     is there     any                             its links' conditions are collected; a contradiction is said
 *     absent       being deleted                   see planDown
 *     absent       contradicts itself              said; nothing is changed
 *     absent       paused                          nothing is changed; conditions are collected
 *     absent       without clusterID, infraID      filled in
 *     absent       with what it may not have       said; nothing is changed
 *     absent       with a hostname of another      said; without a control plane nothing is made, else all but that hostname
 *     absent       in a reserved namespace         said; nothing is changed
 *     absent       in a namespace that is there    said, unless the namespace names this cluster
 *     absent       without its namespace           made; waited for where the old one is still going
 *     absent       without its control plane       made; then kept a copy of the cluster
 *     absent       with its control plane          see networkPlan
 */
export function plan(seen: Observed): Plan<TopologyStep> {
  const { cluster, hyperShift, pause } = seen;
  const checked = cluster.spec.platform.type === "Azure" ? check(cluster) : undefined;
  if (checked === undefined || (checked.ok && checked.access.type === "Swift"))
    return isLeftToUs(seen) ? planDown(seen) : nothing([], "never");
  const links = linkConditions(seen, checked).map((each) =>
    hyperShift ? theirs(seen, each) : each,
  );
  const [taken] = (seen.taken ?? []).map(hostnameTaken);
  const trouble = checked.ok ? (seen.forbidden ?? taken ?? checked.warning) : checked.problem;
  if (hyperShift) return nothing([...links, ...(trouble ? [notApplied(trouble)] : [])], "never");
  if (cluster.metadata.deletionTimestamp !== undefined) {
    const down = planDown(seen);
    return { ...down, conditions: [...links, ...down.conditions] };
  }
  if (!checked.ok) return nothing([...links, notApplied(checked.problem)], "never");
  const forbidden = seen.forbidden ?? (seen.controlPlane === undefined ? taken : undefined);
  if (forbidden) return nothing([...links, notApplied(forbidden)], "drift");
  if (pause.paused)
    return nothing(
      [...links, ...heldCondition(seen)],
      pause.untilMs === undefined ? "never" : { afterMs: pause.untilMs },
    );
  const { steps, waiting } = build(seen, checked);
  const said = steps.length > 0 ? (waiting ?? applying) : (waiting ?? checked.warning);
  const message = `the Services and Routes of topology ${checked.access.topology} are in place`;
  return {
    steps,
    conditions: [
      ...links,
      said ? notApplied(said) : { type: topologyApplied, status: "True", reason: success, message },
    ],
    finalizer: "add",
    requeue: "drift",
  };
}

/** Whether a cluster that is not for us goes, and was ours once: nobody else would take our hold off. */
function isLeftToUs({ cluster, hyperShift, namespace, controlPlane }: Observed): boolean {
  if (hyperShift || cluster.metadata.deletionTimestamp === undefined) return false;
  const made = [namespace, controlPlane].some(
    (each) => each && isMade(each) && isOf(each, cluster),
  );
  return made || conditionOf(cluster.status?.conditions, topologyApplied) !== undefined;
}

interface Built {
  steps: TopologyStep[];
  waiting: Problem | undefined;
}

/** The namespace, the control plane in it, and its network: each needs the one before it. */
function build(seen: Observed, { access, publishing }: Extract<Checked, { ok: true }>): Built {
  const { cluster, namespace, controlPlane } = seen;
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
    first.push(change("HostedCluster", cluster, { spec: missing }, "it has no number yet"));
  const home = wantedNamespace(cluster);
  if (isReservedNamespace(home.metadata.name)) return only([], reserved(home));
  if (namespace === undefined && !isDnsLabel(home.metadata.name))
    return only([], nameUnusable(home));
  if (namespace === undefined) first.push(make("Namespace", home, "the control plane lives in it"));
  else if (isBeingDeleted(namespace)) return only(first, terminating(namespace));
  else if (!isOf(namespace, cluster)) return only([], notCreatedForThis(namespace, cluster));
  if (first.length > 0) return only(first);

  const wanted = wantedControlPlane(cluster);
  if (controlPlane === undefined)
    return only([make("HostedControlPlane", wanted, "the cluster has none")]);
  if (!isOwn(controlPlane, cluster)) return only([], another("HostedControlPlane", controlPlane));
  if (isBeingDeleted(controlPlane)) return only([], planeGoing);
  const patch = controlPlaneChange(controlPlane, wanted);
  const { steps, waiting } = networkPlan(seen, wantedAs(controlPlane, wanted), access, publishing);
  if (access.type === "PrivateLink" && seen.account === undefined)
    steps.push(make("ServiceAccount", wantedAccount(controlPlane), "it proves who the cluster is"));
  if (patch === undefined) return { steps, waiting };
  const copy = change("HostedControlPlane", controlPlane, patch, "the HostedCluster changed");
  return { steps: [copy, ...steps], waiting };
}

/** The control plane as it will be: what it is known by stays. */
function wantedAs<T extends KubeObject>(held: T, wanted: T): T {
  return { ...wanted, metadata: { ...held.metadata, ...wanted.metadata } };
}

function linkConditions({ cluster, controlPlane, ...seen }: Observed, checked: Checked) {
  const links = seen.links.filter((link) => !isAnothers(link, cluster));
  // While the cluster contradicts itself nobody knows which links it should have; those that it has still speak.
  if (!checked.ok) return collected(links, []);
  const expected = linksOf(checked.access, checked.publishing);
  const stays = ![cluster, controlPlane].some((each) => each && isBeingDeleted(each));
  const known = controlPlane && stays && isOwn(controlPlane, cluster) ? controlPlane : undefined;
  return expected.length === 0 ? [] : collected(links, expected, known);
}

/**
 * Newer HyperShift collects these conditions itself, and writes them anew as soon as one differs. Its own have no
 * generation: they are left as they are, or the two of us would never come to rest.
 */
function theirs({ cluster }: Observed, ours: PlannedCondition): PlannedCondition {
  const held = conditionOf(cluster.status?.conditions, ours.type);
  if (held === undefined || held.observedGeneration !== undefined) return ours;
  return { ...held, observedGeneration: undefined } as PlannedCondition;
}

/** What was said before a pause, for the generation that it was said of. */
function heldCondition({ cluster }: Observed): PlannedCondition[] {
  const held = conditionOf(cluster.status?.conditions, topologyApplied);
  return held ? [held] : [];
}

function only(steps: TopologyStep[], waiting?: Problem): Built {
  return { steps, waiting };
}

function nothing(conditions: PlannedCondition[], requeue: Requeue): Plan<TopologyStep> {
  return { steps: [], conditions, requeue };
}

function notApplied({ reason, message }: Problem): PlannedCondition {
  return { type: topologyApplied, status: "False", reason, message };
}

/** The same words for every reconcile: a new cluster takes several. */
const applying: Problem = {
  reason: topologyReasons.applying,
  message: "the control plane and its network are being made or changed",
};

/** Namespaces take less than names of clusters do. */
function isDnsLabel(name: string): boolean {
  return /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name);
}

function nameUnusable({ metadata }: KubeObject): Problem {
  return {
    reason: topologyReasons.nameUnusable,
    message: `the control plane cannot be made · its namespace would be ${metadata.name}, and such a name has at most 63 characters · create the cluster under another name`,
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
    message: `the control plane cannot be created · namespace ${metadata.name} exists and was not created for this cluster · create the cluster under another name, or hand the namespace over: kubectl annotate namespace ${metadata.name} ${clusterAnnotation}=${keyOf(cluster)}`,
  };
}

function terminating({ metadata }: KubeObject): Problem {
  return {
    reason: topologyReasons.terminating,
    message: `the control plane cannot be made · namespace ${metadata.name} of an earlier cluster is still going · wait, or see what holds it`,
  };
}

const planeGoing: Problem = {
  reason: topologyReasons.controlPlaneDeleting,
  message:
    "the HostedControlPlane is being deleted although the cluster is not · it is made anew when it is gone · wait, or see what holds it",
};

function another(kind: string, { metadata }: KubeObject): Problem {
  return {
    reason: topologyReasons.another,
    message: `the control plane cannot be made · ${kind} ${metadata.name} belongs to another cluster · give this cluster another name`,
  };
}
