import type { KubeadmControlPlane } from "@postern/core/kinds/kubeadm-control-plane.ts";
import type { Step } from "../../kube/feature.ts";

/** A change of the pause of a control plane. */
export type PausingStep = Step & { controlPlane: KubeadmControlPlane } & (
    | { do: "pause control plane"; note: string }
    | { do: "resume control plane" }
  );
