import type { ArmClient } from "../arm.ts";
import {
  type ArmResource,
  type Reference,
  type ResourceGateway,
  resourceGateway,
} from "../gateway.ts";
import type { Write } from "../operations.ts";
import { apiVersions } from "./api-versions.ts";
import type { EndpointConnection } from "./endpoint-connections.ts";

/** An address from which a link service reaches its load balancer. */
export type LinkServiceIPConfiguration = ArmResource<{
  subnet?: Reference;
  primary?: boolean;
  privateIPAddress?: string;
  privateIPAddressVersion?: "IPv4" | "IPv6";
  privateIPAllocationMethod?: "Dynamic" | "Static";
}>;

/** A private link service. Mind `IpConfigurations` here and `IPConfigurations` on the load balancer. */
export type PrivateLinkService = ArmResource<{
  provisioningState?: string;
  /** Given by Azure, already in the first answer: `name.guid.region.azure.privatelinkservice`. */
  alias?: string;
  loadBalancerFrontendIpConfigurations?: Reference[];
  ipConfigurations?: LinkServiceIPConfiguration[];
  visibility?: { subscriptions?: string[] };
  autoApproval?: { subscriptions?: string[] };
  fqdns?: string[];
  enableProxyProtocol?: boolean;
  destinationIPAddress?: string;
  privateEndpointConnections?: EndpointConnection[];
  networkInterfaces?: Reference[];
}>;

/** Private link services, in a resource group or a subscription. */
export function privateLinkServices(arm: ArmClient): ResourceGateway<PrivateLinkService> {
  return resourceGateway(arm, {
    apiVersion: apiVersions.network,
    collection: "providers/Microsoft.Network/privateLinkServices",
  });
}

/** What of a link service can be sent back: what only Azure says is left out. */
export function withoutAnswers(found: PrivateLinkService): PrivateLinkService {
  const { etag: _etag, id: _id, name: _name, type: _type, ...top } = found;
  const {
    provisioningState: _state,
    alias: _alias,
    privateEndpointConnections: _connections,
    networkInterfaces: _interfaces,
    ...properties
  } = found.properties;
  return { ...top, properties };
}

/**
 * Ask whether a link service can be seen from a resource group. It may take a while: then it is
 * "running", and `check` of the id that is answered ends with the result `{ visible }`.
 */
export async function checkVisibility(
  arm: ArmClient,
  resourceGroup: string,
  location: string,
  privateLinkServiceAlias: string,
): Promise<Write<{ visible?: boolean }>> {
  const query = { "api-version": apiVersions.network };
  const id = `${resourceGroup}/providers/Microsoft.Network/locations/${location}/checkPrivateLinkServiceVisibility`;
  const body = { privateLinkServiceAlias };
  const answer = await arm.request("POST", id, { query, body });
  // Two aliases may be asked for at once, so each is an operation of its own.
  const requestPath = `${id}/${privateLinkServiceAlias}`;
  const write = arm.operations.begin({ id: requestPath, method: "POST", body, query, answer });
  return write.state === "running" ? write : { state: "done", resource: write.resource ?? {} };
}
