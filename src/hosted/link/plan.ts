import type { PrivateLinkService } from "../../azure/gateways/private-link-services.ts";
import type { Again, Plan } from "../../kube/feature.ts";
import { conditionOf, type PlannedCondition } from "../../model/conditions.ts";
import type { Failure } from "../../model/failure.ts";
import { nameOf, parseResourceId, sameId } from "../../model/resource-id.ts";
import { conditions } from "../names.ts";
import { longestName } from "./cluster.ts";
import { adopted, differences, newService, repaired } from "./link-service.ts";
import { balancerCondition, balancerID, balancerProblem } from "./load-balancer.ts";
import { planDown, removal } from "./plan-down.ts";
import { reasons } from "./reasons.ts";
import type { NatSeen, Seen, StatusFields, Stopped, Unseen, Up } from "./seen.ts";
import type { LinkStep } from "./steps.ts";
import { wantedOf } from "./wanted.ts";

export { reasons };

/*
 * What is seen, and what follows. The first row that fits counts.
 *
 *   seen                                        steps                          AzurePLSCreated
 *   being deleted                               see plan-down.ts               False PLSDeleting
 *   paused                                      none                           as it was, or False Paused
 *   no cluster, no id, no address, long name    none                           False, the reason says which
 *   Azure could not be asked                    none, again when Azure said    False AzureError
 *   its last operation has failed               none, again when Azure said    False PLSCreationFailed, PLSUpdateFailed
 *   being changed                               none, again when it is due     as it was while True, else False PLSCreating
 *   of an object of the cluster that is gone    take it over, with its etag    as it was while True, else False PLSUpdating
 *   somebody else's                             none                           False OwnedByAnother
 *   there, load balancer not found              none                           False ILBNotFound, ILBUnsupported
 *   there, load balancers cannot be listed      none                           as it was
 *   there, Azure never changes what differs     disconnect, remove             False PLSReplacing, without the alias
 *   there, something else differs               change it, with its etag       as it was while True, else False PLSUpdating
 *   there, as wanted, with an alias             none, drift                    True AzureSuccess
 *   absent, load balancer not found             none                           False ILBNotFound, ILBUnsupported, ILBLookupFailed
 *   absent, NAT subnet unfit                    none                           False NATSubnetUnfit, NATSubnetCreationFailed
 *   absent, NAT subnet absent                   note it, then make it          False NATSubnetCreating
 *   absent                                      make it; note the subnet;      False PLSCreating
 *                                               make the next one if few are left
 *
 * AzureInternalLoadBalancerAvailable is True while the address of the spec is that of a load balancer which can be used.
 */

/** How soon to look again for what a person has to put right in Azure. */
const personMs = 60_000;

/** Decide what is to be done about one link. */
export function plan(seen: Seen): Plan<LinkStep> {
  switch (seen.stage) {
    case "stopped":
      return planStopped(seen);
    case "unseen":
      return planUnseen(seen);
    case "down":
      return planDown(seen);
    case "up":
      return planUp(seen);
  }
}

function planStopped({ subject, known }: Stopped): Plan<LinkStep> {
  const held = [...subject.conditions];
  const status = { ...subject.fields };
  if (known.is === "paused") {
    const { untilMs } = known.pause;
    const again: Again = untilMs === undefined ? "never" : { afterMs: untilMs };
    if (held.length > 0) return { steps: [], conditions: held, status, again };
    const message = "the HostedCluster is paused · nothing is changed until spec.pausedUntil ends";
    return { steps: [], conditions: [link(reasons.paused, message)], status, again };
  }
  const balancer = conditionOf(held, conditions.loadBalancer);
  return {
    steps: [],
    conditions: [...(balancer ? [balancer] : []), link(known.reason, known.message)],
    status,
    // Whatever can help is watched.
    again: "never",
  };
}

function planUnseen({ subject, failure }: Unseen): Plan<LinkStep> {
  const others = subject.conditions.filter(({ type }) => type !== conditions.link);
  return {
    steps: [],
    conditions: [...others, link(reasons.error, failure.message)],
    // What was published may well be there still.
    status: { ...subject.fields },
    again: againAfter(failure),
  };
}

function planUp(seen: Up): Plan<LinkStep> {
  const { service, subject } = seen;
  const balancer = balancerCondition(seen);
  const base: StatusFields = { internalLoadBalancerID: balancerID(seen) };
  const decided = decide(seen);
  const held = conditionOf(subject.conditions, conditions.link);
  // A change in place disturbs nobody who is connected, so what was true stays true.
  const keepsTrue = decided.keepsTrue === true && held?.status === "True";
  // While it is not known what will be, what was published stays.
  const keeps = service.state !== "absent" && decided.withdraw !== true;
  return {
    steps: decided.steps ?? [],
    conditions: [balancer, keepsTrue ? held : decided.condition],
    status: { ...base, ...(keeps && kept(subject.fields)), ...decided.status },
    ...(decided.events && { events: decided.events }),
    finalizer: "hold",
    again: decided.again,
  };
}

