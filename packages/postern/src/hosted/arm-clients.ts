import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import type { Arm, ArmClient } from "../azure/arm.ts";
import type { TokenSource } from "../azure/tokens.ts";
import type { Reconcile } from "../kube/reconcile.ts";

/** The ARM clients of a process that serves control planes. */
export interface HostedArmClients {
  /** For the subscription of a hosted cluster, with the credential of its control plane and no other. */
  hosted(controlPlane: HostedControlPlane, reconcile: Reconcile): ArmClient;
}

/** The ARM clients for both ends of a private link, each with an identity of its own. */
export interface ArmClients extends HostedArmClients {
  /** The group of the management cluster: link services are created there. */
  managementGroup: ResourceId;
  /** The groups whose load balancers may have the addresses of Services. */
  loadBalancerGroups: readonly ResourceId[];
  management(reconcile: Reconcile): ArmClient;
}

/** Where the credentials of control planes come from. What cannot be had is an `Explained` error. */
export type CredentialOf = (controlPlane: HostedControlPlane) => TokenSource;

/** The ARM clients of one process for hosted clusters. */
export function createHostedArmClients(arm: Arm, credentialOf: CredentialOf): HostedArmClients {
  return { hosted: (controlPlane, reconcile) => arm.for(reconcile, credentialOf(controlPlane)) };
}

/** The ARM clients of one process. */
export function createArmClients(given: {
  arm: Arm;
  managementGroup: ResourceId;
  /** Groups with load balancers of the management cluster, beside its own. */
  otherLoadBalancerGroups?: readonly ResourceId[] | undefined;
  credentialOf: CredentialOf;
}): ArmClients {
  const { arm, managementGroup, otherLoadBalancerGroups = [], credentialOf } = given;
  return {
    managementGroup,
    loadBalancerGroups: [managementGroup, ...otherLoadBalancerGroups],
    management: (reconcile) => arm.for(reconcile),
    ...createHostedArmClients(arm, credentialOf),
  };
}
