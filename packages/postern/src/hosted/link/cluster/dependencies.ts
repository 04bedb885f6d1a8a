import type { KubeObject } from "@postern/core/kind.ts";
import type { Service } from "@postern/core/kinds/core.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import type { Tags } from "@postern/core/tags.ts";
import type { TenantPolicy } from "@postern/core/tenant-policy.ts";
import type { WatchCache } from "../../../kube/cache.ts";
import type { KubeClient } from "../../../kube/client.ts";
import type { Networks } from "../../../private-link/nat-subnets/networks.ts";
import type { Reservations } from "../../../private-link/nat-subnets/reservations.ts";
import type { ArmClients } from "../../arm-clients.ts";
import type { Registered } from "../../tenancy.ts";
import type { ServiceList } from "../service/service-list.ts";

/** How this feature is set up. */
export interface LinkOptions {
  armClients: ArmClients;
  /** Whether the link services of all clusters share subnets, or each cluster has one of its own. */
  natSubnets: "shared" | "per-cluster";
  /** How large a subnet is made where the network has the room. */
  natPrefixLength: number;
  /** The first 8 characters of the uid of namespace kube-system: two installations never share a subnet. */
  installation: string;
  /** Tags of the link services, beside Postern's own; undefined where that is not known. */
  azureTags?: Tags | undefined;
  /** Which namespace may use what. */
  policy?: TenantPolicy | undefined;
}

/** What all reconciles of this feature share. */
export interface LinkParts extends LinkOptions {
  kube: KubeClient;
  /** Whether an AzurePrivateLinkService with this uid exists, wherever it is. */
  exists(uid: string): boolean;
  /** The namespace of the AzurePrivateLinkService with this uid. */
  namespaceOf(uid: string): string | undefined;
  /** With the index `byClusterID`. */
  hostedClusters: WatchCache<HostedCluster>;
  controlPlanes: Pick<WatchCache<HostedControlPlane>, "get">;
  registered: Registered;
  services: WatchCache<Service>;
  /** Metadata only. */
  namespaces: Pick<WatchCache<KubeObject>, "get">;
  serviceList: ServiceList;
  networks: Networks;
  reservations: Reservations;
  /**
   * The notes that this process wrote, by the uid of the object, and the versions of the namespace that this made: they count
   * until the watch brings that version or a newer one, which may have another replica's annotation. Empty for a removed one.
   */
  recorded: Map<string, { subnet: string; version: string }>;
}
