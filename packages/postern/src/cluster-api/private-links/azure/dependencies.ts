import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { CapiCluster } from "@postern/core/kinds/capi-cluster.ts";
import type { WatchCache } from "../../../kube/cache.ts";
import type { KubeClient } from "../../../kube/client.ts";
import type { ClusterArmClients } from "../../identities.ts";
import type { CreatedIds } from "./created-ids.ts";

/** What the feature needs. */
export interface PrivateLinkOptions {
  /** Azure, by the identity of an AzureCluster; `watch` requeues it when an identity changes. */
  clients: Pick<ClusterArmClients, "of"> & Partial<Pick<ClusterArmClients, "watch" | "refusalOf">>;
  /** The AzureCluster of the management cluster, whose links may name Services: Postern reads those of this cluster only. */
  management?: { namespace: string; name: string } | undefined;
}

/** The same with what is shared by all reconciles. */
export interface PrivateLinkParts extends PrivateLinkOptions {
  objects: Pick<WatchCache<AzureCluster>, "get">;
  clusters: Pick<WatchCache<CapiCluster>, "get">;
  created: CreatedIds;
  kube: Pick<KubeClient, "get">;
}
