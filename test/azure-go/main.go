// A client of Azure as Go programs are: it signs in from its environment, takes a link service, an endpoint, private DNS and a
// gateway pool from creation to deletion, and prints what it observed as JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/privatedns/armprivatedns"
)

var (
	ctx          = context.Background()
	subscription = os.Getenv("AZURE_SUBSCRIPTION_ID")
	group        = os.Args[1]
	location     = to.Ptr("westeurope")
)

func main() {
	options := azcore.ClientOptions{Cloud: cloud.Configuration{
		ActiveDirectoryAuthorityHost: os.Getenv("AZURE_AUTHORITY_HOST"),
		Services: map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: {
			Audience: "https://management.azure.com",
			Endpoint: os.Getenv("POSTERN_RESOURCE_MANAGER"),
		}},
	}}
	credential := must(azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{
		ClientOptions: options, DisableInstanceDiscovery: true,
	}))
	armOptions := &arm.ClientOptions{ClientOptions: options}
	network := must(armnetwork.NewClientFactory(subscription, credential, armOptions))
	dns := must(armprivatedns.NewClientFactory(subscription, credential, armOptions))
	observed := map[string]any{}
	privateLink(network, observed)
	privateDNS(dns, observed)
	gateway(network, observed)
	check(json.NewEncoder(os.Stdout).Encode(observed))
}

func privateLink(network *armnetwork.ClientFactory, observed map[string]any) {
	networks := network.NewVirtualNetworksClient()
	created := must(done(must(networks.BeginCreateOrUpdate(ctx, group, "management", armnetwork.VirtualNetwork{
		Location: location,
		Properties: &armnetwork.VirtualNetworkPropertiesFormat{
			AddressSpace: &armnetwork.AddressSpace{AddressPrefixes: []*string{to.Ptr("10.0.0.0/16")}},
			Subnets:      []*armnetwork.Subnet{subnet("nodes", "10.0.0.0/24"), subnet("nat", "10.0.1.0/24")},
		},
	}, nil))))
	nodes, nat := created.Properties.Subnets[0], created.Properties.Subnets[1]
	balancers := network.NewLoadBalancersClient()
	balancer := must(done(must(balancers.BeginCreateOrUpdate(ctx, group, "api", armnetwork.LoadBalancer{
		Location: location,
		SKU:      &armnetwork.LoadBalancerSKU{Name: to.Ptr(armnetwork.LoadBalancerSKUNameStandard)},
		Properties: &armnetwork.LoadBalancerPropertiesFormat{
			FrontendIPConfigurations: []*armnetwork.FrontendIPConfiguration{{
				Name: to.Ptr("front"),
				Properties: &armnetwork.FrontendIPConfigurationPropertiesFormat{
					Subnet: &armnetwork.Subnet{ID: nodes.ID},
				},
			}},
		},
	}, nil))))
	services := network.NewPrivateLinkServicesClient()
	service := must(done(must(services.BeginCreateOrUpdate(ctx, group, "link", armnetwork.PrivateLinkService{
		Location: location,
		Properties: &armnetwork.PrivateLinkServiceProperties{
			LoadBalancerFrontendIPConfigurations: []*armnetwork.FrontendIPConfiguration{
				{ID: balancer.Properties.FrontendIPConfigurations[0].ID},
			},
			IPConfigurations: []*armnetwork.PrivateLinkServiceIPConfiguration{{
				Name: to.Ptr("nat"),
				Properties: &armnetwork.PrivateLinkServiceIPConfigurationProperties{
					Primary: to.Ptr(true), Subnet: &armnetwork.Subnet{ID: nat.ID},
				},
			}},
		},
	}, nil))))
	observed["alias"] = *service.Properties.Alias

	endpoints := network.NewPrivateEndpointsClient()
	must(done(must(endpoints.BeginCreateOrUpdate(ctx, group, "endpoint", armnetwork.PrivateEndpoint{
		Location: location,
		Properties: &armnetwork.PrivateEndpointProperties{
			Subnet: &armnetwork.Subnet{ID: nodes.ID},
			ManualPrivateLinkServiceConnections: []*armnetwork.PrivateLinkServiceConnection{{
				Name:       to.Ptr("connection"),
				Properties: &armnetwork.PrivateLinkServiceConnectionProperties{PrivateLinkServiceID: service.ID},
			}},
		},
	}, nil))))
	status := func() string {
		endpoint := must(endpoints.Get(ctx, group, "endpoint", nil))
		return *endpoint.Properties.ManualPrivateLinkServiceConnections[0].Properties.PrivateLinkServiceConnectionState.Status
	}
	before := status()
	connections := services.NewListPrivateEndpointConnectionsPager(group, "link", nil)
	connection := must(connections.NextPage(ctx)).Value[0]
	connection.Properties.PrivateLinkServiceConnectionState.Status = to.Ptr("Approved")
	must(services.UpdatePrivateEndpointConnection(ctx, group, "link", *connection.Name, *connection, nil))
	observed["connection"] = []string{before, status()}

	must(done(must(endpoints.BeginDelete(ctx, group, "endpoint", nil))))
	must(done(must(services.BeginDelete(ctx, group, "link", nil))))
	must(done(must(balancers.BeginDelete(ctx, group, "api", nil))))
	_, err := services.Get(ctx, group, "link", nil)
	observed["deleted"] = errorCode(err)
}

