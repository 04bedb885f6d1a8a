import type { KubeObject } from "@postern/core/kind.ts";
import type { CapiCluster } from "@postern/core/kinds/capi-cluster.ts";
import { annotations } from "./names.ts";

/** Whether nobody may touch a cluster: its Cluster says so, or an annotation of that or of its infrastructure, whatever its value. */
export function isPaused(cluster: CapiCluster | undefined, infrastructure?: KubeObject): boolean {
  const isMarked = (object: KubeObject | undefined) =>
    object?.metadata.annotations?.[annotations.paused] !== undefined;
  return cluster?.spec?.paused === true || isMarked(cluster) || isMarked(infrastructure);
}
