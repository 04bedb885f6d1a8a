import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import { type AzureCluster, azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { CapiCluster } from "@postern/core/kinds/capi-cluster.ts";
import type { WatchCache } from "../kube/cache.ts";
import { policiesOf } from "../kube/step-policy.ts";
import { whenChanged } from "../kube/when-changed.ts";

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

/** Wakes when a Cluster is paused or annotated. Its status changes often. */
export function whenPauseChanges(keys: (cluster: KubeObject) => string[]) {
  return whenChanged(keys, (each) => [
    (each as CapiCluster).spec?.paused,
    each.metadata.annotations,
  ]);
}

/** The policies of an AzureCluster and its Cluster. */
export function clusterPolicies(
  object: AzureCluster,
  clusters: Pick<WatchCache<CapiCluster>, "get">,
): string[] {
  return policiesOf(object, clusters.get(clusterKeyOf(object) ?? ""));
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
