import type { ArmClient } from "../arm.ts";
import {
  type ArmResource,
  type Reference,
  type ResourceGateway,
  resourceGateway,
} from "../gateway.ts";
import { apiVersions } from "./api-versions.ts";

/** One address of a network interface. */
export type InterfaceIPConfiguration = ArmResource<{
  privateIPAddress?: string;
  privateIPAllocationMethod?: "Dynamic" | "Static";
  privateIPAddressVersion?: "IPv4" | "IPv6";
  primary?: boolean;
  subnet?: Reference;
  loadBalancerBackendAddressPools?: Reference[];
}>;

/** A network interface. Its writes end at once; its deletion does not. */
export type NetworkInterface = ArmResource<{
  provisioningState?: string;
  primary?: boolean;
  macAddress?: string;
  enableIPForwarding?: boolean;
  ipConfigurations?: InterfaceIPConfiguration[];
  virtualMachine?: Reference;
  privateEndpoint?: Reference;
}>;

/** Network interfaces, in a resource group or a subscription. Those of scale sets are not among them. */
export function networkInterfaces(arm: ArmClient): ResourceGateway<NetworkInterface> {
  return resourceGateway(arm, {
    apiVersion: apiVersions.network,
    collection: "providers/Microsoft.Network/networkInterfaces",
  });
}
