import type { AzureSides } from "../../../src/hosted/azure-sides.ts";
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
  return [
    topologyFeature({ policy: openPolicy }),
    observeFeature(),
    linkFeature({ sides, natSubnets: "shared", natPrefixLength: 24, installation: "0f0f0f0f" }),
    endpointFeature({ sides }),
    cloudProviderFeature({
      arm: (pass) => sides.management(pass),
      managementGroup,
      subnetId: `${managementNetwork}/subnets/nodes`,
      location,
    }),
  ];
}
