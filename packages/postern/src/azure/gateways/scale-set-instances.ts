import type { ArmClient } from "../arm.ts";
import { type ArmResource, type ResourceGateway, resourceGateway } from "../gateway.ts";
import { apiVersions } from "./api-versions.ts";
import type { NetworkInterface } from "./network-interfaces.ts";
import type { NetworkProfile } from "./virtual-machines.ts";

/** An instance of a uniform scale set; its id ends in `virtualMachines/0`. */
export type ScaleSetInstance = ArmResource<{
  provisioningState?: string;
  vmId?: string;
  networkProfile?: NetworkProfile;
}> & { instanceId?: string };

/** The instances of a scale set. */
export function scaleSetInstances(arm: ArmClient): ResourceGateway<ScaleSetInstance> {
  return resourceGateway(arm, { apiVersion: apiVersions.compute, collection: "virtualMachines" });
}

/** The network interfaces of an instance of a scale set, which no other API knows. */
export function scaleSetInterfaces(
  arm: ArmClient,
): Pick<ResourceGateway<NetworkInterface>, "get" | "list"> {
  return resourceGateway(arm, {
    apiVersion: apiVersions.scaleSetInterfaces,
    collection: "networkInterfaces",
  });
}
