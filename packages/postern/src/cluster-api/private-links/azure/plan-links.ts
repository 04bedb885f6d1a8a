import { provisioningOf } from "@postern/core/provisioning.ts";
import { idKey, nameOf, parentOf, sameId } from "@postern/core/resource-id.ts";
import { type Part, retry, wait, waits } from "../../../kube/part.ts";
import { balancerFullMessage } from "../../../private-link/link-service/balancer.ts";
import { hasNatAddresses } from "../../../private-link/link-service/desired.ts";
import {
  planCreateLinkService,
  planExistingLinkService,
} from "../../../private-link/link-service/plan.ts";
import { planDeleteLinkService } from "../../../private-link/link-service/plan-delete.ts";
import { planChanging } from "../../../private-link/plan-resource.ts";
import type { MissingFrontend, ObservedLinks, Subject } from "../observed.ts";
import { reasons } from "../reasons.ts";
import type { DesiredPrivateLink } from "../spec/desired.ts";
import type { PrivateLinkStep } from "../steps.ts";
import { planNat } from "./nat.ts";
import { checkOwner } from "./owner.ts";
import { planObsolete } from "./plan-obsolete.ts";
import { linkPolicy } from "./policy.ts";

/** Plans the link services that are desired, and deletes those that are not any more. */
export function planLinks(
  observed: ObservedLinks,
  subject: Subject,
  prune: { why: string } | undefined,
): Part<PrivateLinkStep>[] {
  const opened = new Set<string>();
  const desired = observed.desired.map((each) => planDesiredLink(each, observed, subject, opened));
  if (prune === undefined) return desired;
  const { why } = prune;
  const policy = linkPolicy(subject);
  const obsolete = observed.obsolete.map((each) =>
    planObsolete(
      each,
      (name) => policy.deletion.message(name, why),
      (found) => planDeleteLinkService({ id: each.id, found, why }, policy),
    ),
  );
  return [...desired, ...obsolete];
}

function planDesiredLink(
  { link, observation, missing, lacksTags = false }: ObservedLinks["desired"][number],
  observed: ObservedLinks,
  subject: Subject,
  opened: Set<string>,
): Part<PrivateLinkStep> {
  const policy = linkPolicy(subject);
  const name = link.name;
  switch (observation.state) {
    case "failed":
      return retry(observation.failure, { reason: reasons.notMade });
    case "changing":
      return planChanging(name, observation, policy);
    case "absent":
      return (
        (missing && waitForFrontend(name, missing)) ??
        missingFrontend(link, observed) ??
        fullBalancer(link, observed) ??
        planNat(link, observed, subject, opened) ??
        planCreateLinkService(link, "it does not exist", policy)
      );
    case "exists": {
      const { resource } = observation;
      const foreign = checkOwner(resource, link, subject, lacksTags, {
        thing: `link service ${name}`,
        remedy: "give the link another name, or tag the service",
      });
      if (foreign !== undefined) return foreign;
      if (missing?.isServiceDeleting)
        return planDeleteLinkService({ id: link.id, found: resource, why: missing.why }, policy);
      if (missing !== undefined) return waitForFrontend(name, missing);
      const part = planExistingLinkService(resource, link, policy);
      const needsSubnets = part.problems[0]?.reason === reasons.changing;
      if (!needsSubnets || hasNatAddresses(resource, link)) return part;
      return planNat(link, observed, subject, opened) ?? part;
    }
  }
}

/** The frontend of a Service that the link names. A link service that exists stays as it is meanwhile. */
function waitForFrontend(name: string, { why, isServiceDeleting }: MissingFrontend): Part<never> {
  const remedy = isServiceDeleting
    ? "the link is created again for the next Service of this name"
    : "the cloud provider creates it";
  const message = `private link ${name} is pending · ${why} · ${remedy}`;
  return wait({ reason: reasons.noLoadBalancer, message }, waits.failureMs);
}

/** Azure refuses one more link service, and says only that a limit is reached. */
function fullBalancer(
  { name, frontends: [first] }: DesiredPrivateLink,
  { fullBalancers = [] }: ObservedLinks,
): Part<never> | undefined {
  const balancer = fullBalancers.find((each) => sameId(each, (first && parentOf(first)) ?? ""));
  if (balancer === undefined) return undefined;
  const remedy = "remove a link service from it, or name a frontend of another load balancer";
  const message = balancerFullMessage(`private link ${name}`, nameOf(balancer), remedy);
  return wait({ reason: reasons.loadBalancerFull, message }, waits.changeMs);
}

/** The load balancer and its frontends must exist before a link service. */
function missingFrontend(
  { name, frontends }: DesiredPrivateLink,
  { balancers = [] }: ObservedLinks,
): Part<never> | undefined {
  const waitFor = (
    why: string,
    requeueMs: number = waits.failureMs,
    remedy = "Cluster API Provider Azure or the cloud provider creates it",
  ) => {
    const message = `private link ${name} is pending · ${why} · ${remedy}`;
    return wait({ reason: reasons.noLoadBalancer, message }, requeueMs);
  };
  const [first] = frontends;
  const id = first && parentOf(first);
  const called = id === undefined ? "" : nameOf(id);
  const balancer = balancers.find((each) => sameId(each.id, id ?? ""));
  if (balancer === undefined || balancer.observation.state === "absent")
    return waitFor(`load balancer ${called} does not exist`);
  const { observation } = balancer;
  if (observation.state === "changing")
    return waitFor(`load balancer ${called} is being written`, observation.retryAfterMs);
  if (observation.state === "failed")
    return retry(observation.failure, { reason: reasons.noLoadBalancer });
  if (provisioningOf(observation.resource) === "failed")
    return waitFor(
      `load balancer ${called} is ${observation.resource.properties.provisioningState}`,
      waits.failureMs,
      "ask its owner to update it",
    );
  const there = new Set(
    (observation.resource.properties.frontendIPConfigurations ?? []).map(({ id }) =>
      idKey(id ?? ""),
    ),
  );
  const missing = frontends.find((each) => !there.has(idKey(each)));
  return missing && waitFor(`load balancer ${called} has no frontend ${nameOf(missing)}`);
}
