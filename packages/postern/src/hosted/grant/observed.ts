import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import type { RoleBinding } from "@postern/core/kinds/role-binding.ts";

/** The service account that is bound. */
export interface Account {
  namespace: string;
  name: string;
}

/** What was observed before deciding. */
export interface Observed {
  controlPlane: HostedControlPlane;
  /** Whether the control plane is the one that its HostedCluster has here. */
  verified: boolean;
  /** The service account of this process; undefined where it is none. */
  account: Account | undefined;
  /** The RoleBinding in the namespace of the control plane. */
  binding: RoleBinding | undefined;
}
