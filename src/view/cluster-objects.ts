import { clusterAnnotation } from "../hosted/names.ts";
import { type KubeObject, keyOf } from "../model/kind.ts";
import type { KubeWorld } from "./world.ts";

/** The objects of one cluster: itself, its control plane and its links. */
export function objectsOf(cluster: string, kube: KubeWorld): KubeObject[] {
  const own = [...kube.hostedClusters, ...kube.azureClusters].filter(
    (each) => keyOf(each) === cluster,
  );
  const within = [...kube.controlPlanes, ...kube.links].filter(
    ({ metadata }) => metadata.annotations?.[clusterAnnotation] === cluster,
  );
  return [...own, ...within];
}
