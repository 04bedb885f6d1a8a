import type { Arm, ArmView } from "../azure/arm.ts";
import type { TokenSource } from "../azure/tokens.ts";
import type { Pass } from "../kube/pass.ts";
import type { HostedControlPlane } from "../model/kinds/hosted-control-plane.ts";
import type { ResourceId } from "../model/resource-id.ts";

/** The two sides of a private link in Azure, each reached by an identity of its own. */
export interface AzureSides {
  /** The group that holds the load balancers of the management cluster, and gets the link services. */
  managementGroup: ResourceId;
  management(pass: Pass): ArmView;
  /** The guest of a control plane, by that control plane's own credential and by no other. */
  guest(controlPlane: HostedControlPlane, pass: Pass): ArmView;
}

/** The sides as one process reaches them. */
export function azureSides(given: {
  arm: Arm;
  managementGroup: ResourceId;
  /** The credential of a control plane. What cannot be had is an `Explained` error. */
  credentialOf(controlPlane: HostedControlPlane): TokenSource;
}): AzureSides {
  const { arm, managementGroup, credentialOf } = given;
  return {
    managementGroup,
    management: (pass) => arm.for(pass),
    guest: (controlPlane, pass) => arm.for(pass, credentialOf(controlPlane)),
  };
}
