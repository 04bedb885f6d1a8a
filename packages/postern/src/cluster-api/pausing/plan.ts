import type { KubeadmControlPlane } from "@postern/core/kinds/kubeadm-control-plane.ts";
import type { Plan } from "../../kube/feature.ts";
import type { Observed, Pause } from "./observed.ts";
import { reasons } from "./reasons.ts";
import type { PausingStep } from "./steps.ts";

/**
 * Whether a control plane may be built, or waits until its infrastructure can be reached; `gates/gates.ts` decides which. A pause
 * of somebody else stays. Ours is removed from what is being deleted too: it would block the deletion.
 */
export function plan(observed: Observed): Plan<PausingStep> {
  const { gates, controlPlane } = observed;
  switch (gates.state) {
    case "unknown":
      return unchanged;
    case "off":
      return observed.pause.by === "us" ? release(controlPlane, gates.why) : unchanged;
    case "waiting":
      return wait(controlPlane, gates.unmet, observed.pause);
    case "met":
      return planMet(controlPlane, observed.pause);
  }
}

const unchanged: Plan<PausingStep> = { steps: [], conditions: [], requeue: "never" };

function wait(
  controlPlane: KubeadmControlPlane,
  unmet: readonly string[],
  pause: Pause,
): Plan<PausingStep> {
  const note = unmet.join(",");
  if (pause.by === "another" || (pause.by === "us" && pause.note === note)) return unchanged;
  const why = `its infrastructure cannot be reached yet: ${unmet.join(", ")} of the AzureCluster not True`;
  return {
    ...unchanged,
    steps: [
      {
        do: "pause control plane",
        name: controlPlane.metadata.name,
        controlPlane,
        note,
        why,
        event: true,
      },
    ],
  };
}

function planMet(controlPlane: KubeadmControlPlane, pause: Pause): Plan<PausingStep> {
  if (pause.by === "nobody") return unchanged;
  if (pause.by === "us")
    return release(controlPlane, "every condition that was waited for is True");
  const note =
    "all required conditions are True, but another has paused the control plane · remove the annotation cluster.x-k8s.io/paused to continue";
  return { ...unchanged, events: [{ reason: reasons.pausedByAnother, note }] };
}

function release(controlPlane: KubeadmControlPlane, why: string): Plan<PausingStep> {
  return {
    ...unchanged,
    steps: [
      {
        do: "resume control plane",
        name: controlPlane.metadata.name,
        controlPlane,
        why,
        event: true,
      },
    ],
  };
}
