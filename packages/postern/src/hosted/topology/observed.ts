import type { KubeObject } from "@postern/core/kind.ts";
import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { Namespace, Service } from "@postern/core/kinds/core.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import type { Route } from "@postern/core/kinds/route.ts";
import type { Pause } from "@postern/core/pause.ts";
import type { Problem } from "./cluster/check.ts";

/** What was observed, once, before planning. */
export interface Observed {
  cluster: HostedCluster;
  /** Whether HyperShift creates the control planes here. */
  hyperShift: boolean;
  pause: Pause;
  /** What the policy forbids the cluster to have. */
  forbidden?: Problem | undefined;
  /** The hostnames that it asks for and another cluster has, in lower case. */
  taken?: readonly string[] | undefined;
  /** The namespace of the control plane, and what is in it. */
  namespace: Namespace | undefined;
  controlPlane: HostedControlPlane | undefined;
  services: readonly Service[];
  /** The ServiceAccount by which the control plane proves who it is. */
  account: KubeObject | undefined;
  /** Undefined where the API server does not know Routes. */
  routes: readonly Route[] | undefined;
  links: readonly AzurePrivateLinkService[];
}
