import type { ArmClient } from "../arm.ts";
import {
  type ArmResource,
  type Reference,
  type ResourceGateway,
  resourceGateway,
} from "../gateway.ts";
import { apiVersions } from "./api-versions.ts";

/** A public address. A dynamic one has none while nobody uses it. */
export type PublicIPAddress = ArmResource<{
  provisioningState?: string;
  ipAddress?: string;
  publicIPAddressVersion?: "IPv4" | "IPv6";
  ipConfiguration?: Reference;
}>;

/** Public addresses, in a resource group or a subscription. */
export function publicIPAddresses(arm: ArmClient): ResourceGateway<PublicIPAddress> {
  return resourceGateway(arm, {
    apiVersion: apiVersions.network,
    collection: "providers/Microsoft.Network/publicIPAddresses",
  });
}
