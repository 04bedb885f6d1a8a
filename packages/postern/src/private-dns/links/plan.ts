import { claimsIn, withClaim } from "@postern/core/claims.ts";
import type { Failure } from "@postern/core/failure.ts";
import { linkProvisioningOf } from "@postern/core/provisioning.ts";
import { idKey, nameOf, type ResourceId } from "@postern/core/resource-id.ts";
import type { Tags } from "@postern/core/tags.ts";
import { withAllTags, withUserTags } from "@postern/core/user-tags.ts";
import {
  act,
  done,
  fail,
  join,
  type Part,
  type Problem,
  report,
  wait,
  waits,
} from "../../kube/part.ts";
import type { LinkStep } from "../steps.ts";
import { isClaimed, isOnlyUser, otherClaims, withoutOwnClaim, type ZoneUser } from "../user.ts";
import { newLink, retagged } from "./desired.ts";
import { type FoundLink, foundLinks, networkKey, type ObservedLink } from "./observed.ts";

/** What a user wants of the links of a zone, and how it reports on them. */
export interface LinkPolicy {
  user: ZoneUser;
  /** The networks in which the zone is to answer. */
  networks: readonly ResourceId[];
  /** The tags of a new link beside the claim. */
  tags: Tags;
  /** What somebody asks for beside them; undefined where that is not known. */
  userTags?: Tags | undefined;
  /** The ids that a link to a network may have, in order of preference. */
  idsFor(network: ResourceId): readonly ResourceId[];
  /** Whether a link that nobody claims is the user's all the same. */
  isAdoptable(link: FoundLink): boolean;
  /** Why no link is created yet. */
  withheld?: Problem | undefined;
  /** The zone answers now: a link that is being changed may be the one by which it does. */
  isServed: boolean;
  /** Why a link cannot have this id. */
  refuseId?(id: ResourceId): Problem | undefined;
  report: LinkReport;
}

/** What is said of links. */
export interface LinkReport {
  /** The zone in a sentence. */
  zone: string;
  /** A link is being created. */
  creating: Problem;
  /** A link is being changed, by us or by another. */
  changing: Problem;
  /** A link is being claimed, repaired or given up. */
  updating?: Problem;
  /** How a link that is claimed serves. */
  serves: string;
  /** A link does not resolve yet. */
  unresolved(link: FoundLink): Problem;
  /** Azure failed to write a link; `repairing`: it is written again. */
  failed(link: FoundLink, repairing: boolean): Problem;
  /** Azure refused a link. */
  refused(network: ResourceId, failure: Failure): Problem;
  /** All names that a link may have are taken. */
  taken(network: ResourceId, names: string): Problem;
}

interface ZoneWithLinks {
  id: ResourceId;
  links: readonly ObservedLink[];
}

/**
 * What to do about the links of a zone, for each network:
 *
 *   link to it                     →
 *   with our claim                 good; written again where Azure failed to write it
 *   with another's claim           good, and claimed, so that it stays when the other leaves
 *   without any, but adoptable     good, and claimed
 *   without any                    good, and somebody's
 *   none                           created under the first name that is free
 *
 * A link of ours to another network is given up. One that Azure failed to write, or that does not resolve yet, is never
 * ready.
 */
export function planLinks(zone: ZoneWithLinks, policy: LinkPolicy): Part<LinkStep> {
  const { networks, user } = policy;
  // A tenant chooses how many networks are looked for among how many links.
  const byNetwork = Map.groupBy(foundLinks(zone), ({ found }) => networkKey(found));
  const byId = new Map(zone.links.map(({ id, observation }) => [idKey(id), observation]));
  const desired = new Set(networks.map(idKey));
  const stale = foundLinks(zone)
    .filter(({ found }) => isClaimed(found.tags, user) && !desired.has(networkKey(found)))
    .map((link) => releaseLink(zone, link, user, "its network is not wanted any more"));
  const parts = networks.map((network) => {
    const serving = byNetwork.get(idKey(network)) ?? [];
    const best =
      serving.find(({ found }) => isClaimed(found.tags, user)) ??
      serving.find(({ found }) => claimsIn(found.tags).length > 0) ??
      serving[0];
    return best === undefined
      ? createLink(zone, network, byId, policy)
      : planFoundLink(zone, best, policy);
  });
  return join([...parts, act(stale, stale.length > 0 ? policy.report.updating : undefined)]);
}

