import type { OperatorPresence, Unread } from "@postern/core/dashboard/picture.ts";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import type { LoadBalancer } from "../azure/gateways/load-balancers.ts";
import type { NetworkInterface } from "../azure/gateways/network-interfaces.ts";
import type {
  PrivateDnsZone,
  PrivateRecordSet,
  VirtualNetworkLink,
} from "../azure/gateways/private-dns.ts";
import type { PrivateEndpoint } from "../azure/gateways/private-endpoints.ts";
import type { PrivateLinkService } from "../azure/gateways/private-link-services.ts";
import type { VirtualNetwork } from "../azure/gateways/virtual-networks.ts";

/** A private zone with all that is in it. */
export interface Zone {
  zone: PrivateDnsZone;
  links: VirtualNetworkLink[];
  records: PrivateRecordSet[];
}

/** What Azure has, as it was listed. */
export interface AzureWorld {
  networks: VirtualNetwork[];
  loadBalancers: LoadBalancer[];
  linkServices: PrivateLinkService[];
  endpoints: PrivateEndpoint[];
  interfaces: NetworkInterface[];
  zones: Zone[];
  /** The ids of zones that are there and were not opened, because nobody asked what is in them. */
  unopened?: string[];
}

/** What Kubernetes has. */
export interface KubeWorld {
  hostedClusters: HostedCluster[];
  controlPlanes: HostedControlPlane[];
  links: AzurePrivateLinkService[];
  azureClusters: AzureCluster[];
}

/** Both sides as they were read once: plain data, from which pictures, traces and checks are made. */
export interface World {
  kube: KubeWorld;
  azure: AzureWorld;
  /** When it was read; now, where that is left out. */
  observedAt?: string;
  /** Whether an operator runs, as far as whoever reads knows. */
  operator?: OperatorPresence;
  /** The AzureCluster of the management cluster, as namespace/name, as far as whoever reads knows. */
  management?: string;
  /** What could not be read, and why. Nothing may be concluded from its absence. */
  unread: Unread[];
}
