import type { Picture } from "@postern/core/dashboard/picture.ts";

/** The clusters whose conditions Azure contradicts: the operator has not observed it yet. */
export function contradictedClusters({ clusters }: Pick<Picture, "clusters">): string[] {
  return clusters.flatMap(({ key, isContradicted }) => (isContradicted ? [key] : []));
}
