import { nameOf } from "@postern/core/resource-id.ts";
import { done, type Part, retry, wait } from "../../../kube/part.ts";
import type { Found } from "../observed.ts";
import { reasons } from "../reasons.ts";
import type { PrivateLinkStep } from "../steps.ts";

/** Deletes what is not desired any more. */
export function planObsolete<T>(
  { id, observation }: Found<T>,
  messageFor: (name: string) => string,
  planDelete: (resource: T) => Part<PrivateLinkStep>,
): Part<PrivateLinkStep> {
  switch (observation.state) {
    case "absent":
      return done;
    case "failed":
      return retry(observation.failure, { reason: reasons.notRemoved });
    case "changing":
      return wait(
        { reason: reasons.removing, message: messageFor(nameOf(id)) },
        observation.retryAfterMs,
      );
    case "exists":
      return planDelete(observation.resource);
  }
}
