import type { ArmClient } from "../arm.ts";
import {
  type ArmResource,
  type Reference,
  type ResourceGateway,
  resourceGateway,
} from "../gateway.ts";
import { apiVersions } from "./api-versions.ts";
import type { ConnectionState } from "./endpoint-connections.ts";
import type { NetworkInterface } from "./network-interfaces.ts";

/** What a private endpoint is connected to. */
export type LinkServiceConnection = ArmResource<{
  provisioningState?: string;
  /** The id of the link service, or its alias. */
  privateLinkServiceId?: string;
  groupIds?: string[];
  /** At most 140 characters. */
  requestMessage?: string;
  privateLinkServiceConnectionState?: ConnectionState;
}>;

/** An address that an endpoint is to have, where Azure is not to choose. */
export type EndpointIPConfiguration = ArmResource<{
  privateIPAddress?: string;
  groupId?: string;
  memberName?: string;
}>;

/** A private endpoint. Azure never moves one to another subnet. */
export type PrivateEndpoint = ArmResource<{
  provisioningState?: string;
  subnet?: Reference;
  privateLinkServiceConnections?: LinkServiceConnection[];
  manualPrivateLinkServiceConnections?: LinkServiceConnection[];
  customNetworkInterfaceName?: string;
  ipConfigurations?: EndpointIPConfiguration[];
  applicationSecurityGroups?: Reference[];
  /** A read of one endpoint fills in the interfaces with their addresses; a list gives only their ids. */
  networkInterfaces?: (Reference & Partial<NetworkInterface>)[];
  customDnsConfigs?: { fqdn?: string; ipAddresses?: string[] }[];
}>;

/** Both lists of connections; one of Azure's or of a person's making may hold nulls, and an answer may be without properties. */
export function connectionsOf({
  properties,
}: Partial<Pick<PrivateEndpoint, "properties">>): LinkServiceConnection[] {
  const all: (LinkServiceConnection | null)[] = [
    ...(properties?.privateLinkServiceConnections ?? []),
    ...(properties?.manualPrivateLinkServiceConnections ?? []),
  ];
  return all.filter((each) => each !== null);
}

/** What of an endpoint can be sent back: what only Azure says is left out. */
export function withoutEndpointAnswers(found: PrivateEndpoint): PrivateEndpoint {
  const { etag: _etag, id: _id, name: _name, type: _type, ...top } = found;
  const {
    provisioningState: _state,
    networkInterfaces: _interfaces,
    customDnsConfigs: _names,
    ...properties
  } = found.properties;
  return { ...top, properties };
}

/** Private endpoints, in a resource group or a subscription. */
export function privateEndpoints(arm: ArmClient): ResourceGateway<PrivateEndpoint> {
  return resourceGateway(arm, {
    apiVersion: apiVersions.network,
    collection: "providers/Microsoft.Network/privateEndpoints",
    expand: "networkInterfaces",
  });
}
