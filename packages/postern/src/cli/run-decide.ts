import type { Unread } from "@postern/core/dashboard/picture.ts";
import { nearest } from "@postern/core/process/nearest.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { lastSegment, sameId } from "@postern/core/resource-id.ts";
import { decision, endpointConnections } from "../azure/gateways/endpoint-connections.ts";
import { CommandFailure } from "./command-failure.ts";
import { finish } from "./finish.ts";
import { look } from "./look.ts";
import type { Session } from "./session.ts";

/** A connection of a link service that we can see. */
export interface Connection {
  id: string;
  name: string;
  endpoint: string;
  endpointId: string;
  service: string;
  status: string;
  message: string;
}

/** The connections of every link service that the credential can see, and what may hide others. */
export async function connectionsHere(
  session: Session,
): Promise<{ connections: Connection[]; unread: Unread[] }> {
  const { azure, unread } = await look(session, { zones: () => false });
  const connections = azure.linkServices.flatMap(({ id = "", name = "", properties }) =>
    (properties.privateEndpointConnections ?? []).map((each) => ({
      id: each.id ?? `${id}/privateEndpointConnections/${each.name}`,
      name: each.name ?? "",
      endpoint: lastSegment(each.properties.privateEndpoint?.id ?? each.name ?? ""),
      endpointId: each.properties.privateEndpoint?.id ?? "",
      service: name,
      status: each.properties.privateLinkServiceConnectionState?.status ?? "",
      message: each.properties.privateLinkServiceConnectionState?.description ?? "",
    })),
  );
  // Objects name the subscriptions to look in; of Azure only the link services are asked for.
  const hiding = unread.filter(
    ({ type, scope }) => scope === undefined || type === "link services",
  );
  return { connections, unread: hiding };
}

/** Those that wait for a decision. */
export function waiting(all: readonly Connection[]): Connection[] {
  return all.filter(({ status }) => /^pending$/i.test(status));
}

/** Decide on the connection that a person means. One that is decided so already is left as it is. */
export async function write(
  { writing: arm, signal }: Session,
  here: { connections: readonly Connection[]; unread: readonly Unread[] },
  name: string,
  status: "Approved" | "Rejected",
  message = `${status} with postern ${status === "Approved" ? "approve" : "reject"}`,
): Promise<Connection> {
  const connection = meant(here, name);
  if (connection.status.toLowerCase() === status.toLowerCase()) return connection;
  if (status === "Approved" && !/^pending$/i.test(connection.status))
    throw new UsageError(
      `endpoint ${connection.endpoint} cannot be let in: its connection is ${connection.status}, which is final; have its owner delete it and make it anew`,
    );
  const body = decision(connection.name, status, message);
  await finish(arm, await endpointConnections(arm).put(connection.id, body), signal);
  return { ...connection, status, message };
}

function meant(
  { connections: all, unread }: Parameters<typeof write>[1],
  name: string,
): Connection {
  const found = all.filter(
    (each) =>
      sameId(each.endpointId, name) ||
      sameId(each.id, name) ||
      [each.endpoint, each.name].some((one) => one.toLowerCase() === name.toLowerCase()),
  );
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (found.length > 1)
    throw new UsageError(
      `several endpoints are called '${name}': give the id of one of their connections: ${found.map(({ id }) => id).join(", ")}`,
    );
  const [hidden] = unread;
  if (hidden)
    throw new CommandFailure(
      `no connection of '${name}' can be seen · ${hidden.what}: ${hidden.why}`,
    );
  const near = nearest(
    name,
    all.flatMap(({ endpoint, name: own }) => [endpoint, own]),
  );
  throw new UsageError(
    `no link service here has a connection of '${name}': ${near ? `did you mean '${near}'?` : "see postern approve without a name for those that wait"}`,
  );
}
