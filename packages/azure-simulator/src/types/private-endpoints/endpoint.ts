import { object, objects, text, texts } from "../../arm/fields.ts";
import type { JsonObject, Resource, Store } from "../../state/store.ts";
import { stateBefore } from "../private-endpoint-connections/connection.ts";
import { hostnamesOf, storageType } from "../storage-accounts/subresources.ts";

/** The type of endpoints, for those who must not import the type itself. */
export const endpointType = "Microsoft.Network/privateEndpoints";

/** The two lists of connections: those that ask for approval and those that bring it with them. */
export const connectionLists = [
  "privateLinkServiceConnections",
  "manualPrivateLinkServiceConnections",
] as const;

/** Which of the two. */
export type ConnectionList = (typeof connectionLists)[number];

/** What an endpoint shows of a connection that its service no longer has. */
const disconnected = {
  status: "Disconnected",
  description: "",
  actionsRequired: "None",
} as const;

/** The connections of an endpoint, with the service and the connection resource of each. */
export function endpointConnections(
  { properties }: Pick<Resource, "properties">,
  list: ConnectionList,
): { entry: JsonObject; fields: JsonObject; service: string; connection: string }[] {
  return objects(properties, list).map((entry) => {
    const leads = object(entry, "leads") ?? {};
    return {
      entry,
      fields: object(entry, "properties") ?? {},
      service: text(leads, "service", ""),
      connection: text(leads, "connection", ""),
    };
  });
}

/** How a connection stands: what the service said before a decision that is still being carried out, and Disconnected where that has gone. */
export function stateOf(connection: string, store: Store): JsonObject {
  const found = store.get(connection);
  return (found && stateBefore(found)) ?? disconnected;
}

/** The addresses of an endpoint, from its interface. */
export function addressesOf(endpoint: Resource, store: Store): string[] {
  return objects(endpoint.properties, "networkInterfaces").flatMap((each) => {
    const nic = store.get(text(each, "id", ""));
    if (!nic) return [];
    return objects(nic.properties, "ipConfigurations").flatMap((configuration) => {
      const address = object(configuration, "properties")?.privateIPAddress;
      return typeof address === "string" ? [address] : [];
    });
  });
}

/** The names that lead to an endpoint: those of its service, once it is approved. */
export function dnsConfigsOf(
  endpoint: Resource,
  store: Store,
): { fqdn: string; ipAddresses: string[] }[] {
  // Recorded: there are none before the endpoint is there; in later writes they stay.
  if (endpoint.properties.provisioned === false) return [];
  const ipAddresses = addressesOf(endpoint, store);
  return connectionLists
    .flatMap((list) => endpointConnections(endpoint, list))
    .filter(({ connection }) => stateOf(connection, store).status === "Approved")
    .flatMap(({ service, fields }) => {
      const found = store.get(service);
      if (found?.type === storageType) return hostnamesOf(found.name, texts(fields, "groupIds"));
      return found ? texts(found.properties, "fqdns") : [];
    })
    .map((fqdn) => ({ fqdn, ipAddresses }));
}
