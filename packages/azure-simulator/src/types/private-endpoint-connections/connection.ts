import { bump } from "../../arm/etags.ts";
import { object } from "../../arm/fields.ts";
import type { JsonObject, Resource, Store } from "../../state/store.ts";

/** The type of connections, for those who must not import the type itself. */
export const connectionType = "Microsoft.Network/privateLinkServices/privateEndpointConnections";

/** The connections of a service. */
export function connectionsOf(service: Pick<Resource, "key">, store: Store): Resource[] {
  return [...store.collection(`${service.key}/privateendpointconnections`)];
}

/** A connection as its service shows it. */
export function shownConnection(connection: Resource, etag: string): JsonObject {
  const { name, id, state, type } = connection;
  const { before: _before, ...properties } = connection.properties;
  return { name, id, etag, type, properties: { provisioningState: state, ...properties } };
}

/** How a connection stood before a decision that is still being carried out; how it stands where there is none. */
export function stateBefore({ properties }: Pick<Resource, "properties">): JsonObject | undefined {
  return object(properties, "before") ?? object(properties, "privateLinkServiceConnectionState");
}

/** Whether the owner of the service does not want a connection, or no longer. */
export function isRejected(connection: Resource): boolean {
  const status = stateBefore(connection)?.status;
  return status === "Rejected" || status === "Removed";
}

/** The key of the connection that an endpoint makes at a service. */
export function connectionName(endpoint: string, guid: string): string {
  return `${endpoint}.${guid}`;
}

/** Keep the connection that a new endpoint makes. The service changes with it. */
export function makeConnection(
  service: Resource,
  name: string,
  endpoint: Resource,
  state: JsonObject,
  store: Store,
): void {
  const id = `${service.id}/privateEndpointConnections/${name}`;
  const guid = String(endpoint.properties.resourceGuid);
  const connection: Resource = {
    id,
    key: id.toLowerCase(),
    type: `${service.type}/privateEndpointConnections`,
    name,
    top: {},
    properties: {
      privateEndpoint: { id: endpoint.id },
      privateLinkServiceConnectionState: state,
      // Proxy protocol tells it as a number of 32 bits.
      linkIdentifier: String(0x2000_0000 + Number.parseInt(guid.slice(0, 7), 16)),
      privateEndpointLocation: endpoint.top.location,
    },
    state: "Succeeded",
    version: 0,
    etag: `${id} ${store.tick()}`,
  };
  bump(connection);
  store.put(connection);
  touch(service, store);
}

/** Something about a resource changed that its readers see: its etag tells. */
export function touch(resource: Resource, store: Store): void {
  bump(resource);
  store.put(resource);
}
