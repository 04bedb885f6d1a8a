import type { ClusterSummary, Node } from "@postern/core/dashboard/picture.ts";

/** A cluster in the picture: what its chains hang under. */
export function clusterNode({ key, state, reason, message, access }: ClusterSummary): Node {
  return {
    id: `cluster|${key}`,
    kind: "cluster",
    label: key,
    cluster: key,
    state,
    ...(reason && { reason }),
    ...(message && { message }),
    facts: { access },
  };
}
