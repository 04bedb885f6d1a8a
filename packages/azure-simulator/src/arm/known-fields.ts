import type { JsonObject } from "../state/store.ts";
import { invalid, isObject } from "./fields.ts";

/**
 * What may be in the `properties` of network resources and of the children in their lists: what Azure's OpenAPI documents and
 * its newest SDK name, and what recorded answers show besides.
 */
const known: Readonly<Record<string, string>> = {
  virtualNetworks:
    "addressSpace bgpCommunities cloudServices ddosProtectionPlan defaultPublicNatGateway dhcpOptions enableDdosProtection enableVmProtection encryption flowLogs flowTimeoutInMinutes ipAllocations privateEndpointVNetPolicies provisioningState resourceGuid subnets summarizedGatewayPrefixes virtualNetworkPeerings",
  "virtualNetworks/subnets":
    "addressPrefix addressPrefixes applicationGatewayIPConfigurations defaultOutboundAccess delegations ipAllocations ipamPoolPrefixAllocations ipConfigurationProfiles ipConfigurations natGateway networkSecurityGroup privateEndpointNetworkPolicies privateEndpoints privateLinkServiceNetworkPolicies provisioningState purpose resourceNavigationLinks routeTable serviceAssociationLinks serviceEndpointPolicies serviceEndpoints serviceGateway sharingScope",
  "virtualNetworks/virtualNetworkPeerings":
    "allowForwardedTraffic allowGatewayTransit allowVirtualNetworkAccess doNotVerifyRemoteGateways enableOnlyIPv6Peering localAddressSpace localSubnetNames localVirtualNetworkAddressSpace peerCompleteVnets peeringState peeringSyncLevel provisioningState remoteAddressSpace remoteBgpCommunities remoteGateways remoteSubnetNames remoteVirtualNetwork remoteVirtualNetworkAddressSpace remoteVirtualNetworkEncryption resourceGuid routeServiceVips useRemoteGateways",
  networkInterfaces:
    "allowPort25Out auxiliaryMode auxiliarySku defaultOutboundConnectivityEnabled disableTcpStateTracking dnsSettings dscpConfiguration enableAcceleratedNetworking enableIPForwarding hostedWorkloads ipConfigurations macAddress migrationPhase networkSecurityGroup nicType primary privateEndpoint privateLinkService provisioningState resourceGuid tapConfigurations virtualMachine vnetEncryptionSupported workloadType",
  "networkInterfaces/ipConfigurations":
    "applicationGatewayBackendAddressPools applicationSecurityGroups gatewayLoadBalancer loadBalancerBackendAddressPools loadBalancerInboundNatRules primary privateIPAddress privateIPAddressPrefixLength privateIPAddressVersion privateIPAllocationMethod privateLinkConnectionProperties provisioningState publicIPAddress subnet virtualNetworkTaps",
  publicIPAddresses:
    "ddosSettings deleteOption dnsSettings idleTimeoutInMinutes ipAddress ipConfiguration ipTags linkedPublicIPAddress migrationPhase natGateway provisioningState publicIPAddressVersion publicIPAllocationMethod publicIPPrefix resourceGuid servicePublicIPAddress upgradedToV2",
  loadBalancers:
    "backendAddressPools frontendIPConfigurations inboundNatPools inboundNatRules loadBalancingRules mode outboundRules probes provisioningState resourceGuid scope",
  "loadBalancers/frontendIPConfigurations":
    "ddosSettings enableConnectionTracking gatewayLoadBalancer inboundNatPools inboundNatRules loadBalancingRules outboundRules privateIPAddress privateIPAddressVersion privateIPAllocationMethod provisioningState publicIPAddress publicIPPrefix subnet",
  "loadBalancers/backendAddressPools":
    "backendIPConfigurations drainPeriodInSeconds inboundNatRules loadBalancerBackendAddresses loadBalancingRules location outboundRule outboundRules provisioningState syncMode tunnelInterfaces virtualNetwork",
  "loadBalancers/loadBalancingRules":
    "allowBackendPortConflict backendAddressPool backendAddressPools backendPort disableOutboundSnat enableConnectionTracking enableDestinationServiceEndpoint enableFloatingIP enableTcpReset frontendIPConfiguration frontendPort idleTimeoutInMinutes loadDistribution probe protocol provisioningState",
  "loadBalancers/probes":
    "intervalInSeconds loadBalancingRules noHealthyBackendsBehavior numberOfProbes port probeThreshold protocol provisioningState requestPath",
  "loadBalancers/inboundNatRules":
    "allowBackendPortConflict backendAddressPool backendIPConfiguration backendPort enableDestinationServiceEndpoint enableFloatingIP enableTcpReset frontendIPConfiguration frontendPort frontendPortRangeEnd frontendPortRangeStart idleTimeoutInMinutes protocol provisioningState",
  "loadBalancers/inboundNatPools":
    "allowBackendPortConflict backendPort enableDestinationServiceEndpoint enableFloatingIP enableTcpReset frontendIPConfiguration frontendPortRangeEnd frontendPortRangeStart idleTimeoutInMinutes protocol provisioningState",
  "loadBalancers/outboundRules":
    "allocatedOutboundPorts allocationPolicy backendAddressPool enableTcpReset frontendIPConfigurations idleTimeoutInMinutes protocol provisioningState",
  "loadBalancers/backendAddressPools/loadBalancerBackendAddresses":
    "adminState inboundNatRulesPortMapping ipAddress loadBalancerFrontendIPConfiguration networkInterfaceIPConfiguration provisioningState subnet virtualNetwork",
  privateLinkServices:
    "accessMode alias autoApproval destinationIPAddress enableProxyProtocol fqdns ipConfigurations loadBalancerFrontendIpConfigurations networkInterfaces privateEndpointConnections provisioningState resourceGuid visibility",
  "privateLinkServices/ipConfigurations":
    "primary privateIPAddress privateIPAddressVersion privateIPAllocationMethod provisioningState subnet",
  "privateLinkServices/privateEndpointConnections":
    "linkIdentifier privateEndpoint privateEndpointLocation privateLinkServiceConnectionState provisioningState",
  privateEndpoints:
    "applicationSecurityGroups billingSku customDnsConfigs customNetworkInterfaceName ipConfigurations ipVersionType isIPv6EnabledPrivateEndpoint manualPrivateLinkServiceConnections networkInterfaces privateLinkServiceConnections provisioningState resourceGuid subnet",
  "privateEndpoints/privateLinkServiceConnections":
    "approvalReference groupIds privateLinkServiceConnectionState privateLinkServiceId provisioningState requestMessage",
  "privateEndpoints/manualPrivateLinkServiceConnections":
    "approvalReference groupIds privateLinkServiceConnectionState privateLinkServiceId provisioningState requestMessage",
  "privateEndpoints/ipConfigurations": "groupId memberName privateIPAddress provisioningState",
  "privateEndpoints/privateDnsZoneGroups": "privateDnsZoneConfigs provisioningState",
  "privateEndpoints/privateDnsZoneGroups/privateDnsZoneConfigs":
    "privateDnsZoneId provisioningState recordSets",
};

