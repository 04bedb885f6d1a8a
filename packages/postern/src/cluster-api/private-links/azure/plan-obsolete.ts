import { nameOf } from "@postern/core/resource-id.ts";
import { done, type Part, retry, wait } from "../../../kube/part.ts";
import type { Found } from "../observed.ts";
import { reasons } from "../reasons.ts";
import type { PrivateLinkStep } from "../steps.ts";

/** Deletes what is not desired any more. */
export function planObsolete<T>(
  { id, look }: Found<T>,
  messageFor: (name: string) => string,
  planDelete: (resource: T) => Part<PrivateLinkStep>,
): Part<PrivateLinkStep> {
  switch (look.state) {
    case "absent":
      return done;
    case "failed":
      return retry(look.failure, { reason: reasons.notRemoved });
    case "changing":
      return wait({ reason: reasons.removing, message: messageFor(nameOf(id)) }, look.retryAfterMs);
    case "there":
      return planDelete(look.resource);
  }
}