interface Decided {
  condition: PlannedCondition;
  steps?: LinkStep[];
  status?: StatusFields;
  /** Whether a condition that is True already stays as it is. */
  keepsTrue?: boolean;
  /** Whether the id and the alias are taken out of the status. */
  withdraw?: boolean;
  events?: Plan["events"];
  again: Again;
}

function decide(seen: Up): Decided {
  const { service, subject } = seen;
  switch (service.state) {
    case "failed": {
      const existed = subject.fields.privateLinkServiceID !== undefined;
      return failed(existed ? reasons.updateFailed : reasons.creationFailed, service.failure);
    }
    case "changing": {
      const message = `link service ${seen.known.serviceName} is being written · Azure needs about half a minute · nothing to do`;
      const again = { afterMs: service.retryAfterMs };
      return { condition: link(reasons.creating, message), keepsTrue: true, again };
    }
    case "there":
      return decideThere(seen, service.resource);
    case "absent":
      return decideAbsent(seen);
  }
}

function decideThere(seen: Up, found: PrivateLinkService): Decided {
  const { known, subject, frontend, id, owner } = seen;
  if (owner.is === "left") return adopt(seen, found);
  if (owner.is === "another") {
    const message = `link service ${nameOf(id)} is not ours · it belongs to ${owner.whose} · delete it, or set its tag postern_owner to ${known.clusterID}/${subject.uid}`;
    return { condition: link(reasons.ownedByAnother, message), withdraw: true, again: "drift" };
  }
  const status = { privateLinkServiceID: statusID(found, id) };
  if (frontend.is === "failed") {
    const { failure } = frontend;
    const condition = link(reasons.loadBalancerLookupFailed, failure.message);
    return { condition, keepsTrue: true, status, again: againAfter(failure) };
  }
  const problem = balancerProblem(seen);
  if (problem)
    return { condition: { ...problem, type: conditions.link }, status, again: { afterMs: 30_000 } };
  const wanted = wantedOf(seen, seen.natSubnetID);
  const { fixed, changeable } = differences(found, wanted);
  if (fixed.length > 0) return replace(seen, found, fixed.join(", "));
  const note = noting(seen, seen.natOfService);
  if (changeable.length > 0) {
    const why = changeable.join(", ");
    const message = `link service ${nameOf(id)} is being put right · ${why} · nothing to do`;
    const step: LinkStep = {
      ...{ do: "change the link service", id, body: repaired(found, wanted), etag: found.etag },
      ...{ why, event: reasons.updating, failsAs: reasons.updateFailed },
    };
    const condition = link(reasons.updating, message);
    return { condition, steps: [step, ...note], status, keepsTrue: true, again: "soon" };
  }
  const { alias = "" } = found.properties;
  if (alias === "") {
    const message = `link service ${nameOf(id)} has no alias yet · Azure gives it one · nothing to do`;
    return { condition: link(reasons.error, message), steps: note, status, again: "soon" };
  }
  const message = `link service ${nameOf(id)} is ready`;
  const { warning } = known;
  const said = warning === undefined ? message : `${message}, but ${warning}`;
  const warned = { reason: "PausedUntilUnreadable", note: warning ?? "", type: "Warning" } as const;
  return {
    condition: { ...link(reasons.success, said), status: "True" },
    steps: note,
    status: { ...status, privateLinkServiceAlias: alias },
    events: [
      { reason: "PLSReady", note: `${message}, its alias is ${alias}` },
      ...(warning === undefined ? [] : [warned]),
    ],
    again: "drift",
  };
}

/** Only its owner changes now: what else there is to do is done to what is ours. */
function adopt({ id, known: { clusterID }, subject }: Up, found: PrivateLinkService): Decided {
  const why = "the object of this cluster that it was made for does not exist any more";
  const body = adopted(found, { clusterID, uid: subject.uid });
  const step: LinkStep = {
    ...{ do: "change the link service", id, body, etag: found.etag },
    ...{ why, event: "PLSAdopted", failsAs: reasons.updateFailed },
  };
  const message = `link service ${nameOf(id)} is being taken over · ${why} · nothing to do`;
  const condition = link(reasons.updating, message);
  return { condition, steps: [step], keepsTrue: true, again: "soon" };
}

