import type { Picture } from "@postern/core/dashboard/picture.ts";

/**
 * The clusters that are reported as available although something of theirs in Azure is broken or does not exist: the operator
 * has not observed it yet.
 */
export function contradictedClusters({ clusters, nodes }: Picture): string[] {
  const broken = new Set(
    nodes.flatMap(({ kind, state, cluster }) =>
      kind !== "cluster" && (state === "broken" || state === "absent") ? (cluster ?? []) : [],
    ),
  );
  return clusters.flatMap(({ key, state }) => (state === "ok" && broken.has(key) ? [key] : []));
}
