import type { ArmClient } from "../arm.ts";
import {
  type ArmResource,
  type Reference,
  type ResourceGateway,
  resourceGateway,
} from "../gateway.ts";
import { apiVersions } from "./api-versions.ts";
import type { Subnet } from "./subnets.ts";

/** A virtual network. A write replaces the subnets that it does not list: write subnets by themselves. */
export type VirtualNetwork = ArmResource<{
  provisioningState?: string;
  addressSpace?: { addressPrefixes?: string[] };
  dhcpOptions?: { dnsServers?: string[] };
  subnets?: Subnet[];
  virtualNetworkPeerings?: ArmResource<{
    remoteVirtualNetwork?: Reference;
    peeringState?: string;
  }>[];
}>;

/** Virtual networks, in a resource group or a subscription. */
export function virtualNetworks(arm: ArmClient): ResourceGateway<VirtualNetwork> {
  return resourceGateway(arm, {
    apiVersion: apiVersions.network,
    collection: "providers/Microsoft.Network/virtualNetworks",
  });
}
