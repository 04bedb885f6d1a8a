import { nameOf, type ResourceId } from "@postern/core/resource-id.ts";
import type { Tags } from "@postern/core/tags.ts";
import type { PrivateLinkService } from "../../azure/gateways/private-link-services.ts";
import { act, type Part } from "../../kube/part.ts";
import { resourcePlans, stepWords } from "../plan-resource.ts";
import {
  linkServiceDifferences,
  newLinkService,
  repairedLinkService,
  retaggedLinkService,
} from "./desired.ts";
import { planDeleteLinkService } from "./plan-delete.ts";
import type { LinkServicePolicy } from "./policy.ts";
import type { LinkServiceStep } from "./steps.ts";

/** A link service that does not exist, and one that exists and is ours; its connections are rejected before it is replaced. */
export const { planCreate: planCreateLinkService, planExisting: planExistingLinkService } =
  resourcePlans({
    on: "link service",
    create: newLinkService,
    differences: linkServiceDifferences,
    repair: repairedLinkService,
    planDelete: planDeleteLinkService,
  });

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
