import type { PlannedCondition } from "@postern/core/conditions.ts";
import type { Plan } from "../../kube/feature.ts";
import { done, join, type Part, report, requeueOf, retry, wait, waits } from "../../kube/part.ts";
import { healthOf } from "../../private-dns/links/plan.ts";
import { conditions, dnsFinalizer } from "../names.ts";
import type { Addresses, Observed, ZoneInRole } from "./observed.ts";
import { planDelete } from "./plan-delete.ts";
import { reasons } from "./reasons.ts";
import type { DnsStep } from "./steps.ts";
import { planDeleteZone } from "./zones/delete.ts";
import { publicZone } from "./zones/desired.ts";
import { planGroup } from "./zones/group.ts";
import { nameRefusal } from "./zones/name.ts";
import { planNames } from "./zones/records.ts";
import {
  actionableIn,
  eventsOf,
  falseCondition,
  inRole,
  linkProblems,
  pending,
  planObserved,
  reported,
  unchanged,
} from "./zones/report.ts";
import { planDesiredZone } from "./zones/zone.ts";

const privateRoles = ["toWorkload", "toManagement"] as const;
type PrivateRole = (typeof privateRoles)[number];

/** So many of the steps that follow the finalizer are named. */
const mostNamed = 5;

/** CAPZ needs minutes for a cluster, and a watch event reports most of it. */
const unreadyMs = 2 * 60_000;

/**
 * The DNS zones and records of one cluster: a public zone with its delegation, and a private zone for each direction in which an
 * endpoint is approved. Nothing is written or deleted for a cluster that is refused. The condition stays as it is while something
 * is pending.
 */
export function plan(observed: Observed): Plan<DnsStep> {
  const { cluster, infrastructure } = observed;
  if (cluster.paused) return { ...unchanged, requeue: "drift" };
  if (cluster.deleting || infrastructure?.deleting) return planDelete(observed);
  if (infrastructure === undefined) return { ...unchanged, requeue: { afterMs: waits.changeMs } };
  const refused = observed.refused ?? nameRefusal(observed);
  if (refused !== undefined) {
    const conditions = [falseCondition(refused)];
    return { steps: [], conditions, events: eventsOf([refused]), requeue: "drift" };
  }
  // Whose infrastructure object nobody watches must not go before it.
  const ownFinalizer = infrastructure.is === "azure" ? {} : ({ finalizer: "add" } as const);
  if (!infrastructure.hasFinalizer) {
    const following = cluster.ready ? planAll(observed).steps : [];
    const steps = [addFinalizer(observed, following)];
    return { ...unchanged, ...ownFinalizer, steps, requeue: "soon" };
  }
  if (!cluster.ready) return { ...unchanged, ...ownFinalizer, requeue: { afterMs: unreadyMs } };
  const part = planAll(observed);
  return {
    ...ownFinalizer,
    steps: part.steps,
    ...reported(conditionOf(observed, part)),
    events: eventsOf(actionableIn(part)),
    requeue: requeueOf(part),
  };
}

function planAll(observed: Observed): Part<DnsStep> {
  return join([
    planPublic(observed),
    ...privateRoles.map((role) => planPrivate(observed, role)),
    planObserved(observed),
  ]);
}

function planPublic(observed: Observed): Part<DnsStep> {
  const group = planGroup(observed);
  const zone = publicZone(observed);
  // A zone can only be created in a group that is there.
  if (zone === undefined || group.problems.length > 0) return group;
  const elsewhere = observed.zones.filter(({ role, id }) => role === "public" && id !== zone.id);
  return join([
    group,
    planDesiredZone(observed, zone),
    ...observed.zones
      .filter(({ role }) => role === "base")
      .map((base) => planDelegation(observed, base)),
    ...elsewhere.map((each) =>
      planDeleteZone(observed, each, "the zone is in another resource group"),
    ),
    observed.api.state === "unknown" ? wait(pending, waits.changeMs) : done,
  ]);
}

