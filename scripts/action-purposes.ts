const network = (rows: Record<string, string>) =>
  Object.fromEntries(Object.entries(rows).map(([name, why]) => [`Microsoft.Network/${name}`, why]));

/** What Postern needs each action for. */
export const purposes: Readonly<Record<string, string>> = {
  ...network({
    "dnsZones/A/delete": "delete a public record that is no longer desired",
    "dnsZones/A/write": "write a public record: API server, ingress, bastion",
    "dnsZones/AAAA/delete": "delete a public record with an IPv6 address",
    "dnsZones/AAAA/write": "write a public record with an IPv6 address",
    "dnsZones/CNAME/delete": "delete the wildcard record of a cluster",
    "dnsZones/CNAME/write": "write the wildcard record of a cluster",
    "dnsZones/NS/delete": "delete the delegation of a deleted cluster",
    "dnsZones/NS/write": "delegate the zone of a cluster",
    "dnsZones/delete": "delete the zone of a cluster with the cluster",
    "dnsZones/read": "read whether a zone exists, its owner, and its name servers",
    "dnsZones/recordsets/read": "list the records of a zone",
    "dnsZones/write": "create the zone of a cluster",
    "loadBalancers/backendAddressPools/join/action": "add an interface to a pool of interfaces",
    "loadBalancers/backendAddressPools/read": "read the members of the pool, and its tunnels",
    "loadBalancers/backendAddressPools/write":
      "add the machine's address to the pool, and remove it",
    "loadBalancers/frontendIPConfigurations/join/action":
      "attach a link service to a load balancer",
    "loadBalancers/read":
      "find the load balancer: by the address of a Service, by the name in a link, or by its pool",
    "locations/operations/read": "poll a long-running operation",
    "networkInterfaces/read": "find the machine's address and subnet",
    "networkInterfaces/write": "add the machine's interface to a pool of interfaces, and remove it",
    "dnsOperationStatuses/read": "poll a long-running operation on a public zone",
    "privateDnsOperationStatuses/read": "poll a long-running operation on a private zone",
    "privateDnsZones/A/delete": "delete a private record that is no longer desired",
    "privateDnsZones/A/write": "write a private record with the address of an endpoint",
    "privateDnsZones/AAAA/delete": "delete a private record with an IPv6 address",
    "privateDnsZones/AAAA/write": "write a private record with the IPv6 address of an endpoint",
    "privateDnsZones/ALL/read": "list the records of a private zone",
    "privateDnsZones/CNAME/delete": "delete the wildcard record of a cluster from a private zone",
    "privateDnsZones/CNAME/write": "write the wildcard record of a cluster into a private zone",
    "privateDnsZones/delete": "delete a private zone with the last cluster that uses it",
    "privateDnsZones/read": "read whether a private zone exists, and its owner",
    "privateDnsZones/virtualNetworkLinks/delete": "unlink a private zone from a network",
    "privateDnsZones/virtualNetworkLinks/read":
      "read the networks that a private zone is linked to",
    "privateDnsZones/virtualNetworkLinks/write": "link a private zone to a network",
    "privateDnsZones/write": "create a private zone, and record which clusters use it",
    "privateEndpoints/delete":
      "delete an endpoint with its cluster, or one whose link service was deleted",
    "privateEndpoints/read": "read an endpoint, its address and its approval",
    "privateEndpoints/write": "create an endpoint",
    "privateLinkServices/PrivateEndpointConnectionsApproval/action":
      "connect an endpoint to a link service by its id; Azure requires this of the identity that creates the endpoint",
    "privateLinkServices/delete": "delete a link service with its cluster",
    "privateLinkServices/privateEndpointConnections/delete":
      "disconnect endpoints from a link service that is to be deleted: Azure does not delete one with connections",
    "privateLinkServices/privateEndpointConnections/write":
      "reject these connections first, which informs the owners of the endpoints",
    "privateLinkServices/read": "read a link service and its connections",
    "privateLinkServices/write": "create and update a link service",
    "publicIPAddresses/read": "read the address of a public API server",
    "virtualNetworks/join/action": "link a private zone to this network",
    "virtualNetworks/joinLoadBalancer/action": "add an address of this network to a pool",
    "virtualNetworks/read": "find a free range for a NAT subnet, and read existing subnets",
    "virtualNetworks/subnets/delete": "delete a NAT subnet with its last link service",
    "virtualNetworks/subnets/join/action":
      "take addresses from a subnet, for a link service, an endpoint or an interface",
    "virtualNetworks/subnets/read": "read a subnet that another client creates at the same time",
    "virtualNetworks/subnets/write":
      "create a NAT subnet, or enable link services in a subnet of the cluster",
  }),
  "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/networkInterfaces/read":
    "find the interface of an instance of a uniform scale set",
  "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/read":
    "verify that the instance is the one that the metadata service names",
  "Microsoft.Compute/virtualMachines/read":
    "verify that the machine is the one that the metadata service names",
  "Microsoft.Resources/subscriptions/resourceGroups/read":
    "read whether the resource group exists, and its owner",
  "Microsoft.Resources/subscriptions/resourceGroups/write":
    "create the resource group of a cluster's zone",
};
