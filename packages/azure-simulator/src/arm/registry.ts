import { backendAddressPools } from "../types/backend-address-pools/index.ts";
import { deployments } from "../types/deployments/index.ts";
import { dnsRecords } from "../types/dns-records/index.ts";
import { dnsZones } from "../types/dns-zones/index.ts";
import { federatedIdentityCredentials } from "../types/federated-identity-credentials/index.ts";
import {
  frontendIPConfigurations,
  inboundNatRules,
  loadBalancingRules,
  outboundRules,
  probes,
} from "../types/load-balancers/children.ts";
import { loadBalancers } from "../types/load-balancers/index.ts";
import {
  networkInterfaceIPConfigurations,
  networkInterfaces,
} from "../types/network-interfaces/index.ts";
import { permissions } from "../types/permissions/index.ts";
import { privateDnsRecords } from "../types/private-dns-records/index.ts";
import { privateDnsZoneGroups } from "../types/private-dns-zone-groups/index.ts";
import { privateDnsZones } from "../types/private-dns-zones/index.ts";
import { privateEndpointConnections } from "../types/private-endpoint-connections/index.ts";
import { privateEndpoints } from "../types/private-endpoints/index.ts";
import { privateLinkLocations } from "../types/private-link-locations/index.ts";
import { privateLinkServices } from "../types/private-link-services/index.ts";
import { providers } from "../types/providers/index.ts";
import { publicIPAddresses } from "../types/public-ip-addresses/index.ts";
import { resourceGroups } from "../types/resource-groups/index.ts";
import { roleAssignments } from "../types/role-assignments/index.ts";
import { roleDefinitions } from "../types/role-definitions/index.ts";
import { storageAccounts } from "../types/storage-accounts/index.ts";
import { subnets } from "../types/subnets/index.ts";
import { subscriptions } from "../types/subscriptions/index.ts";
import { tenants } from "../types/tenants/index.ts";
import { userAssignedIdentities } from "../types/user-assigned-identities/index.ts";
import { virtualMachineScaleSets } from "../types/virtual-machine-scale-sets/index.ts";
import {
  scaleSetInstances,
  scaleSetInterfaceIPConfigurations,
  scaleSetInterfaces,
} from "../types/virtual-machine-scale-sets/instance-types.ts";
import { virtualMachines } from "../types/virtual-machines/index.ts";
import { virtualNetworkLinks } from "../types/virtual-network-links/index.ts";
import { virtualNetworks } from "../types/virtual-networks/index.ts";
import type { ResourceType } from "./resource-type.ts";

/** Every type that the simulator knows, one line each. */
export const resourceTypes: readonly ResourceType[] = [
  subscriptions,
  tenants,
  resourceGroups,
  providers,
  deployments,
  roleDefinitions,
  roleAssignments,
  permissions,
  userAssignedIdentities,
  federatedIdentityCredentials,
  virtualNetworks,
  subnets,
  publicIPAddresses,
  networkInterfaces,
  networkInterfaceIPConfigurations,
  loadBalancers,
  backendAddressPools,
  frontendIPConfigurations,
  loadBalancingRules,
  probes,
  inboundNatRules,
  outboundRules,
  virtualMachines,
  virtualMachineScaleSets,
  scaleSetInstances,
  scaleSetInterfaces,
  scaleSetInterfaceIPConfigurations,
  privateLinkServices,
  privateEndpointConnections,
  privateLinkLocations,
  privateEndpoints,
  storageAccounts,
  privateDnsZoneGroups,
  privateDnsZones,
  ...privateDnsRecords,
  virtualNetworkLinks,
  dnsZones,
  ...dnsRecords,
];

const byName = new Map(resourceTypes.map((type) => [type.type.toLowerCase(), type]));
const children = new Map<string, ResourceType[]>();
for (const type of resourceTypes) {
  if (type.within !== "parent") continue;
  const parent = type.type.slice(0, type.type.lastIndexOf("/")).toLowerCase();
  children.set(parent, [...(children.get(parent) ?? []), type]);
}

/** The type of a name in any case. */
export function typeNamed(name: string): ResourceType | undefined {
  return byName.get(name) ?? byName.get(name.toLowerCase());
}

/** The types whose resources are children of this one. */
export function typesUnder(type: string): readonly ResourceType[] {
  return children.get(type.toLowerCase()) ?? [];
}
