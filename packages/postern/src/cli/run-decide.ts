import type { Unread } from "@postern/core/dashboard/picture.ts";
import { keyOf } from "@postern/core/kind.ts";
import { nearest } from "@postern/core/process/nearest.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { lastSegment, sameId } from "@postern/core/resource-id.ts";
import { decision, endpointConnections } from "../azure/gateways/endpoint-connections.ts";
import { ownConnections } from "../view/own-endpoints.ts";
import type { KubeWorld } from "../view/world.ts";
import { CommandFailure } from "./command-failure.ts";
import { finish } from "./finish.ts";
import { gatherWorld } from "./gather-world.ts";
import { requestReconcile } from "./request-reconcile.ts";
import type { Session } from "./session.ts";

/** A connection of a link service that the credential can read. */
export interface Connection {
  id: string;
  name: string;
  endpoint: string;
  endpointId: string;
  /** The cluster of the endpoint, as namespace/name; absent for an endpoint of somebody else. */
  cluster?: string;
  service: string;
  status: string;
  message: string;
}

/** The connections, the clusters that exist, and what could not be read. */
export interface Connections {
  connections: Connection[];
  clusters: string[];
  kube: KubeWorld;
  unread: Unread[];
}

/** The connections of every link service that the credential can read, and what could not be read. */
export async function connectionsHere(session: Session): Promise<Connections> {
  const { azure, kube, unread } = await gatherWorld(session, { zones: () => false });
  const clusterOf = ownConnections(kube);
  const connections = azure.linkServices.flatMap(({ id = "", name = "", properties }) =>
    (properties.privateEndpointConnections ?? []).map((each): Connection => {
      const endpointId = each.properties.privateEndpoint?.id ?? "";
      const cluster = clusterOf(endpointId, id);
      return {
        id: each.id ?? `${id}/privateEndpointConnections/${each.name}`,
        name: each.name ?? "",
        endpoint: lastSegment(endpointId || (each.name ?? "")),
        endpointId,
        ...(cluster !== undefined && { cluster }),
        service: name,
        status: each.properties.privateLinkServiceConnectionState?.status ?? "",
        message: each.properties.privateLinkServiceConnectionState?.description ?? "",
      };
    }),
  );
  // Objects name the subscriptions to search; of Azure only the link services matter.
  const hiding = unread.filter(
    ({ type, scope }) => scope === undefined || type === "link services",
  );
  const clusters = [...kube.hostedClusters, ...kube.azureClusters].map(keyOf);
  return { connections, clusters: [...new Set(clusters)], kube, unread: hiding };
}

/** Those that are pending. */
export function waiting(all: readonly Connection[]): Connection[] {
  return all.filter(({ status }) => /^pending$/i.test(status));
}

/** Approve or reject the connection that a person means. One that has this status already is not changed. */
export async function write(
  session: Session,
  here: Connections,
  name: string,
  status: "Approved" | "Rejected",
  message = `${status} with postern ${status === "Approved" ? "approve" : "reject"}`,
): Promise<Connection> {
  const connection = meant(here, name);
  if (connection.status.toLowerCase() === status.toLowerCase()) return connection;
  if (status === "Approved" && !/^pending$/i.test(connection.status))
    throw new UsageError(
      `endpoint ${connection.endpoint} cannot be approved: its connection is ${connection.status}, which is final; the owner of the endpoint has to delete and recreate it`,
    );
  const body = decision(connection.name, status, message);
  const { writing: arm, signal } = session;
  await finish(arm, await endpointConnections(arm).put(connection.id, body), signal);
  // The operator need not wait for its next check.
  if (connection.cluster !== undefined)
    await requestReconcile(session, [connection.cluster], here.kube);
  return { ...connection, status, message };
}

/** The connection that a person means: by its id or name, by those of its endpoint, or by the cluster of its endpoint. */
function meant({ connections: all, clusters, unread }: Connections, name: string): Connection {
  const typed = name.toLowerCase();
  const named = all.filter(
    (each) =>
      sameId(each.endpointId, name) ||
      sameId(each.id, name) ||
      [each.endpoint, each.name].some((one) => one.toLowerCase() === typed),
  );
  const meantClusters = clusters.filter((key) => key === name || key.split("/")[1] === name);
  const found =
    named.length > 0
      ? named
      : all.filter(({ cluster }) => cluster !== undefined && meantClusters.includes(cluster));
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (found.length > 1)
    throw new UsageError(
      `'${name}' matches several connections: use one of these: ${found.map(choiceAmong(found)).sort().join(", ")}`,
    );
  const [hidden] = unread;
  if (hidden)
    throw new CommandFailure(
      `no connection of '${name}' was found, but ${hidden.what} could not be read: ${hidden.why}`,
    );
  const [cluster] = meantClusters;
  if (cluster !== undefined)
    throw new UsageError(
      `the private endpoint of ${cluster} has no connection to its link service: check postern tree ${cluster}`,
    );
  const near = nearest(
    name,
    all.flatMap((each) => [each.endpoint, each.name, ...(each.cluster ? [each.cluster] : [])]),
  );
  throw new UsageError(
    `no connection of '${name}' was found: ${near ? `did you mean '${near}'?` : "list the pending connections with postern approve"}`,
  );
}

/** What selects a connection among several: its cluster, where that has no other of them; else its id. */
function choiceAmong(found: readonly Connection[]): (each: Connection) => string {
  return ({ cluster, id }) =>
    cluster !== undefined && found.filter((each) => each.cluster === cluster).length === 1
      ? cluster
      : id;
}
