import { type KubeObject, keyOf, type OwnerReference } from "@postern/core/kind.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { clusterAnnotation } from "../../names.ts";

/** On everything that this feature creates; nothing without it is ever deleted. */
export const madeByLabel = "postern.io/made-by";
export const madeBy = { [madeByLabel]: "topology" } as const;

/** Whether this feature created an object. */
export function isMade({ metadata }: KubeObject): boolean {
  return metadata.labels?.[madeByLabel] === madeBy[madeByLabel];
}

/** Whether an object says that it is this cluster's: two clusters can need one namespace (`a`/`b-c` and `a-b`/`c`). */
export function isOf(object: KubeObject, cluster: KubeObject): boolean {
  return object.metadata.annotations?.[clusterAnnotation] === keyOf(cluster);
}

/** Whether an object says that it is another cluster's. */
export function isAnothers(object: KubeObject, cluster: KubeObject): boolean {
  const key = object.metadata.annotations?.[clusterAnnotation] ?? "";
  return /^[^/]+\/[^/]+$/.test(key) && key !== keyOf(cluster);
}

/** Whether an object is this cluster's, also where somebody has overwritten its owner. */
export function isOwn(object: KubeObject, cluster: KubeObject): boolean {
  return isOf(object, cluster) || (isMade(object) && !isAnothers(object, cluster));
}

/** The reference by which the garbage collector takes an object away with its control plane. */
export function ownedBy({ metadata: { name, uid = "" } }: HostedControlPlane): OwnerReference {
  return {
    apiVersion: "hypershift.openshift.io/v1beta1",
    kind: "HostedControlPlane",
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** Whether an object belongs to a control plane: by the garbage collector's reference, as HyperShift's do. */
export function belongsTo({ metadata }: KubeObject, controlPlane: HostedControlPlane): boolean {
  return (metadata.ownerReferences ?? []).some(
    ({ kind, uid }) => kind === "HostedControlPlane" && uid === controlPlane.metadata.uid,
  );
}
