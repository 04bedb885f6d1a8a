import { azurePrivateLinkService } from "./kinds/azure-private-link-service.ts";
import type { Definition } from "./kinds/definition.ts";
import { hostedCluster } from "./kinds/hosted-cluster.ts";
import { hostedControlPlane } from "./kinds/hosted-control-plane.ts";
import { nodePool } from "./kinds/node-pool.ts";
import { route } from "./kinds/route.ts";

/** Every kind that has a CRD under `manifests/crds`. */
export const definitions: readonly Definition[] = [
  azurePrivateLinkService,
  hostedCluster,
  hostedControlPlane,
  nodePool,
  route,
];
