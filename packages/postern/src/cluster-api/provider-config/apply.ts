import type { ProviderConfig } from "@postern/core/kinds/provider-config.ts";
import { applyObjectStep } from "../../kube/apply-object.ts";
import type { Applied } from "../../kube/feature.ts";
import type { OwnObjects } from "../../kube/own-objects.ts";
import type { Reconcile } from "../../kube/reconcile.ts";
import type { ConfigStep } from "./steps.ts";

/** Begins one step. */
export function apply(
  step: ConfigStep,
  configs: OwnObjects<ProviderConfig>,
  reconcile: Reconcile,
): Promise<Applied> {
  return applyObjectStep(step, configs, reconcile);
}
