import type { KubeObject } from "@postern/core/kind.ts";
import type { Applied } from "../../kube/feature.ts";
import type { OwnObjects } from "../../kube/own-objects.ts";
import type { Reconcile } from "../../kube/reconcile.ts";
import type { Stores } from "./observe.ts";
import type { TopologyStep } from "./steps.ts";

/** Do one step. */
export async function apply(
  step: TopologyStep,
  stores: Stores,
  reconcile: Reconcile,
): Promise<Applied> {
  const store = stores[step.kind] as OwnObjects<KubeObject>;
  switch (step.do) {
    case "make":
      await store.create(step.object, reconcile.signal);
      break;
    case "change":
      await store.change(step.object, step.change, reconcile.signal);
      break;
    case "delete":
      await store.remove(step.object, reconcile.signal);
      break;
  }
  return { state: "done" };
}
