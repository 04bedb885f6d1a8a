import type { Plan } from "../../kube/feature.ts";
import type { PlannedCondition } from "../../model/conditions.ts";
import { conditions } from "../names.ts";
import { leftGroup, planGroup } from "./group.ts";
import { nameRefusal } from "./name.ts";
import { hasLostTags } from "./origin.ts";
import { reasons } from "./reasons.ts";
import { planRecords } from "./records.ts";
import type { Addresses, Problem, Seen, ZoneSeen } from "./seen.ts";
import { type DnsStep, joined, nothing, type Part, waiting } from "./steps.ts";
import { publicZone } from "./wanted.ts";
import { planZone, undoZone, unreadable } from "./zone.ts";

const privateRoles = ["toWorkload", "toManagement"] as const;
type PrivateRole = (typeof privateRoles)[number];

const absentMs = 60_000;
const unreadyMs = 2 * 60_000;
/** How soon to look again for an address that is still to come. */
const addressMs = 60_000;

/**
 * The names of one cluster:
 *
 *   infrastructure  cluster            →
 *   any             paused             nothing
 *   absent          lives              look again in 1 minute
 *   absent          goes               undo what can be found without it: the delegation, the zone in the management network
 *   there, goes     or the cluster     undo, then let go; nothing where it is not held by us. A Cluster that we hold goes last
 *   there           lives, refused     the condition says why; nothing is written, and nothing is deleted
 *   there           lives              hold it; then, when the cluster is ready (else in 2 minutes), all of this at once:
 *
 *     public zone            in the resource group, which is made first for a cluster that is not of CAPZ; with it
 *     delegation             in the base zone
 *     zone toWorkload        while an endpoint in the management network is approved; else undone
 *     zone toManagement      while an endpoint in this network is approved; else undone
 *
 *   and the condition: False while something is wrong or an endpoint has gone, True when all of it is there, as it was, or not
 *   there at all, in between.
 */
export function plan(seen: Seen): Plan<DnsStep> {
  const { cluster, infrastructure } = seen;
  if (cluster.paused) return { ...still, again: "drift" };
  if (cluster.deleting || infrastructure?.deleting) return undo(seen);
  if (infrastructure === undefined) return { ...still, again: { afterMs: absentMs } };
  const refused = seen.refused ?? nameRefusal(seen);
  if (refused !== undefined) {
    const verdict = { type: conditions.dnsZone, status: "False" as const, ...spoken(refused) };
    const steps = tell(seen, verdict);
    return { steps, conditions: [], events: eventsOf([refused]), again: "drift" };
  }
  // Whose infrastructure object nobody watches must not go before it.
  const held = infrastructure.is === "azure" ? {} : ({ finalizer: "hold" } as const);
  if (!infrastructure.held) return { ...still, ...held, steps: [hold(seen)], again: "soon" };
  if (!cluster.ready) return { ...still, ...held, again: { afterMs: unreadyMs } };
  const part = joined([
    planPublic(seen),
    ...privateRoles.map((role) => planPrivate(seen, role)),
    { ...nothing, problems: seen.problems },
  ]);
  const problems = withFailures(part, seen);
  const verdict = verdictOf(seen, { ...part, problems });
  return {
    ...held,
    steps: [...part.steps, ...tell(seen, verdict)],
    conditions: [],
    events: eventsOf(problems),
    again: againOf(part, seen),
  };
}

const still = { steps: [], conditions: [] } as const;

function planPublic(seen: Seen): Part {
  const group = planGroup(seen);
  const zone = publicZone(seen);
  // A zone can only be made in a group that is there.
  if (zone === undefined || group.pending || group.problems.length > 0) return group;
  const elsewhere = seen.zones.filter(({ role, id }) => role === "public" && id !== zone.id);
  return joined([
    group,
    planZone(seen, zone),
    ...seen.zones.filter(({ role }) => role === "base").map((base) => planDelegation(seen, base)),
    ...elsewhere.map((each) => undoZone(seen, each, "the zone is in another resource group")),
    pendingFor(seen.api),
  ]);
}

function planDelegation(seen: Seen, base: ZoneSeen): Part {
  if (base.unread !== undefined) return unreadable(base);
  if (base.look.state === "absent") {
    const message = `the delegation of ${seen.domains.cluster} is not written · the zone ${base.id} does not exist · make it, or correct --base-domain and --base-domain-resource-group`;
    return {
      ...nothing,
      problems: [{ reason: reasons.baseZoneMissing, message }],
      waits: [60_000],
    };
  }
  const delegation = planRecords(seen, base, false);
  const zone = publicZone(seen);
  return zone?.look.state === "there" ? delegation : { ...delegation, pending: true };
}

function planPrivate(seen: Seen, role: PrivateRole): Part {
  const zones = seen.zones.filter((each) => each.role === role);
  const wanted = seen.networks[role] !== undefined && !seen.served[role];
  const leads = endpointsOf(seen, role);
  // It may be a moment only: what answers goes on answering.
  const changing = { ...nothing, pending: leads.includes("unknown") };
  if (wanted && leads.includes("known"))
    return joined([...zones.map((zone) => planZone(seen, zone)), changing]);
  if (wanted && changing.pending) return waiting(addressMs);
  // Nobody looks for an endpoint here: who comes to know its address annotates it, and that wakes this.
  return joined(zones.map((zone) => undoZone(seen, zone, "no approved endpoint leads there")));
}

