const network = (rows: Record<string, string>) =>
  Object.fromEntries(Object.entries(rows).map(([name, why]) => [`Microsoft.Network/${name}`, why]));

/** What Postern asks Azure for each action for. */
export const purposes: Readonly<Record<string, string>> = {
  ...network({
    "dnsZones/A/delete": "remove a public name that nobody wants any more",
    "dnsZones/A/write": "write a public name: API server, ingress, bastion",
    "dnsZones/AAAA/delete": "remove a public name with an IPv6 address",
    "dnsZones/AAAA/write": "write a public name with an IPv6 address",
    "dnsZones/CNAME/delete": "remove the wildcard of a cluster",
    "dnsZones/CNAME/write": "write the wildcard of a cluster",
    "dnsZones/NS/delete": "remove the delegation of a cluster that is gone",
    "dnsZones/NS/write": "delegate the zone of a cluster",
    "dnsZones/delete": "delete the zone of a cluster with the cluster",
    "dnsZones/read": "see whether a zone is there, whose it is, and its name servers",
    "dnsZones/recordsets/read": "see which names a zone holds",
    "dnsZones/write": "make the zone of a cluster",
    "loadBalancers/backendAddressPools/join/action": "put an interface into a pool of interfaces",
    "loadBalancers/backendAddressPools/read": "see who is in the pool, and its tunnels",
    "loadBalancers/backendAddressPools/write":
      "put the machine's address into the pool, and take it out",
    "loadBalancers/frontendIPConfigurations/join/action":
      "put a link service in front of a load balancer",
    "loadBalancers/read":
      "find the load balancer: by the address of a Service, by the name in a link, or by its pool",
    "locations/operations/read": "ask whether a long operation has ended",
    "networkInterfaces/read": "find the machine's address and subnet",
    "networkInterfaces/write":
      "put the machine's interface into a pool of interfaces, and take it out",
    "dnsOperationStatuses/read": "ask whether a long operation on a public zone has ended",
    "privateDnsOperationStatuses/read": "ask whether a long operation on a private zone has ended",
    "privateDnsZones/A/delete": "remove a private name that nobody wants any more",
    "privateDnsZones/A/write": "write a private name at the address of an endpoint",
    "privateDnsZones/AAAA/delete": "remove a private name with an IPv6 address",
    "privateDnsZones/AAAA/write": "write a private name at an endpoint with an IPv6 address",
    "privateDnsZones/ALL/read": "see which names a private zone holds",
    "privateDnsZones/CNAME/delete": "remove the wildcard of a cluster from a private zone",
    "privateDnsZones/CNAME/write": "write the wildcard of a cluster into a private zone",
    "privateDnsZones/delete": "delete a private zone with its last user",
    "privateDnsZones/read": "see whether a private zone is there, and whose it is",
    "privateDnsZones/virtualNetworkLinks/delete": "take a private zone out of a network",
    "privateDnsZones/virtualNetworkLinks/read": "see in which networks a private zone answers",
    "privateDnsZones/virtualNetworkLinks/write": "let a private zone answer in a network",
    "privateDnsZones/write": "make a private zone, and note who uses it",
    "privateEndpoints/delete": "delete an endpoint with its cluster, or one that leads nowhere",
    "privateEndpoints/read": "see an endpoint, its address and its approval",
    "privateEndpoints/write": "make an endpoint",
    "privateLinkServices/PrivateEndpointConnectionsApproval/action":
      "connect an endpoint to a link service by its id; Azure asks this of whoever makes the endpoint",
    "privateLinkServices/delete": "delete a link service with its cluster",
    "privateLinkServices/privateEndpointConnections/delete":
      "cut endpoints off a link service that is to be deleted: Azure keeps one that has any",
    "privateLinkServices/privateEndpointConnections/write":
      "tell the owners of these endpoints so before, by a rejection",
    "privateLinkServices/read": "see a link service and who is connected to it",
    "privateLinkServices/write": "make and repair a link service",
    "publicIPAddresses/read": "learn the address of an API server that is reached from outside",
    "virtualNetworks/join/action": "let a private zone answer in this network",
    "virtualNetworks/joinLoadBalancer/action": "put an address of this network into a pool",
    "virtualNetworks/read":
      "find a free range for a NAT subnet, and see the subnets that are there",
    "virtualNetworks/subnets/delete": "delete a NAT subnet with its last link service",
    "virtualNetworks/subnets/join/action":
      "take addresses from a subnet, for a link service, an endpoint or an interface",
    "virtualNetworks/subnets/read": "see a subnet that somebody else makes at the same time",
    "virtualNetworks/subnets/write":
      "make a NAT subnet, or open a subnet of the cluster to link services",
  }),
  "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/networkInterfaces/read":
    "find the interface of an instance of a uniform scale set",
  "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/read":
    "see that the instance is the one that the metadata service names",
  "Microsoft.Compute/virtualMachines/read":
    "see that the machine is the one that the metadata service names",
  "Microsoft.Resources/subscriptions/resourceGroups/read":
    "see whether the group is there, and whose it is",
  "Microsoft.Resources/subscriptions/resourceGroups/write": "make the group of a cluster's zone",
};