function replace(seen: Up, found: PrivateLinkService, why: string): Decided {
  const { id, subject } = seen;
  const gone = removal(subject, { id, resource: found, why, guestMs: 0 });
  const steps = [...noting(seen, seen.natOfService), ...gone.steps];
  if (gone.refused) return { condition: link(gone.refused.reason, gone.refused.message), ...late };
  const message = `link service ${nameOf(id)} is made anew · ${why}, which Azure never changes · nothing to do`;
  return { condition: link(reasons.replacing, message), steps, withdraw: true, again: "soon" };
}

const late = { again: { afterMs: personMs } } as const;

function decideAbsent(seen: Up): Decided {
  const { frontend, nat, id, known } = seen;
  if (frontend.is === "failed") return failed(reasons.loadBalancerLookupFailed, frontend.failure);
  const problem = balancerProblem(seen);
  if (problem)
    return { condition: { ...problem, type: conditions.link }, again: { afterMs: 30_000 } };
  const waiting = natProblem(seen, nat);
  if (waiting) return waiting;
  if (nat.is !== "there") return { condition: link(reasons.creating, ""), again: "soon" };
  const body = newService({ ...wantedOf(seen, nat.subnet), natSubnet: nat.subnet });
  const existed = seen.subject.fields.privateLinkServiceID !== undefined;
  const why = existed ? "somebody deleted it" : "the cluster has none yet";
  const steps: LinkStep[] = [
    ...noting(seen, nat.ours ? nat.subnet : undefined),
    {
      ...{ do: "make the link service", id, body, why },
      ...{ event: reasons.creating, failsAs: reasons.creationFailed },
    },
  ];
  if (nat.spare) {
    const why = `few addresses are left in ${nameOf(nat.subnet)}`;
    const event = reasons.natSubnetCreating;
    steps.push({ do: "make the next NAT subnet", ...nat.spare, why, event });
  }
  const message = `link service ${known.serviceName} is being written · Azure needs about half a minute · nothing to do`;
  return { condition: link(reasons.creating, message), steps, again: "soon" };
}

/** What keeps a service from being made, as far as its NAT subnet is concerned. */
function natProblem(seen: Up, nat: NatSeen): Decided | undefined {
  switch (nat.is) {
    case "failed":
      return failed(reasons.natSubnetFailed, nat.failure);
    case "unfit":
      return { condition: link(reasons.natSubnetUnfit, nat.message), ...late };
    case "changing":
      return { condition: makingSubnet, again: { afterMs: nat.retryAfterMs } };
    case "to be made": {
      const { subnet } = nat;
      const name = nameOf(subnet.id);
      if (name.length > longestName) {
        const message = `the NAT subnet would be called ${name} · Azure takes at most ${longestName} characters · use a shorter infraID, or share subnets`;
        return { condition: link(reasons.nameTooLong, message), again: "never" };
      }
      // Noted first: after a crash it is known whose it is, and that it may be deleted.
      const note = noting(seen, subnet.id);
      if (note.length > 0) return { condition: makingSubnet, steps: note, again: "soon" };
      const step: LinkStep = {
        ...{ do: "make the NAT subnet", ...subnet },
        why: subnet.broken
          ? "it cannot be used as it is"
          : "no subnet for link services has an address left",
        ...{ event: reasons.natSubnetCreating, failsAs: reasons.natSubnetFailed },
      };
      return { condition: makingSubnet, steps: [step], again: "soon" };
    }
    default:
      return undefined;
  }
}

function noting({ subject }: Up, subnet: string | undefined): LinkStep[] {
  if (subnet === undefined || sameId(subject.notedSubnet ?? "", subnet)) return [];
  const { namespace, name, uid } = subject;
  const why = "so that it is known after a restart";
  return [{ do: "note the NAT subnet", namespace, name, uid, subnet, why }];
}

function kept({ privateLinkServiceID, privateLinkServiceAlias }: StatusFields): StatusFields {
  return { privateLinkServiceID, privateLinkServiceAlias };
}

/** Azure may answer in another case than the schema of the status takes. */
function statusID({ id }: PrivateLinkService, wanted: string): string {
  return parseResourceId(id ?? wanted, "Microsoft.Network/privateLinkServices");
}

function failed(reason: string, failure: Failure): Decided {
  return { condition: link(reason, failure.message), again: againAfter(failure) };
}

function againAfter({ terminal, requeueAfterMs }: Failure): Again {
  if (terminal === true) return "never";
  return requeueAfterMs === undefined ? "soon" : { afterMs: requeueAfterMs };
}

function link(reason: string, message: string): PlannedCondition {
  return { type: conditions.link, status: "False", reason, message };
}

const makingSubnet = link(
  reasons.natSubnetCreating,
  "the NAT subnet is being made · Azure takes one write to a network at a time · nothing to do",
);
