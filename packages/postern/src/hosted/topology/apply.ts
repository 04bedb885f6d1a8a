import type { KubeObject } from "@postern/core/kind.ts";
import { applyObjectStep } from "../../kube/apply-object.ts";
import type { Applied } from "../../kube/feature.ts";
import type { OwnObjects } from "../../kube/own-objects.ts";
import type { Reconcile } from "../../kube/reconcile.ts";
import type { Stores } from "./observe.ts";
import type { TopologyStep } from "./steps.ts";

/** Do one step. */
export function apply(step: TopologyStep, stores: Stores, reconcile: Reconcile): Promise<Applied> {
  return applyObjectStep(step, stores[step.kind] as OwnObjects<KubeObject>, reconcile);
}