func privateDNS(dns *armprivatedns.ClientFactory, observed map[string]any) {
	zones, links, records := dns.NewPrivateZonesClient(), dns.NewVirtualNetworkLinksClient(), dns.NewRecordSetsClient()
	const zone = "hosted.example"
	must(done(must(zones.BeginCreateOrUpdate(ctx, group, zone, armprivatedns.PrivateZone{Location: to.Ptr("global")}, nil))))
	id := fmt.Sprintf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.Network/virtualNetworks/management", subscription, group)
	must(done(must(links.BeginCreateOrUpdate(ctx, group, zone, "management", armprivatedns.VirtualNetworkLink{
		Location: to.Ptr("global"),
		Properties: &armprivatedns.VirtualNetworkLinkProperties{
			VirtualNetwork: &armprivatedns.SubResource{ID: &id}, RegistrationEnabled: to.Ptr(false),
		},
	}, nil))))
	must(records.CreateOrUpdate(ctx, group, zone, armprivatedns.RecordTypeA, "api", armprivatedns.RecordSet{
		Properties: &armprivatedns.RecordSetProperties{
			TTL: to.Ptr[int64](60), ARecords: []*armprivatedns.ARecord{{IPv4Address: to.Ptr("10.0.0.9")}},
		},
	}, nil))
	names := []string{}
	for pager := records.NewListPager(group, zone, nil); pager.More(); {
		for _, record := range must(pager.NextPage(ctx)).Value {
			names = append(names, *record.Name)
		}
	}
	observed["records"] = names
	must(done(must(links.BeginDelete(ctx, group, zone, "management", nil))))
	must(done(must(zones.BeginDelete(ctx, group, zone, nil))))
}

func gateway(network *armnetwork.ClientFactory, observed map[string]any) {
	balancers, pools := network.NewLoadBalancersClient(), network.NewLoadBalancerBackendAddressPoolsClient()
	balancer := must(done(must(balancers.BeginCreateOrUpdate(ctx, group, "gateway", armnetwork.LoadBalancer{
		Location: location,
		SKU:      &armnetwork.LoadBalancerSKU{Name: to.Ptr(armnetwork.LoadBalancerSKUNameGateway)},
		Properties: &armnetwork.LoadBalancerPropertiesFormat{
			BackendAddressPools: []*armnetwork.BackendAddressPool{{
				Name: to.Ptr("appliances"),
				Properties: &armnetwork.BackendAddressPoolPropertiesFormat{
					TunnelInterfaces: []*armnetwork.GatewayLoadBalancerTunnelInterface{
						tunnel(armnetwork.GatewayLoadBalancerTunnelInterfaceTypeInternal, 900),
						tunnel(armnetwork.GatewayLoadBalancerTunnelInterfaceTypeExternal, 901),
					},
				},
			}},
		},
	}, nil))))
	pool := must(pools.Get(ctx, group, *balancer.Name, "appliances", nil))
	ports := []int32{}
	for _, each := range pool.Properties.TunnelInterfaces {
		ports = append(ports, *each.Port)
	}
	observed["tunnelPorts"] = ports
	must(done(must(balancers.BeginDelete(ctx, group, "gateway", nil))))
	must(done(must(network.NewVirtualNetworksClient().BeginDelete(ctx, group, "management", nil))))
}

func subnet(name, prefix string) *armnetwork.Subnet {
	return &armnetwork.Subnet{Name: &name, Properties: &armnetwork.SubnetPropertiesFormat{
		AddressPrefix:                     &prefix,
		PrivateLinkServiceNetworkPolicies: to.Ptr(armnetwork.VirtualNetworkPrivateLinkServiceNetworkPoliciesDisabled),
	}}
}

func tunnel(kind armnetwork.GatewayLoadBalancerTunnelInterfaceType, identifier int32) *armnetwork.GatewayLoadBalancerTunnelInterface {
	return &armnetwork.GatewayLoadBalancerTunnelInterface{
		Type: &kind, Identifier: &identifier, Protocol: to.Ptr(armnetwork.GatewayLoadBalancerTunnelProtocolVXLAN),
	}
}

func done[T any](poller *runtime.Poller[T]) (T, error) {
	return poller.PollUntilDone(ctx, nil)
}

func errorCode(err error) string {
	if failed, ok := err.(*azcore.ResponseError); ok {
		return failed.ErrorCode
	}
	return fmt.Sprint(err)
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