/** What the simulator's own state has besides: who writes back what a snapshot shows changes nothing by it. */
const internal = new Set(["provisioned"]);

const fieldsOf = new Map(
  Object.entries(known).map(([type, names]) => [
    `microsoft.network/${type.toLowerCase()}`,
    new Set(names.toLowerCase().split(" ")),
  ]),
);

/** Refuse what nobody knows in the properties of a network resource. The words are those of Azure/azure-powershell#13544. */
export function checkKnownFields(properties: JsonObject, type: string, path = "properties"): void {
  const fields = fieldsOf.get(type.toLowerCase());
  if (fields === undefined) return;
  for (const [name, value] of Object.entries(properties)) {
    if (!fields.has(name.toLowerCase()) && !internal.has(name))
      throw invalid(
        "InvalidRequestFormat",
        "Cannot parse the request.",
        "InvalidJson",
        `Could not find member '${name.slice(0, 60)}' on object of type '${objectType(type)}'. Path '${path}.${name.slice(0, 60)}'.`,
      );
    if (!Array.isArray(value)) continue;
    for (const [at, each] of value.entries())
      if (isObject(each) && isObject(each.properties))
        checkKnownFields(each.properties, `${type}/${name}`, `${path}.${name}[${at}].properties`);
  }
}

/** `VirtualNetworkPeeringProperties` for peerings; of others by analogy. */
function objectType(type: string): string {
  const [first = "", ...rest] = (type.split("/").at(-1) ?? "").replace(/(?<=Address)es$|s$/, "");
  return `${first.toUpperCase()}${rest.join("")}Properties`;
}
