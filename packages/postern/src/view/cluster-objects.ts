import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { privateLinksOf } from "../cluster-api/requested-links.ts";
import { clusterAnnotation } from "../hosted/names.ts";
import type { KubeWorld } from "./world.ts";

/**
 * The clusters of Cluster API: HyperShift makes an AzureCluster for each hosted cluster as well, beside its control plane, and
 * those are not ours to look after.
 */
export function capiClustersIn({ azureClusters, controlPlanes }: KubeWorld): AzureCluster[] {
  const hosting = new Set(controlPlanes.map(({ metadata }) => metadata.namespace));
  return azureClusters.filter(({ metadata }) => !hosting.has(metadata.namespace));
}

/** What clusters of Cluster API ask for in Azure, by its id, whoever makes it: CAPZ leaves no tag of ours on it. */
export function askedIn(kube: KubeWorld): { linkServices: string[]; endpoints: string[] } {
  const all = capiClustersIn(kube).map((cluster) => {
    const {
      subscriptionID = "",
      resourceGroup = cluster.metadata.name,
      networkSpec,
    } = cluster.spec;
    const group = `/subscriptions/${subscriptionID}/resourceGroups/${resourceGroup}`;
    const place = `${group}/providers/Microsoft.Network`;
    const endpoints = (networkSpec?.subnets ?? []).flatMap((each) => each.privateEndpoints ?? []);
    return {
      linkServices: privateLinksOf(cluster).links.map(
        ({ name }) => `${place}/privateLinkServices/${name}`,
      ),
      endpoints: endpoints.map(({ name }) => `${place}/privateEndpoints/${name}`),
    };
  });
  return {
    linkServices: all.flatMap(({ linkServices }) => linkServices),
    endpoints: all.flatMap(({ endpoints }) => endpoints),
  };
}

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
