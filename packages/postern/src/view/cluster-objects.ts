import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { Condition } from "@postern/core/kinds/condition.ts";
import { idKey, tryParseResourceId } from "@postern/core/resource-id.ts";
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
    const place = placeOf(cluster);
    return {
      linkServices: privateLinksOf(cluster).links.flatMap(
        ({ name }) => tryParseResourceId(`${place}/privateLinkServices/${name}`) ?? [],
      ),
      endpoints: requestedBy(cluster).map(({ id }) => id),
    };
  });
  return {
    linkServices: all.flatMap(({ linkServices }) => linkServices),
    endpoints: all.flatMap(({ endpoints }) => endpoints),
  };
}

/** A private endpoint in the spec of a cluster of Cluster API. */
export interface RequestedEndpoint {
  id: string;
  /** The cluster whose spec has it, as namespace/name. */
  cluster: string;
  /** The id of the link service that it connects to. */
  service: string;
  /** The network that it is in, as the picture names it. */
  network: string | undefined;
  /** The conditions of the cluster whose spec has it. */
  conditions: readonly Condition[] | undefined;
}

/** Every private endpoint in the spec of a cluster of Cluster API. */
export function requestedEndpoints(kube: KubeWorld): RequestedEndpoint[] {
  return capiClustersIn(kube).flatMap(requestedBy);
}

function requestedBy(cluster: AzureCluster): RequestedEndpoint[] {
  const { networkSpec, subscriptionID = "", resourceGroup } = cluster.spec;
  const { name: vnet, resourceGroup: vnetGroup = resourceGroup } = networkSpec?.vnet ?? {};
  const network =
    vnet &&
    idKey(
      `/subscriptions/${subscriptionID}/resourceGroups/${vnetGroup ?? cluster.metadata.name}/providers/Microsoft.Network/virtualNetworks/${vnet}`,
    );
  const endpoints = (networkSpec?.subnets ?? []).flatMap((each) => each.privateEndpoints ?? []);
  return endpoints.flatMap(({ name, privateLinkServiceConnections: connections }) => {
    const id = tryParseResourceId(`${placeOf(cluster)}/privateEndpoints/${name}`);
    if (id === undefined) return [];
    return {
      id,
      cluster: keyOf(cluster),
      service: connections?.[0]?.privateLinkServiceID ?? "",
      network: network || undefined,
      conditions: cluster.status?.conditions as readonly Condition[] | undefined,
    };
  });
}

function placeOf({ spec, metadata }: AzureCluster): string {
  const { subscriptionID = "", resourceGroup = metadata.name } = spec;
  return `/subscriptions/${subscriptionID}/resourceGroups/${resourceGroup}/providers/Microsoft.Network`;
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
