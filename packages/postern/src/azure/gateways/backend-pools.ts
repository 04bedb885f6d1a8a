import type { ArmClient } from "../arm.ts";
import {
  type ArmResource,
  type Reference,
  type ResourceGateway,
  resourceGateway,
} from "../gateway.ts";
import { apiVersions } from "./api-versions.ts";

/** One member of a pool: by address, or (read-only) by network interface. */
export interface BackendAddress {
  name?: string;
  properties: {
    ipAddress?: string;
    virtualNetwork?: Reference;
    subnet?: Reference;
    /** `Down` takes no new connections: a way to drain. */
    adminState?: "None" | "Up" | "Down" | "Drain";
    /** Set by Azure on a member that came through its network interface. Such a pool takes no addresses. */
    networkInterfaceIPConfiguration?: Reference;
  };
}

/** One end of the VXLAN between a Gateway load balancer and its appliances. */
export interface TunnelInterface {
  port?: number;
  /** The VXLAN network identifier. */
  identifier?: number;
  protocol?: "None" | "Native" | "VXLAN";
  type?: "None" | "Internal" | "External";
}

/** A backend pool. A write replaces all addresses: read, change, and write with `ifMatch`. */
export type BackendPool = ArmResource<{
  provisioningState?: string;
  loadBalancerBackendAddresses?: BackendAddress[];
  tunnelInterfaces?: TunnelInterface[];
  backendIPConfigurations?: Reference[];
  loadBalancingRules?: Reference[];
  virtualNetwork?: Reference;
  syncMode?: "Automatic" | "Manual";
  drainPeriodInSeconds?: number;
}>;

/** The backend pools of a load balancer. */
export function backendPools(arm: ArmClient): ResourceGateway<BackendPool> {
  return resourceGateway(arm, {
    apiVersion: apiVersions.network,
    collection: "backendAddressPools",
  });
}
