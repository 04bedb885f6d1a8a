import type { ArmClient } from "../arm.ts";
import {
  type ArmResource,
  type Reference,
  type ResourceGateway,
  resourceGateway,
} from "../gateway.ts";
import { apiVersions } from "./api-versions.ts";

/** Whether the owner of a link service lets an endpoint in. */
export interface ConnectionState {
  status?: "Pending" | "Approved" | "Rejected" | "Removed" | "Disconnected";
  description?: string;
  actionsRequired?: string;
}

/** A private endpoint's connection, as the link service has it. */
export type EndpointConnection = ArmResource<{
  provisioningState?: string;
  privateEndpoint?: Reference;
  privateEndpointLocation?: string;
  privateLinkServiceConnectionState?: ConnectionState;
  linkIdentifier?: string;
}>;

/**
 * The connections of a private link service. A connection is approved or rejected by writing its state,
 * which ends at once; it keeps the service from being deleted until it is removed.
 */
export function endpointConnections(arm: ArmClient): ResourceGateway<EndpointConnection> {
  return resourceGateway(arm, {
    apiVersion: apiVersions.network,
    collection: "privateEndpointConnections",
  });
}

/** The body that approves or rejects a connection. */
export function decision(
  name: string,
  status: "Approved" | "Rejected",
  description: string,
): EndpointConnection {
  const privateLinkServiceConnectionState = { status, description, actionsRequired: "None" };
  return { name, properties: { privateLinkServiceConnectionState } };
}
