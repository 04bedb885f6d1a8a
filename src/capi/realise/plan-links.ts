import type { PrivateLinkService } from "../../azure/gateways/private-link-services.ts";
import { idKey, nameOf, parentOf, type ResourceId } from "../../model/resource-id.ts";
import { hasAddresses, linkDifferences, newService, repairedService } from "./link-service.ts";
import { natProblem } from "./nat.ts";
import { reasons } from "./reasons.ts";
import { removeLink } from "./removal.ts";
import type { LinksSeen, Subject } from "./seen.ts";
import { conditionOfSide } from "./sides.ts";
import { fine, type RealiseStep, unsettled, type Verdict, waiting } from "./steps.ts";
import type { WantedLink } from "./wanted.ts";
import { whose } from "./whose.ts";

/*
 * What to do about each link service. The first row that fits counts.
 *
 *   seen                                         steps                          told as
 *   its last operation has failed                none, again when Azure said    NotMade
 *   being changed                                none, again when it is due     BeingMade, or True while it was True
 *   somebody else's, and its tags are not lost   none                           OwnedByAnother
 *   there, Azure never changes what differs      reject, disconnect, remove     BeingReplaced
 *   there, something else differs                change it, with its etag       BeingChanged, or True while it was True
 *   there, as wanted                             none                           Realised
 *   absent, no load balancer or no frontend      none, again in half a minute   LoadBalancerMissing
 *   absent, the NAT subnet is closed, and ours   open it                        NATSubnetBeingChanged
 *   absent, the NAT subnet cannot be used        none, again in a minute        NATSubnetUnfit
 *   absent                                       make it                        BeingMade
 *   ours, and not asked for                      reject, disconnect, remove     BeingRemoved
 */

const soonMs = 30_000;
const condition = conditionOfSide.links;

/** Decide about the link services that are wanted, and those that are not any more. */
export function planLinks(
  seen: LinksSeen,
  subject: Subject,
  prune: { why: string } | undefined,
): Verdict[] {
  const opened = new Set<string>();
  const wanted = seen.wanted.map((each) => wantedLink(each, seen, subject, opened));
  if (prune === undefined) return wanted;
  return [...wanted, ...seen.unwanted.map((each) => unwantedLink(each, subject, prune.why))];
}

function wantedLink(
  { link, look, hasLostTags }: LinksSeen["wanted"][number],
  seen: LinksSeen,
  subject: Subject,
  opened: Set<string>,
): Verdict {
  switch (look.state) {
    case "failed":
    case "changing":
      return unsettled(`private link ${link.name}`, look);
    case "there":
      return there(link, look.resource, seen, subject, opened, hasLostTags === true);
    case "absent":
      return absent(link, seen, subject, opened);
  }
}

function there(
  link: WantedLink,
  found: PrivateLinkService,
  seen: LinksSeen,
  subject: Subject,
  opened: Set<string>,
  hasLostTags: boolean,
): Verdict {
  const owner = whose(found.tags, subject.owner, subject.cluster);
  if (owner.is === "another" && !hasLostTags)
    return waiting(
      reasons.ownedByAnother,
      `link service ${link.name} is not changed · it is somebody else's: ${owner.whose} · give the link another name, or tag the service ${Object.entries(link.tags).at(-1)?.join(": ")}`,
      soonMs * 2,
    );
  const { fixed, changeable } = linkDifferences(found, link);
  if (fixed.length > 0) {
    const why = `it is made anew: ${fixed.join(", ")}, which Azure never changes`;
    const gone = removeLink(link.id, found, why, subject);
    if (gone.trouble?.reason !== reasons.removing) return gone;
    const message = `private link ${link.name} is being replaced · ${fixed.join(", ")}, which Azure never changes · nothing to do`;
    return { ...gone, trouble: { reason: reasons.replacing, message } };
  }
  if (changeable.length === 0) return fine;
  const nat = hasAddresses(found, link) ? undefined : natProblem(link, seen, subject, opened);
  if (nat !== undefined) return nat;
  const why = changeable.join(", ");
  const step: RealiseStep = {
    ...{ do: "change a link service", id: link.id, etag: found.etag },
    ...{ body: repairedService(found, link), why: `${link.name}: ${why}` },
    ...{ event: "ChangingPrivateLink", condition, failsAs: reasons.notChanged },
  };
  const message = `private link ${link.name} is being put right · ${why} · nothing to do`;
  return { trouble: { reason: reasons.changing, message, keepsTrue: true }, steps: [step] };
}

function absent(link: WantedLink, seen: LinksSeen, subject: Subject, opened: Set<string>): Verdict {
  const missing = missingFrontend(link, seen);
  if (missing !== undefined) return missing;
  const nat = natProblem(link, seen, subject, opened);
  if (nat !== undefined) return nat;
  const step: RealiseStep = {
    ...{ do: "make a link service", id: link.id, body: newService(link) },
    why: `private link ${link.name} is asked for and does not exist`,
    ...{ event: "MakingPrivateLink", condition, failsAs: reasons.notMade },
  };
  const message = `private link ${link.name} is being made · Azure needs about half a minute · nothing to do`;
  return { trouble: { reason: reasons.making, message }, steps: [step] };
}

/** What a link stands before must be there first. */
function missingFrontend({ name, frontends }: WantedLink, seen: LinksSeen): Verdict | undefined {
  const { balancer } = seen;
  const wait = (why: string, afterMs = soonMs) =>
    waiting(
      reasons.noLoadBalancer,
      `private link ${name} waits · ${why} · Cluster API Provider Azure makes it`,
      afterMs,
    );
  const [first] = frontends;
  const called = first === undefined ? "" : nameOf(parentOf(first) as ResourceId);
  if (balancer === undefined || balancer.look.state === "absent")
    return wait(`load balancer ${called} is not there`);
  const { look } = balancer;
  if (look.state === "changing")
    return wait(`load balancer ${called} is being written`, look.retryAfterMs);
  if (look.state === "failed")
    return waiting(
      reasons.noLoadBalancer,
      look.failure.message,
      look.failure.requeueAfterMs ?? soonMs,
    );
  const there = new Set(
    (look.resource.properties.frontendIPConfigurations ?? []).map(({ id }) => idKey(id ?? "")),
  );
  const lost = frontends.find((each) => !there.has(idKey(each)));
  return lost && wait(`load balancer ${called} has no frontend ${nameOf(lost)}`);
}

/** Take away what is not asked for any more. */
function unwantedLink(
  { id, look }: LinksSeen["unwanted"][number],
  subject: Subject,
  why: string,
): Verdict {
  switch (look.state) {
    case "absent":
      return fine;
    case "failed":
      return waiting(
        reasons.notRemoved,
        look.failure.message,
        look.failure.requeueAfterMs ?? soonMs,
      );
    case "changing": {
      const message = `private link ${nameOf(id)} is being removed · ${why} · nothing to do`;
      return waiting(reasons.removing, message, look.retryAfterMs);
    }
    case "there":
      return removeLink(id, look.resource, why, subject);
  }
}
