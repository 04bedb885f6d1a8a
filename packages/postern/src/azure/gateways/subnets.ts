import type { ArmClient } from "../arm.ts";
import {
  type ArmResource,
  type Reference,
  type ResourceGateway,
  resourceGateway,
} from "../gateway.ts";
import { apiVersions } from "./api-versions.ts";

/** A subnet. Azure answers one prefix in `addressPrefix` and several in `addressPrefixes`. */
export type Subnet = ArmResource<{
  provisioningState?: string;
  addressPrefix?: string;
  addressPrefixes?: string[];
  /** Must be Disabled where a private link service takes its addresses. */
  privateLinkServiceNetworkPolicies?: "Enabled" | "Disabled";
  privateEndpointNetworkPolicies?:
    | "Enabled"
    | "Disabled"
    | "NetworkSecurityGroupEnabled"
    | "RouteTableEnabled";
  networkSecurityGroup?: Reference;
  routeTable?: Reference;
  natGateway?: Reference;
  serviceEndpoints?: unknown[];
  delegations?: unknown[];
  ipConfigurations?: Reference[];
  privateEndpoints?: Reference[];
  defaultOutboundAccess?: boolean;
}>;

/** The subnets of a virtual network. Azure takes one write for each network at a time. */
export function subnets(arm: ArmClient): ResourceGateway<Subnet> {
  return resourceGateway(arm, { apiVersion: apiVersions.network, collection: "subnets" });
}