/** What is known of the endpoints that lead to the other side. */
function endpointsOf(seen: Seen, role: PrivateRole): Addresses["state"][] {
  const given = role === "toWorkload" ? [seen.toWorkload] : Object.values(seen.toManagement);
  return given.map(({ state }) => state);
}

/** Whether private names are missing because their endpoint is still to come. */
function isAwaited(seen: Seen, role: PrivateRole): boolean {
  const isNone = endpointsOf(seen, role).every((state) => state === "none");
  return isNone && seen.expected[role] && seen.networks[role] !== undefined;
}

function pendingFor(addresses: Addresses): Part {
  return addresses.state === "unknown" ? waiting(addressMs) : nothing;
}

/** The condition; undefined where it is to stay as it is. */
function verdictOf(seen: Seen, part: Part): PlannedCondition | undefined {
  const type = conditions.dnsZone;
  const [problem] = part.problems;
  if (problem !== undefined) {
    const { reason, message } = problem;
    return { type, status: "False", reason, message };
  }
  // One text for both sides: it is one write for a cluster that waits for two endpoints.
  if (privateRoles.some((role) => isAwaited(seen, role))) {
    // Of a new cluster nothing has been said yet, and GSPrivateLinksReady says what it waits for: a write less, and nobody is woken.
    if (seen.infrastructure?.told === undefined) return undefined;
    const message = `not every private name of the cluster is there yet · an approved private endpoint is still to come · ${conditions.links} says what it waits for`;
    const reason = reasons.privateNamesPending;
    return { type, status: "False", reason, message, severity: "Info" };
  }
  if (part.pending) return undefined;
  const message = `the names of the cluster are in the zone ${seen.domains.cluster}`;
  return { type, status: "True", reason: reasons.created, message };
}

/** The step that writes the condition, where there is a place for it and it differs. */
function tell(seen: Seen, verdict: PlannedCondition | undefined): DnsStep[] {
  const { infrastructure } = seen;
  // The status of an AzureASOManagedCluster has no conditions.
  if (verdict === undefined || infrastructure === undefined || infrastructure.is === "aks")
    return [];
  const { told } = infrastructure;
  const same =
    told?.status === verdict.status &&
    told.reason === verdict.reason &&
    told.message === verdict.message;
  return same ? [] : [{ on: "object", do: "tell", verdict, why: verdict.message }];
}

function hold({ infrastructure }: Seen): DnsStep {
  const why = `names are to be made for ${infrastructure?.called}`;
  return { on: "object", do: "hold", why };
}

/** Undo everything: nothing waits for what is not related. */
function undo(seen: Seen): Plan<DnsStep> {
  const { infrastructure, cluster } = seen;
  const free = cluster.deleting ? ({ finalizer: "release" } as const) : {};
  if (infrastructure !== undefined && !infrastructure.held)
    return { ...still, ...free, again: "never" };
  const why = `the cluster ${cluster.name} is being deleted`;
  const lost = seen.zones.some((zone) => hasLostTags(seen, zone));
  const zones = seen.zones.map((zone) =>
    // The delegation is the proof that a zone without tags is ours: the tags are restored first.
    zone.role === "base" && lost ? nothing : undoZone(seen, zone, why),
  );
  const part = joined([...zones, { ...nothing, problems: seen.problems }]);
  const problems = withFailures(part, seen).map(({ reason, message, ...rest }) => ({
    ...rest,
    reason: reasons.cleanupFailed,
    message: `the names of the cluster cannot be removed (${reason}) · ${message} · or remove the rest by hand and take our finalizer off ${infrastructure?.called ?? "its object"}`,
  }));
  const [problem] = problems;
  const verdict = problem && {
    type: conditions.dnsZone,
    status: "False" as const,
    ...spoken(problem),
  };
  const steps = [...part.steps, ...tell(seen, verdict)];
  const over = part.steps.length === 0 && part.waits.length === 0 && problem === undefined;
  if (over && infrastructure !== undefined)
    steps.push({ on: "object", do: "let go", why: "no names of the cluster are left" });
  return {
    ...(over && free),
    steps,
    conditions: [],
    events: [...eventsOf(problems), ...(over ? leftGroup(seen) : [])],
    again: over ? "never" : againOf({ ...part, problems }, seen),
  };
}

/** What failed in the last pass is still wrong if there is still something to do. */
function withFailures({ steps, problems }: Part, { failures }: Seen): readonly Problem[] {
  return steps.length > 0 ? [...problems, ...failures] : problems;
}

function spoken({ reason, message }: Problem): Pick<Problem, "reason" | "message"> {
  return { reason, message };
}

function eventsOf(problems: readonly Problem[]) {
  return problems.map(({ reason, message }) => ({
    reason,
    note: message,
    type: "Warning" as const,
  }));
}

function againOf({ waits, problems }: Part, seen: Seen): Plan["again"] {
  const times = [
    ...waits,
    ...problems.flatMap(({ requeueAfterMs }) => requeueAfterMs ?? []),
    ...(seen.services === undefined ? [addressMs] : []),
  ];
  return times.length > 0 ? { afterMs: Math.min(...times) } : "drift";
}
