import { azureAsoManagedCluster, azureAsoManagedControlPlane } from "./kinds/azure-aso-managed.ts";
import { azureCluster } from "./kinds/azure-cluster.ts";
import { azureClusterIdentity } from "./kinds/azure-cluster-identity.ts";
import { azureManagedControlPlane } from "./kinds/azure-managed-control-plane.ts";
import { azurePrivateLinkService } from "./kinds/azure-private-link-service.ts";
import { capiCluster } from "./kinds/capi-cluster.ts";
import type { Definition } from "./kinds/definition.ts";
import { hostedCluster } from "./kinds/hosted-cluster.ts";
import { hostedControlPlane } from "./kinds/hosted-control-plane.ts";
import { kubeadmControlPlane } from "./kinds/kubeadm-control-plane.ts";
import { nodePool } from "./kinds/node-pool.ts";
import { providerConfig } from "./kinds/provider-config.ts";
import { route } from "./kinds/route.ts";

/** Every kind that has a CRD under `manifests/crds`. */
export const definitions: readonly Definition[] = [
  azurePrivateLinkService,
  hostedCluster,
  hostedControlPlane,
  nodePool,
  route,
  azureCluster,
  azureClusterIdentity,
  azureAsoManagedCluster,
  azureAsoManagedControlPlane,
  azureManagedControlPlane,
  capiCluster,
  kubeadmControlPlane,
  providerConfig,
];
