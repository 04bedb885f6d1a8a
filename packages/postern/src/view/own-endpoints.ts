import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import { idKey } from "@postern/core/resource-id.ts";
import type { EndpointConnection } from "../azure/gateways/endpoint-connections.ts";
import { endpointIds } from "../hosted/endpoint/desired/desired.ts";
import { clusterAnnotation } from "../hosted/names.ts";
import { requestedEndpoints } from "./cluster-objects.ts";
import type { KubeWorld, World } from "./world.ts";

/**
 * Which cluster a connection belongs to, by the ids of its endpoint and of its link service: an endpoint that a tenant connects to the
 * link service of another cluster belongs to none. What a link object has is of its cluster, whatever the specs of AzureClusters name.
 */
export function ownConnections(
  kube: KubeWorld,
): (endpoint: string, service: string) => string | undefined {
  const clusters = new Map(kube.hostedClusters.map((each) => [keyOf(each), each]));
  const linked = ownersOf(
    kube.links.flatMap(({ metadata, spec, status }) => {
      const cluster = metadata.annotations?.[clusterAnnotation];
      if (cluster === undefined) return [];
      const ids = expectedIds(metadata, spec, clusters.get(cluster)?.spec.clusterID);
      return [status?.privateEndpointID, ...ids].map((id) => ({
        cluster,
        id,
        service: status?.privateLinkServiceID,
      }));
    }),
  );
  const requested = ownersOf(requestedEndpoints(kube));
  return (endpoint, service) => {
    const key = keyOfBoth(endpoint, service);
    return (linked.has(key) ? linked : requested).get(key);
  };
}

/** The cluster of each pair of endpoint and link service; undefined where several claim it, of which all but one are wrong. */
function ownersOf(
  claims: readonly { cluster: string; id: string | undefined; service: string | undefined }[],
): Map<string, string | undefined> {
  const owners = new Map<string, string | undefined>();
  for (const { cluster, id, service } of claims) {
    if (!id || !service) continue;
    const key = keyOfBoth(id, service);
    owners.set(key, owners.has(key) && owners.get(key) !== cluster ? undefined : cluster);
  }
  return owners;
}

/** What `postern approve` and `reject` take for a connection: its cluster, or its id where that has several or it is of another. */
export function connectionSelectors({
  kube,
  azure,
}: Pick<World, "kube" | "azure">): (connection: EndpointConnection, service: string) => string {
  const clusterOf = ownConnections(kube);
  const ownerOf = ({ properties }: EndpointConnection, service: string) =>
    clusterOf(properties.privateEndpoint?.id ?? "", service);
  const owners = azure.linkServices.flatMap(({ id = "", properties }) =>
    (properties.privateEndpointConnections ?? []).map((each) => ownerOf(each, id)),
  );
  return (connection, service) => {
    const { id, name = "" } = connection;
    const owner = ownerOf(connection, service);
    const isOnly = owners.filter((each) => each === owner).length === 1;
    return owner !== undefined && isOnly
      ? owner
      : (id ?? `${service}/privateEndpointConnections/${name}`);
  };
}

function keyOfBoth(endpoint: string, service: string): string {
  return `${idKey(endpoint)} ${idKey(service)}`;
}

/** The ids that the endpoint of a link may have; none where its spec names no place in Azure. */
function expectedIds(
  { name }: KubeObject["metadata"],
  spec: Parameters<typeof endpointIds>[0]["spec"],
  clusterID: string | undefined,
): string[] {
  try {
    return endpointIds({ name, spec }, clusterID);
  } catch {
    return [];
  }
}
