import { claimsIn, mostClaims, withClaim } from "@postern/core/claims.ts";
import type { Failure } from "@postern/core/failure.ts";
import { provisioning } from "@postern/core/provisioning.ts";
import { nameOf } from "@postern/core/resource-id.ts";
import type { Tags } from "@postern/core/tags.ts";
import { withAllTags, withUserTags } from "@postern/core/user-tags.ts";
import { act, done, join, type Part, type Problem, report, wait } from "../../kube/part.ts";
import type { PrivateDnsStep, ZoneStep } from "../steps.ts";
import { isClaimed, isOnlyUser, type ZoneUser } from "../user.ts";
import type { ObservedZone, Zone } from "./observed.ts";

/**
 * What a user may do with a zone that it does not claim: claim it and use it then, adopt it by marking what is its own in the
 * zone before the zone is claimed, or leave it.
 */
export type Adoption =
  | { is: "claim" }
  /** `complete`: everything in the zone that is the user's own is known. */
  | { is: "adopt"; complete: boolean }
  | { is: "leave"; part: Part<never> };

/** What a user wants of a zone, and how it reports on it. */
export interface ZonePolicy<Step extends PrivateDnsStep> {
  user: ZoneUser;
  /** Why a zone that does not exist is not created: it is somebody else's to create, claim and delete. */
  missing?: Problem | undefined;
  /** The tags of a new zone beside the claim. */
  tags: Tags;
  /** What somebody asks for beside them; undefined where that is not known. */
  userTags?: Tags | undefined;
  /** The tags of a zone with what somebody has removed from them; undefined where nothing is missing. */
  restoredTags?(found: Zone): Tags | undefined;
  adoptionOf(found: Zone): Adoption;
  /** What to do about links and record sets; `adopting`: until the zone is claimed, what has no owner may be the user's. */
  planContents(adopting: boolean): Part<Step>;
  report: ZoneReport;
}

/** What is said of a zone. */
export interface ZoneReport {
  /** It is being created or repaired. */
  creating: Problem;
  /** It is being changed, by us or by another. */
  changing: Problem;
  /** Why it is claimed. */
  claimed: string;
  /** Azure has no room for more claims. */
  full: Problem;
  /** The last write, or a read, failed. */
  fail(failure: Failure): Part<never>;
  /** Azure failed to write it, so nobody knows whether it works; `repairing`: something is written again. */
  failed(found: Zone, repairing: boolean): Part<never>;
}

/** A plan for a zone. */
export type ZonePlan<Step extends PrivateDnsStep> = Part<Step | ZoneStep> & {
  /** Whether the zone is, or is about to be, the user's to write in. */
  usable: boolean;
};

/**
 * What to do about a zone that is wanted:
 *
 *   zone      claims              →
 *   absent                        created with our claim, unless it is somebody else's to create
 *   there     not ours to claim   used: links, record sets
 *   there     ours among them     used: links, record sets
 *   there     others', or none    claimed, adopted or left, as the policy says
 *
 * One that Azure failed to write is written again if we claim it, and reported in any case.
 */
export function planZone<Step extends PrivateDnsStep>(
  zone: ObservedZone,
  policy: ZonePolicy<Step>,
): ZonePlan<Step> {
  const { observation } = zone;
  const { report: words, missing } = policy;
  if (zone.unread !== undefined) return unusable(words.fail(zone.unread.failure));
  if (observation.state === "changing")
    return usable(wait(words.changing, observation.retryAfterMs));
  if (observation.state === "failed") return unusable(words.fail(observation.failure));
  if (observation.state === "absent")
    return missing === undefined
      ? usable(act([createZone(zone, policy)], words.creating))
      : unusable(report(missing));
  const found = observation.resource;
  const isFailed = provisioning(found.provisioningState) === "failed";
  if (missing !== undefined)
    return usable(isFailed ? words.failed(found, false) : policy.planContents(false));
  if (!isFailed) return planFound(zone, found, policy);
  const plan = isClaimed(found.tags, policy.user)
    ? usable(act([repairZone(zone, found)]))
    : planFound(zone, found, policy);
  return { ...plan, ...join([plan, words.failed(found, plan.steps.length > 0)]) };
}

function planFound<Step extends PrivateDnsStep>(
  zone: ObservedZone,
  found: Zone,
  policy: ZonePolicy<Step>,
): ZonePlan<Step> {
  const { report: words } = policy;
  const { tags } = found;
  const restored = policy.restoredTags?.(found);
  if (restored !== undefined)
    return usable(act([claimZone(zone, { ...found, tags: restored }, policy)], words.changing));
  if (isClaimed(tags, policy.user)) {
    const contents = policy.planContents(false);
    return usable(
      contents.steps.length > 0
        ? contents
        : join<Step | ZoneStep>([contents, planTags(zone, found, policy)]),
    );
  }
  const adoption = policy.adoptionOf(found);
  if (adoption.is === "leave") return unusable(adoption.part);
  if (claimsIn(tags).length >= mostClaims) return unusable(report(words.full));
  const claim = act([claimZone(zone, found, policy)], words.changing);
  if (adoption.is === "claim") return usable(claim);
  const contents = policy.planContents(true);
  const isBusy = contents.steps.length > 0 || contents.requeueMs !== undefined;
  // What will be ours in a moment must be marked before the zone is: afterwards it counts as somebody else's.
  return usable<Step>(
    isBusy || !adoption.complete ? contents : join<Step | ZoneStep>([contents, claim]),
  );
}

function usable<Step extends PrivateDnsStep>(part: Part<Step | ZoneStep>): ZonePlan<Step> {
  return { ...part, usable: true };
}

function unusable(part: Part<never>): ZonePlan<never> {
  return { ...part, usable: false };
}

type Writer = Pick<ZonePolicy<PrivateDnsStep>, "user" | "tags" | "userTags" | "report">;

/** Users who share a zone may ask for different tags: it has those of its only user. */
function planTags({ id }: ObservedZone, { tags, etag }: Zone, policy: Writer): Part<ZoneStep> {
  const desiredTags = withUserTags(tags, policy.userTags);
  if (desiredTags === tags || !isOnlyUser(tags, policy.user)) return done;
  return act([
    {
      on: "zone",
      verb: "repair",
      do: "update DNS zone",
      name: nameOf(id),
      id,
      tags: desiredTags,
      ifMatch: etag,
      why: "it lacks tags that are asked for",
    },
  ]);
}

function createZone({ id }: ObservedZone, policy: Writer): ZoneStep {
  const { user } = policy;
  return {
    on: "zone",
    verb: "create",
    do: "create DNS zone",
    name: nameOf(id),
    id,
    tags: withClaim(withAllTags({}, policy), user.claim),
    ifNoneMatch: "*",
    why: "it does not exist",
    event: true,
  };
}

/** The step that claims a zone. */
export function claimZone(
  { id }: Pick<ObservedZone, "id">,
  { tags, etag }: Pick<Zone, "tags" | "etag">,
  { user, report: words }: Pick<Writer, "user" | "report">,
): ZoneStep {
  return {
    on: "zone",
    verb: "claim",
    do: "claim DNS zone",
    name: nameOf(id),
    id,
    tags: withClaim(tags, user.claim),
    ifMatch: etag,
    why: words.claimed,
    event: true,
  };
}

function repairZone({ id }: ObservedZone, found: Zone): ZoneStep {
  return {
    on: "zone",
    verb: "repair",
    do: "update DNS zone",
    name: nameOf(id),
    id,
    tags: found.tags,
    ifMatch: found.etag,
    why: `its provisioning state is ${found.provisioningState}`,
    event: true,
  };
}
