import type { TunnelInterface } from "../azure/gateways/backend-pools.ts";
import type { ScaleSetOfMachine } from "./imds.ts";

/** How a load balancer looks whether an appliance is well. */
export interface HealthProbe {
  protocol: "Http" | "Https" | "Tcp";
  port: number;
  path: string;
  intervalSeconds: number;
  /** So many answers in a row change what it believes. */
  threshold: number;
}

/** One end of the VXLAN between the load balancer and this machine. */
export type Tunnel = Required<Pick<TunnelInterface, "port" | "identifier">> & {
  type: "Internal" | "External";
};

/** All that is known of this machine and its Gateway load balancer. Plain data: it can be kept and read again. */
export interface GWLBConfig {
  // From the metadata service.
  vmId: string;
  subscriptionId: string;
  resourceGroup: string;
  location: string;
  vmName: string;
  /** What the machine is in Resource Manager. */
  resourceId: string;
  /** The name of the cloud; it chooses where Resource Manager is. */
  environment: string;
  scaleSet?: ScaleSetOfMachine;
  zone?: string;
  // From the machine's primary network interface.
  privateIP: string;
  vnetResourceId: string;
  subnetResourceId: string;
  nicResourceId: string;
  ipConfigurationName: string;
  /** Twelve digits in capitals, without anything between. */
  macAddress: string;
  // From the load balancer.
  loadBalancerName: string;
  loadBalancerResourceId: string;
  backendPoolName: string;
  backendPoolResourceId: string;
  /** Where the tunnels come from: the private addresses of the load balancer. */
  frontendIPs: string[];
  tunnels: Tunnel[];
  /** Where the pool said nothing of its tunnels and the defaults of the portal stand in. */
  tunnelsAssumed: boolean;
  probe?: HealthProbe;
}
