import type { KubeadmControlPlane } from "@postern/core/kinds/kubeadm-control-plane.ts";
import type { Applied } from "../../kube/feature.ts";
import type { OwnObjects } from "../../kube/own-objects.ts";
import type { Reconcile } from "../../kube/reconcile.ts";
import { annotations } from "../names.ts";
import type { PausingStep } from "./steps.ts";

/** Begins one step. */
export async function apply(
  step: PausingStep,
  controlPlanes: OwnObjects<KubeadmControlPlane>,
  { signal }: Reconcile,
): Promise<Applied> {
  const { controlPlane } = step;
  const desired =
    step.do === "pause control plane"
      ? { [annotations.paused]: "true", [annotations.pausedFor]: step.note }
      : { [annotations.paused]: null, [annotations.pausedFor]: null };
  // It is refused where the object has changed since: a pause that somebody else owns meanwhile must stay.
  const change = { metadata: { annotations: desired } };
  await controlPlanes.change(controlPlane, change, signal);
  return { state: "done" };
}
