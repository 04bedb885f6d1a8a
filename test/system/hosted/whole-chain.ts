import type { AzureSides, GuestSide } from "../../../src/hosted/azure-sides.ts";
import { endpointFeature } from "../../../src/hosted/endpoint/controller.ts";
import { linkFeature } from "../../../src/hosted/link/controller.ts";
import { observeFeature } from "../../../src/hosted/observe/controller.ts";
import { topologyFeature } from "../../../src/hosted/topology/controller.ts";
import type { MakeFeature } from "../../../src/kube/runtime.ts";
import { cloudProviderFeature } from "../../../src/local/cloud-provider/controller.ts";
import { openPolicy } from "../../../src/model/tenant-policy.ts";
import { location, managementGroup, managementNetwork } from "./azure.ts";

/** Everything that turns one HostedCluster into a private control plane, on a machine without HyperShift and without a cloud. */
export function wholeChain(sides: AzureSides): readonly MakeFeature[] {
  return [...managementSide(sides), ...controlPlaneSide(sides), cloudProvider(sides)];
}

/** What `--role management` runs. */
export function managementSide(sides: AzureSides): readonly MakeFeature[] {
  return [
    topologyFeature({ policy: openPolicy }),
    linkFeature({ sides, natSubnets: "shared", natPrefixLength: 24, installation: "0f0f0f0f" }),
  ];
}

/** What `--role control-plane` runs. */
export function controlPlaneSide(sides: GuestSide): readonly MakeFeature[] {
  return [observeFeature(), endpointFeature({ sides })];
}

/** A stand-in for the cloud provider, which is no part of Postern. */
export function cloudProvider(sides: AzureSides): MakeFeature {
  return cloudProviderFeature({
    arm: (pass) => sides.management(pass),
    managementGroup,
    subnetId: `${managementNetwork}/subnets/nodes`,
    location,
  });
}
