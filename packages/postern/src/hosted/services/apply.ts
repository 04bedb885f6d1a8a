import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { Applied } from "../../kube/feature.ts";
import type { OwnObjects } from "../../kube/own-objects.ts";
import type { Reconcile } from "../../kube/reconcile.ts";
import type { ObserveStep } from "./steps.ts";

/** Do one step. */
export async function apply(
  step: ObserveStep,
  links: OwnObjects<AzurePrivateLinkService>,
  { signal }: Reconcile,
): Promise<Applied> {
  switch (step.do) {
    case "make link object":
      await links.create(step.link, signal);
      break;
    case "change link object":
      await links.change(step.link, step.change, signal);
      break;
    case "delete link object":
      await links.remove(step.link, signal);
      break;
  }
  return { state: "done" };
}
