import { openPolicy } from "@postern/core/tenant-policy.ts";
import { cloudProviderFeature } from "@postern/local/cloud-provider/feature.ts";
import type { ArmClients, HostedArmClients } from "postern/hosted/arm-clients.ts";
import { endpointFeature } from "postern/hosted/endpoint/feature.ts";
import { type LinkOptions, linkFeature } from "postern/hosted/link/feature.ts";
import { servicesFeature } from "postern/hosted/services/feature.ts";
import { topologyFeature } from "postern/hosted/topology/feature.ts";
import type { MakeFeature } from "postern/kube/runtime.ts";
import { location, managementGroup, managementNetwork } from "./azure.ts";

/** Everything that turns one HostedCluster into a private control plane, on a machine without HyperShift and without a cloud. */
export function wholeChain(armClients: ArmClients): readonly MakeFeature[] {
  return wholeChainWith({})(armClients);
}

/** The same, with what differs from the defaults of the management side. */
export function wholeChainWith(over: Partial<LinkOptions>) {
  return (armClients: ArmClients): readonly MakeFeature[] => [
    ...managementWith(over)(armClients),
    ...controlPlaneSide(armClients),
    cloudProvider(armClients),
  ];
}

/** What `--role management` runs. */
export function managementSide(armClients: ArmClients): readonly MakeFeature[] {
  return managementWith({})(armClients);
}

function managementWith(over: Partial<LinkOptions>) {
  return (armClients: ArmClients): readonly MakeFeature[] => [
    topologyFeature({ policy: openPolicy }),
    linkFeature({
      armClients,
      natSubnets: "shared",
      natPrefixLength: 24,
      installation: "0f0f0f0f",
      ...over,
    }),
  ];
}

/** What `--role control-plane` runs. */
export function controlPlaneSide(armClients: HostedArmClients): readonly MakeFeature[] {
  return [servicesFeature(), endpointFeature({ armClients })];
}

/** A stand-in for the cloud provider, which is no part of Postern. */
export function cloudProvider(armClients: ArmClients): MakeFeature {
  return cloudProviderFeature({
    arm: (reconcile) => armClients.management(reconcile),
    managementGroup,
    subnetId: `${managementNetwork}/subnets/nodes`,
    location,
  });
}
