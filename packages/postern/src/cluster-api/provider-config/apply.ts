import type { ProviderConfig } from "@postern/core/kinds/provider-config.ts";
import type { Applied } from "../../kube/feature.ts";
import type { OwnObjects } from "../../kube/own-objects.ts";
import type { Reconcile } from "../../kube/reconcile.ts";
import type { ConfigStep } from "./steps.ts";

/** Begins one step. */
export async function apply(
  step: ConfigStep,
  configs: OwnObjects<ProviderConfig>,
  { signal }: Reconcile,
): Promise<Applied> {
  switch (step.do) {
    case "make ProviderConfig":
      await configs.create(step.config, signal);
      break;
    case "change ProviderConfig":
      await configs.change(step.config, step.change, signal);
      break;
    case "delete ProviderConfig":
      await configs.remove(step.config, signal);
      break;
  }
  return { state: "done" };
}
