import { parseResourceId, type ResourceId } from "@postern/core/resource-id.ts";
import type { EndpointConnection } from "../../azure/gateways/endpoint-connections.ts";
import type { PrivateLinkService } from "../../azure/gateways/private-link-services.ts";

/** What a person chose for endpoints of other people. */
export type ForeignEndpoints = "disconnect" | "refuse";

/** What stands between a link service and its deletion. */
export type Disconnecting =
  | { is: "free" }
  /** Its own endpoint is being deleted on the other side, which is the better way. */
  | { is: "waiting"; retryAfterMs: number }
  | { is: "refused"; connected: string[] }
  | { is: "reject"; connections: Connection[] }
  | { is: "remove"; connections: Connection[] };

/** A connection of an endpoint, by its id and that of the endpoint. */
export interface Connection {
  id: ResourceId;
  endpoint: string;
}

/** How long the guest side has to delete the endpoint itself, before it is cut off. */
export const tenantFirstMs = 2 * 60_000;

/** Read `postern.io/foreign-endpoints`. What is neither is taken for the careful one. */
export function foreignEndpoints(value: string | undefined): ForeignEndpoints {
  return value === undefined || /^disconnect$/i.test(value.trim()) ? "disconnect" : "refuse";
}

/**
 * Decide what to do about the endpoints of a link service that is to go. Azure deletes none that has a connection in any
 * state, and only Approved and Pending ones need a word to their owners first.
 */
export function disconnecting(
  service: PrivateLinkService,
  given: {
    policy: ForeignEndpoints;
    isOwn: (endpoint: string) => boolean;
    /** How long to wait for the side of our own endpoint; 0 where it has nothing to do or had its time. */
    tenantMs: number;
  },
): Disconnecting {
  const connections = (service.properties.privateEndpointConnections ?? []).flatMap(read);
  const foreign = connections.filter(({ endpoint }) => !given.isOwn(endpoint));
  if (foreign.length > 0 && given.policy === "refuse")
    return { is: "refused", connected: foreign.map(({ endpoint }) => endpoint).sort() };
  const now = given.tenantMs > 0 ? foreign : connections;
  const alive = now.filter(({ alive }) => alive);
  if (alive.length > 0) return { is: "reject", connections: alive.map(plain) };
  if (now.length > 0) return { is: "remove", connections: now.map(plain) };
  return connections.length > 0 ? { is: "waiting", retryAfterMs: given.tenantMs } : { is: "free" };
}

function read(connection: EndpointConnection): (Connection & { alive: boolean })[] {
  if (connection.id === undefined) return [];
  const { privateEndpoint, privateLinkServiceConnectionState: state } = connection.properties;
  return [
    {
      id: parseResourceId(
        connection.id,
        "Microsoft.Network/privateLinkServices/privateEndpointConnections",
      ),
      endpoint: privateEndpoint?.id ?? connection.id,
      alive: /^(approved|pending)$/i.test(state?.status ?? ""),
    },
  ];
}

function plain({ id, endpoint }: Connection): Connection {
  return { id, endpoint };
}
