import { nameOf, type ResourceId } from "@postern/core/resource-id.ts";
import type { Tags } from "@postern/core/tags.ts";
import type { PrivateLinkService } from "../../azure/gateways/private-link-services.ts";
import { act, type Part } from "../../kube/part.ts";
import { planCreate, planExisting, stepWords } from "../plan-resource.ts";
import {
  type DesiredLinkService,
  linkServiceDifferences,
  newLinkService,
  repairedLinkService,
  retaggedLinkService,
} from "./desired.ts";
import { planDeleteLinkService } from "./plan-delete.ts";
import type { LinkServicePolicy } from "./policy.ts";
import type { LinkServiceStep } from "./steps.ts";

/** The link service does not exist, and all that it needs does. */
export function planCreateLinkService(
  desired: DesiredLinkService,
  why: string,
  policy: LinkServicePolicy,
): Part<LinkServiceStep> {
  const { id } = desired;
  return planCreate({ on: "link service", id, body: newLinkService(desired), why }, policy);
}

/**
 * The link service exists and is ours.
 *
 *   Azure never changes what differs      reject, remove connections, delete    replaced
 *   Failed or Canceled                    write it again, with its etag         changed
 *   something else differs                change it, with its etag              changed, and True stays True
 *   as desired                            none
 */
export function planExistingLinkService(
  found: PrivateLinkService,
  desired: DesiredLinkService,
  policy: LinkServicePolicy,
): Part<LinkServiceStep> {
  const { id } = desired;
  const differences = linkServiceDifferences(found, desired);
  const repaired = () => repairedLinkService(found, desired);
  return planExisting({ on: "link service", id, found, differences, repaired }, policy, (why) =>
    planDeleteLinkService({ id, found, why }, policy),
  );
}

/** Only the tags of the link service change now: what else differs is changed when it is ours. */
export function planAdoptLinkService(
  given: { id: ResourceId; found: PrivateLinkService; tags: Tags; why: string },
  policy: LinkServicePolicy,
): Part<LinkServiceStep> {
  const { id, found, tags, why } = given;
  const name = nameOf(id);
  const step: LinkServiceStep = {
    ...stepWords("change", name, why, policy),
    do: "adopt link service",
    on: "link service",
    verb: "change",
    id,
    body: retaggedLinkService(found, tags),
    etag: found.etag,
  };
  const message = policy.messages.adopt(name, why);
  return act([step], {
    reason: policy.reasons.change,
    message,
    progress: true,
    harmless: true,
  });
}
