import type { ArmClient } from "../arm.ts";
import {
  type ArmResource,
  type Reference,
  type ResourceGateway,
  resourceGateway,
} from "../gateway.ts";
import { apiVersions } from "./api-versions.ts";
import type { BackendPool } from "./backend-pools.ts";

/** An address under which a load balancer is reached. */
export type FrontendIPConfiguration = ArmResource<{
  provisioningState?: string;
  privateIPAddress?: string;
  privateIPAllocationMethod?: "Dynamic" | "Static";
  privateIPAddressVersion?: "IPv4" | "IPv6";
  subnet?: Reference;
  publicIPAddress?: Reference;
  privateLinkService?: Reference;
  loadBalancingRules?: Reference[];
  gatewayLoadBalancer?: Reference;
}>;

/** A rule that joins a frontend, a pool and a probe. */
export type LoadBalancingRule = ArmResource<{
  frontendIPConfiguration?: Reference;
  backendAddressPool?: Reference;
  backendAddressPools?: Reference[];
  probe?: Reference;
  protocol?: "All" | "Tcp" | "Udp";
  frontendPort?: number;
  backendPort?: number;
  enableFloatingIP?: boolean;
}>;

/** A probe of a load balancer. */
export type Probe = ArmResource<{
  protocol?: "Http" | "Https" | "Tcp";
  port?: number;
  requestPath?: string;
  intervalInSeconds?: number;
  numberOfProbes?: number;
  probeThreshold?: number;
}>;

/** A load balancer. A write replaces the pools that it does not list: write pools by themselves. */
export type LoadBalancer = ArmResource<{
  provisioningState?: string;
  frontendIPConfigurations?: FrontendIPConfiguration[];
  backendAddressPools?: BackendPool[];
  loadBalancingRules?: LoadBalancingRule[];
  probes?: Probe[];
}> & { sku?: { name?: "Basic" | "Standard" | "Gateway"; tier?: string } };

/** Load balancers, in a resource group or a subscription. */
export function loadBalancers(arm: ArmClient): ResourceGateway<LoadBalancer> {
  return resourceGateway(arm, {
    apiVersion: apiVersions.network,
    collection: "providers/Microsoft.Network/loadBalancers",
  });
}
