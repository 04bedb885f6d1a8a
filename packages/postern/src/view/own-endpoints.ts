import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import { idKey } from "@postern/core/resource-id.ts";
import type { EndpointConnection } from "../azure/gateways/endpoint-connections.ts";
import { endpointIds } from "../hosted/endpoint/desired/desired.ts";
import { clusterAnnotation } from "../hosted/names.ts";
import { requestedEndpoints } from "./cluster-objects.ts";
import type { KubeWorld, World } from "./world.ts";

/**
 * Which cluster a connection belongs to, by the ids of its endpoint and of its link service: an endpoint that a tenant connects to the
 * link service of another cluster belongs to none.
 */
export function ownConnections(
  kube: KubeWorld,
): (endpoint: string, service: string) => string | undefined {
  const owners = new Map<string, string>();
  const add = (cluster: string, endpoint: string | undefined, service: string | undefined) => {
    if (endpoint && service) owners.set(keyOfBoth(endpoint, service), cluster);
  };
  const clusters = new Map(kube.hostedClusters.map((each) => [keyOf(each), each]));
  for (const { metadata, spec, status } of kube.links) {
    const cluster = metadata.annotations?.[clusterAnnotation];
    const clusterID = clusters.get(cluster ?? "")?.spec.clusterID;
    if (cluster === undefined) continue;
    for (const id of [status?.privateEndpointID, ...expectedIds(metadata, spec, clusterID)])
      add(cluster, id, status?.privateLinkServiceID);
  }
  for (const { cluster, id, service } of requestedEndpoints(kube)) add(cluster, id, service);
  return (endpoint, service) => owners.get(keyOfBoth(endpoint, service));
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
