import type { ArmClient } from "../arm.ts";
import {
  type ArmResource,
  type Reference,
  type ResourceGateway,
  resourceGateway,
} from "../gateway.ts";
import { apiVersions } from "./api-versions.ts";

/** The network interfaces of a machine; with several, one is primary. */
export interface NetworkProfile {
  networkInterfaces?: (Reference & { properties?: { primary?: boolean } })[];
}

/** A virtual machine. Instances of a uniform scale set are none: see `scaleSetInstances`. */
export type VirtualMachine = ArmResource<{
  provisioningState?: string;
  vmId?: string;
  networkProfile?: NetworkProfile;
  /** Set on an instance of a flexible scale set. */
  virtualMachineScaleSet?: Reference;
}>;

/** Virtual machines, in a resource group or a subscription. */
export function virtualMachines(arm: ArmClient): ResourceGateway<VirtualMachine> {
  return resourceGateway(arm, {
    apiVersion: apiVersions.compute,
    collection: "providers/Microsoft.Compute/virtualMachines",
  });
}
