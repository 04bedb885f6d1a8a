import type { KubeadmControlPlane } from "@postern/core/kinds/kubeadm-control-plane.ts";

/** What was observed of one control plane. */
export interface Observed {
  controlPlane: KubeadmControlPlane;
  gates: Gates;
  pause: Pause;
}

/** Whether there is something to wait for. `unknown` is what must be observed again before anything is decided. */
export type Gates =
  | { state: "unknown" }
  | { state: "off"; why: string }
  | { state: "waiting"; unmet: readonly string[] }
  | { state: "met" };

/** Who has paused it, and the note that we left. */
export type Pause = { by: "nobody" } | { by: "us"; note: string } | { by: "another" };
