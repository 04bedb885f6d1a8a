import { nameOf, type ResourceId } from "@postern/core/resource-id.ts";
import type { Tags } from "@postern/core/tags.ts";
import { withAllTags } from "@postern/core/user-tags.ts";
import {
  type PrivateEndpoint,
  withoutEndpointAnswers,
} from "../../azure/gateways/private-endpoints.ts";
import { act, done, type Part } from "../../kube/part.ts";
import { resourcePlans, stepWords } from "../plan-resource.ts";
import { endpointDifferences, newEndpoint, repairedEndpoint } from "./desired.ts";
import type { EndpointPolicy } from "./policy.ts";
import type { PrivateEndpointStep } from "./steps.ts";

/** An endpoint that does not exist, and one that exists and is ours. */
export const { planCreate: planCreateEndpoint, planExisting: planExistingEndpoint } = resourcePlans(
  {
    on: "endpoint",
    create: newEndpoint,
    differences: endpointDifferences,
    repair: repairedEndpoint,
    planDelete: planDeleteEndpoint,
  },
);

/** Only the tags of the endpoint change now: what else is desired is not known yet. */
export function planTagEndpoint(
  given: { id: ResourceId; found: PrivateEndpoint; tags: Tags; userTags?: Tags | undefined },
  policy: EndpointPolicy,
): Part<PrivateEndpointStep> {
  const { id, found } = given;
  const all = withAllTags(found.tags ?? {}, given);
  if (all === found.tags) return done;
  const words = stepWords("change", nameOf(id), policy.describe(["tags"]), policy);
  const body = { ...withoutEndpointAnswers(found), tags: all };
  return act([{ ...words, on: "endpoint", verb: "change", id, body, etag: found.etag }]);
}

/** The endpoint is not desired any more. */
export function planDeleteEndpoint(
  { id, found, why }: { id: ResourceId; found: PrivateEndpoint; why: string },
  policy: EndpointPolicy,
): Part<PrivateEndpointStep> {
  const name = nameOf(id);
  const { etag } = found;
  const words = stepWords("delete", name, why, policy);
  return act([{ ...words, on: "endpoint", verb: "delete", id, etag }], {
    reason: policy.reasons.delete,
    message: policy.deletionMessage(name, why),
    progress: true,
  });
}