function createLink(
  zone: ZoneWithLinks,
  network: ResourceId,
  byId: ReadonlyMap<string, ObservedLink["observation"]>,
  policy: LinkPolicy,
): Part<LinkStep> {
  const { report: words } = policy;
  const candidates = policy.idsFor(network);
  const [changing] = zone.links.flatMap(({ observation }) =>
    observation.state === "changing" ? [observation.retryAfterMs] : [],
  );
  if (changing !== undefined && policy.isServed) return wait(words.changing, changing);
  for (const id of candidates) {
    const observation = byId.get(idKey(id));
    if (observation?.state === "changing") return wait(words.changing, observation.retryAfterMs);
    if (observation?.state === "failed") {
      const { failure } = observation;
      const problem = failure.passing ? words.changing : words.refused(network, failure);
      return { ...fail(failure), problems: [problem] };
    }
  }
  if (policy.withheld !== undefined) return report(policy.withheld);
  const id = candidates.find((each) => (byId.get(idKey(each))?.state ?? "absent") === "absent");
  if (id === undefined) return report(words.taken(network, candidates.map(nameOf).join(" and ")));
  const refusal = policy.refuseId?.(id);
  if (refusal !== undefined) return report(refusal);
  const step: LinkStep = {
    on: "link",
    verb: "create",
    do: "link network",
    name: nameOf(network),
    id,
    body: newLink(network, withAllTags({}, policy), policy.user),
    ifNoneMatch: "*",
    why: `link ${nameOf(id)} of ${words.zone} does not exist`,
    event: true,
  };
  return act([step], words.creating);
}

function planFoundLink(zone: ZoneWithLinks, link: FoundLink, policy: LinkPolicy): Part<LinkStep> {
  const { user, report: words } = policy;
  const { id, found } = link;
  const { tags = {}, etag: ifMatch } = found;
  const name = `${nameOf(zone.id)}/${nameOf(id)}`;
  const steps: LinkStep[] = [];
  if (!isClaimed(tags, user)) {
    if (otherClaims(tags, user).length > 0 || policy.isAdoptable(link))
      steps.push({
        on: "link",
        verb: "claim",
        do: "claim network link",
        name,
        id,
        body: retagged(found, withClaim(tags, user.claim)),
        ifMatch,
        why: `it ${words.serves}`,
      });
  } else if (linkProvisioningOf(found) === "failed")
    steps.push({
      on: "link",
      verb: "repair",
      do: "update network link",
      name,
      id,
      body: retagged(found, tags),
      ifMatch,
      why: `its provisioning state is ${found.properties.provisioningState}`,
      event: true,
    });
  else if (isOnlyUser(tags, user) && linkProvisioningOf(found) === "succeeded") {
    const desired = withUserTags(tags, policy.userTags);
    if (desired !== tags)
      steps.push({
        on: "link",
        verb: "repair",
        do: "update network link",
        name,
        id,
        body: retagged(found, desired),
        ifMatch,
        why: "it lacks tags that are asked for",
      });
  }
  const updating = steps.length > 0 ? words.updating : undefined;
  return join([act(steps, updating), healthOf(link, steps.length > 0, words)]);
}

/** What the state of a link means for the names of its zone. */
export function healthOf(
  link: FoundLink,
  repairing: boolean,
  words: Pick<LinkReport, "unresolved" | "failed">,
): Part<never> {
  switch (linkProvisioningOf(link.found)) {
    case "succeeded":
      return done;
    case "changing":
      return wait(words.unresolved(link), waits.progressMs);
    case "failed": {
      const problem = words.failed(link, repairing);
      return repairing ? report(problem) : wait(problem, waits.changeMs);
    }
  }
}

/** Remove a user's claim from a link, or delete the link where that claim is the last. */
export function releaseLink(
  zone: Pick<ZoneWithLinks, "id">,
  { id, found }: FoundLink,
  user: ZoneUser,
  why: string,
): LinkStep {
  const { tags = {}, etag: ifMatch } = found;
  const name = `${nameOf(zone.id)}/${nameOf(id)}`;
  return otherClaims(tags, user).length === 0
    ? {
        on: "link",
        verb: "delete",
        do: "unlink network",
        name,
        id,
        ifMatch,
        why,
      }
    : {
        on: "link",
        verb: "unclaim",
        do: "release network link",
        name,
        id,
        body: retagged(found, withoutOwnClaim(tags, user)),
        ifMatch,
        why: `others use it, and ${why}`,
      };
}
