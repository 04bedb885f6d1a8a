import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import { applyObjectStep } from "../../kube/apply-object.ts";
import type { Applied } from "../../kube/feature.ts";
import type { OwnObjects } from "../../kube/own-objects.ts";
import type { Reconcile } from "../../kube/reconcile.ts";
import type { ObserveStep } from "./steps.ts";

/** Do one step. */
export function apply(
  step: ObserveStep,
  links: OwnObjects<AzurePrivateLinkService>,
  reconcile: Reconcile,
): Promise<Applied> {
  return applyObjectStep(step, links, reconcile);
}
