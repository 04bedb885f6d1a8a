import { provisioningOf } from "@postern/core/provisioning.ts";
import { idKey, nameOf, parentOf, type ResourceId } from "@postern/core/resource-id.ts";
import { done, type Part, retry, wait } from "../../../kube/part.ts";
import { hasNatAddresses } from "../../../private-link/link-service/desired.ts";
import {
  planCreateLinkService,
  planExistingLinkService,
} from "../../../private-link/link-service/plan.ts";
import { planDeleteLinkService } from "../../../private-link/link-service/plan-delete.ts";
import { planChanging } from "../../../private-link/plan-resource.ts";
import type { ObservedLinks, Subject } from "../observed.ts";
import { reasons } from "../reasons.ts";
import type { DesiredPrivateLink } from "../spec/desired.ts";
import type { PrivateLinkStep } from "../steps.ts";
import { planNat } from "./nat.ts";
import { checkOwner } from "./owner.ts";
import { awaitCapzMs, linkPolicy } from "./policy.ts";

/*
 * What to do about each link service. The first row that fits counts.
 *
 *   seen                                         steps                          told as
 *   its last operation has failed                none, again when Azure said    NotMade
 *   being changed                                none, again when it is due     BeingMade, or True while it was True
 *   somebody else's, and its tags are not lost   none                           OwnedByAnother
 *   there, Azure never changes what differs      reject, disconnect, remove     BeingReplaced
 *   there, and Failed or Canceled                write it again, with its etag  BeingChanged
 *   there, something else differs                change it, with its etag       BeingChanged, or True while it was True
 *   there, as wanted                             none                           Realised
 *   absent, no load balancer or no frontend      none, again in half a minute   LoadBalancerMissing
 *   absent, the NAT subnet is closed, and ours   open it                        NATSubnetBeingChanged
 *   absent, the NAT subnet cannot be used        none, again in a minute        NATSubnetUnfit
 *   absent                                       make it                        BeingMade
 *   ours, and not asked for                      reject, disconnect, remove     BeingRemoved
 */

/** Decide about the link services that are wanted, and those that are not any more. */
export function planLinks(
  observed: ObservedLinks,
  subject: Subject,
  prune: { why: string } | undefined,
): Part<PrivateLinkStep>[] {
  const opened = new Set<string>();
  const desired = observed.desired.map((each) => planDesiredLink(each, observed, subject, opened));
  if (prune === undefined) return desired;
  return [
    ...desired,
    ...observed.obsolete.map((each) => planObsoleteLink(each, subject, prune.why)),
  ];
}

function planDesiredLink(
  { link, look, lacksTags = false }: ObservedLinks["desired"][number],
  observed: ObservedLinks,
  subject: Subject,
  opened: Set<string>,
): Part<PrivateLinkStep> {
  const policy = linkPolicy(subject);
  const name = link.name;
  switch (look.state) {
    case "failed":
      return retry(look.failure, { reason: reasons.notMade });
    case "changing":
      return planChanging(name, look, policy);
    case "absent":
      return (
        missingFrontend(link, observed) ??
        planNat(link, observed, subject, opened) ??
        planCreateLinkService(link, `private link ${name} is asked for and does not exist`, policy)
      );
    case "there": {
      const { resource } = look;
      const foreign = checkOwner(resource, link, subject, lacksTags, {
        thing: `link service ${name}`,
        remedy: "give the link another name, or tag the service",
      });
      if (foreign !== undefined) return foreign;
      const part = planExistingLinkService(resource, link, policy);
      const needsSubnets = part.problems[0]?.reason === reasons.changing;
      if (!needsSubnets || hasNatAddresses(resource, link)) return part;
      return planNat(link, observed, subject, opened) ?? part;
    }
  }
}

/** What a link stands before must be there first. */
function missingFrontend(
  { name, frontends }: DesiredPrivateLink,
  { balancer }: ObservedLinks,
): Part<never> | undefined {
  const waitFor = (
    why: string,
    requeueMs = awaitCapzMs,
    remedy = "Cluster API Provider Azure makes it",
  ) => {
    const message = `private link ${name} waits · ${why} · ${remedy}`;
    return wait({ reason: reasons.noLoadBalancer, message }, requeueMs);
  };
  const [first] = frontends;
  const called = first === undefined ? "" : nameOf(parentOf(first) as ResourceId);
  if (balancer === undefined || balancer.look.state === "absent")
    return waitFor(`load balancer ${called} is not there`);
  const { look } = balancer;
  if (look.state === "changing")
    return waitFor(`load balancer ${called} is being written`, look.retryAfterMs);
  if (look.state === "failed") return retry(look.failure, { reason: reasons.noLoadBalancer });
  if (provisioningOf(look.resource) === "failed")
    return waitFor(
      `load balancer ${called} is ${look.resource.properties.provisioningState}`,
      awaitCapzMs,
      "have Cluster API Provider Azure write it again",
    );
  const there = new Set(
    (look.resource.properties.frontendIPConfigurations ?? []).map(({ id }) => idKey(id ?? "")),
  );
  const missing = frontends.find((each) => !there.has(idKey(each)));
  return missing && waitFor(`load balancer ${called} has no frontend ${nameOf(missing)}`);
}

/** Delete what is not asked for any more. */
function planObsoleteLink(
  { id, look }: ObservedLinks["obsolete"][number],
  subject: Subject,
  why: string,
): Part<PrivateLinkStep> {
  const policy = linkPolicy(subject);
  switch (look.state) {
    case "absent":
      return done;
    case "failed":
      return retry(look.failure, { reason: reasons.notRemoved });
    case "changing": {
      const message = policy.deletion.message(nameOf(id), why);
      return wait({ reason: reasons.removing, message }, look.retryAfterMs);
    }
    case "there":
      return planDeleteLinkService({ id, found: look.resource, why }, policy);
  }
}
