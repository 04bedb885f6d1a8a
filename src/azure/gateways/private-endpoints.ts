import type { ArmView } from "../arm.ts";
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

/** Private endpoints, in a resource group or a subscription. */
export function privateEndpoints(arm: ArmView): ResourceGateway<PrivateEndpoint> {
  return resourceGateway(arm, {
    apiVersion: apiVersions.network,
    collection: "providers/Microsoft.Network/privateEndpoints",
    expand: "networkInterfaces",
  });
}