function planDelegation(observed: Observed, base: ZoneInRole): Part<DnsStep> {
  if (base.unread !== undefined) return retry(base.unread.failure);
  if (base.observation.state === "absent") {
    const message = `the delegation of ${observed.domains.cluster} is not written · the zone ${base.id} does not exist · create it, or correct --base-domain and --base-domain-resource-group`;
    return wait({ reason: reasons.baseZoneMissing, message }, waits.changeMs);
  }
  const delegation = inRole(planNames(observed, base, false), base);
  const isThere = publicZone(observed)?.observation.state === "exists";
  return isThere ? delegation : join([delegation, report(pending)]);
}

function planPrivate(observed: Observed, role: PrivateRole): Part<DnsStep> {
  const zones = observed.zones.filter((each) => each.role === role);
  const desired = observed.networks[role] !== undefined && !observed.served[role];
  const endpoints = endpointsOf(observed, role);
  // It may be a moment only: what answers goes on answering.
  const isChanging = endpoints.includes("unknown");
  if (desired && endpoints.includes("known"))
    return join([
      ...zones.map((zone) => planDesiredZone(observed, zone)),
      isChanging ? report(pending) : done,
    ]);
  if (desired && isChanging) return wait(pending, waits.changeMs);
  // Endpoints are not read here: whoever knows an address annotates it, and that requeues this.
  const serving = observed.served[role] ? observed.servedBy?.[role] : undefined;
  return join([
    ...zones.map((zone) => planDeleteZone(observed, zone, "no approved endpoint leads there")),
    serving === undefined ? done : healthOf(serving, false, linkProblems),
  ]);
}

/** What is known of the endpoints that lead to the other side. */
function endpointsOf(observed: Observed, role: PrivateRole): Addresses["state"][] {
  const given =
    role === "toWorkload" ? [observed.toWorkload] : Object.values(observed.toManagement);
  return given.map(({ state }) => state);
}

/** Whether private names are missing because their endpoint is still to come. */
function isAwaited(observed: Observed, role: PrivateRole): boolean {
  const isNone = endpointsOf(observed, role).every((state) => state === "none");
  return isNone && observed.expected[role] && observed.networks[role] !== undefined;
}

/** The condition; undefined where it is to stay as it is. */
function conditionOf(observed: Observed, part: Part<DnsStep>): PlannedCondition | undefined {
  const type = conditions.dnsZone;
  const [problem] = actionableIn(part);
  if (problem !== undefined) return falseCondition(problem);
  // One message for both directions: it is one write for a cluster that waits for two endpoints.
  if (privateRoles.some((role) => isAwaited(observed, role))) {
    // Of a new cluster nothing has been said yet, and GSPrivateLinksReady says what it waits for: a write less, and nobody is woken.
    if (observed.infrastructure?.condition === undefined) return undefined;
    const message = `some private DNS records of the cluster are not written yet · an approved private endpoint is missing · see condition ${conditions.links}`;
    const reason = reasons.privateNamesPending;
    return { type, status: "False", reason, message, severity: "Info" };
  }
  const unresolved = part.problems.find(({ harmless }) => !harmless);
  if (unresolved !== undefined && observed.infrastructure?.condition !== undefined) {
    const { reason, message } = unresolved;
    return { type, status: "False", reason, message, severity: "Info" };
  }
  if (part.problems.length > 0) return undefined;
  const message = `the names of the cluster are in the zone ${observed.domains.cluster}`;
  return { type, status: "True", reason: reasons.created, message };
}

/** The first step. What follows is in its reason: it is all that a policy or a dry run shows of a cluster that is not adopted yet. */
function addFinalizer({ infrastructure }: Observed, following: readonly DnsStep[]): DnsStep {
  const named = following.slice(0, mostNamed).map(({ do: what, name }) => `${what} ${name}`);
  const more = following.length - mostNamed;
  const next = [...named, ...(more > 0 ? [`${more} more`] : [])].join(", ");
  const because = `${infrastructure?.called} must outlast the DNS names of the cluster`;
  const why = next === "" ? because : `${because}; then: ${next}`;
  return { on: "object", do: "add finalizer", name: dnsFinalizer, why };
}
