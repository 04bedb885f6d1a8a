import { keyOf } from "@postern/core/kind.ts";
import { type AzureCluster, azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { CapiCluster } from "@postern/core/kinds/capi-cluster.ts";

/** The name of the Cluster of an AzureCluster, by its owner reference or else its label. */
export function clusterNameOf({ metadata }: Pick<AzureCluster, "metadata">): string | undefined {
  const owner = metadata.ownerReferences?.find(({ kind }) => kind === "Cluster");
  return owner?.name ?? metadata.labels?.["cluster.x-k8s.io/cluster-name"];
}

/** The key of the Cluster of an AzureCluster. */
export function clusterKeyOf({ metadata }: AzureCluster): string | undefined {
  const name = clusterNameOf({ metadata });
  return name && keyOf({ metadata: { name, namespace: metadata.namespace ?? "" } });
}

/** The key of the AzureCluster of a Cluster. */
export function azureClusterKeyOf({ metadata, spec }: CapiCluster): string | undefined {
  const { kind, name } = spec.infrastructureRef ?? {};
  return kind === azureCluster.kind ? `${metadata.namespace}/${name}` : undefined;
}

/** Whether the API server has a private address only. */
export function isPrivate({ spec }: AzureCluster): boolean {
  return spec.networkSpec?.apiServerLB?.type === "Internal";
}
