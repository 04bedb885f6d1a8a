import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import type { Arm, ArmClient } from "../azure/arm.ts";
import type { TokenSource } from "../azure/tokens.ts";
import type { Reconcile } from "../kube/reconcile.ts";

/** The side of the guests: all that a process for control planes reaches. */
export interface GuestSide {
  /** The guest of a control plane, by that control plane's own credential and by no other. */
  guest(controlPlane: HostedControlPlane, reconcile: Reconcile): ArmClient;
}

/** The two sides of a private link in Azure, each reached by an identity of its own. */
export interface AzureSides extends GuestSide {
  /** The group that holds the load balancers of the management cluster, and gets the link services. */
  managementGroup: ResourceId;
  management(reconcile: Reconcile): ArmClient;
}

/** Where the credentials of control planes come from. What cannot be had is an `Explained` error. */
export type CredentialOf = (controlPlane: HostedControlPlane) => TokenSource;

/** The guests as one process reaches them. */
export function guestSide(arm: Arm, credentialOf: CredentialOf): GuestSide {
  return { guest: (controlPlane, reconcile) => arm.for(reconcile, credentialOf(controlPlane)) };
}

/** The sides as one process reaches them. */
export function azureSides(given: {
  arm: Arm;
  managementGroup: ResourceId;
  credentialOf: CredentialOf;
}): AzureSides {
  const { arm, managementGroup, credentialOf } = given;
  return {
    managementGroup,
    management: (reconcile) => arm.for(reconcile),
    ...guestSide(arm, credentialOf),
  };
}
