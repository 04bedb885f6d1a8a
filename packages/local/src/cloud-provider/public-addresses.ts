import type { ArmClient } from "postern/azure/arm.ts";
import { type ArmResource, type ResourceGateway, resourceGateway } from "postern/azure/gateway.ts";
import { apiVersions } from "postern/azure/gateways/api-versions.ts";

/** A public address. */
export type PublicAddress = ArmResource<{
  provisioningState?: string;
  ipAddress?: string;
  publicIPAllocationMethod?: "Static" | "Dynamic";
}> & { sku?: { name: "Basic" | "Standard" } };

/** Public addresses, in a resource group or a subscription. */
export function publicAddresses(arm: ArmClient): ResourceGateway<PublicAddress> {
  return resourceGateway(arm, {
    apiVersion: apiVersions.network,
    collection: "providers/Microsoft.Network/publicIPAddresses",
  });
}
