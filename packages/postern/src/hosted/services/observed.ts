import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { Service } from "@postern/core/kinds/core.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import type { Pause } from "@postern/core/pause.ts";

/** What was observed, once, before planning. */
export interface Observed {
  controlPlane: HostedControlPlane;
  /** Why the control plane is not obeyed. */
  unverified?: string | undefined;
  pause: Pause;
  /** The Services of the two names, where they are. */
  services: readonly Service[];
  /** Every link object in the namespace of the control plane. */
  links: readonly AzurePrivateLinkService[];
  /** The subnet that an annotation of the cluster names for the endpoint. */
  endpointSubnetID?: string | undefined;
  /** The subnet of the first NodePool of the cluster. */
  poolSubnetID: string | undefined;
}
