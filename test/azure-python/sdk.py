"""A client of Azure as Python programs are: it signs in from its environment, takes a link service, an endpoint, private DNS and a
gateway pool from creation to deletion, and prints what it observed as JSON."""

import json
import os
import sys

from azure.core.exceptions import HttpResponseError
from azure.identity import DefaultAzureCredential
from azure.mgmt.network import NetworkManagementClient
from azure.mgmt.privatedns import PrivateDnsManagementClient

group = sys.argv[1]
subscription = os.environ["AZURE_SUBSCRIPTION_ID"]
credential = DefaultAzureCredential(disable_instance_discovery=True)
options = {
    "base_url": os.environ["POSTERN_RESOURCE_MANAGER"],
    "credential_scopes": ["https://management.azure.com/.default"],
}
network = NetworkManagementClient(credential, subscription, **options)
dns = PrivateDnsManagementClient(credential, subscription, **options)
place = {"location": "westeurope"}


def subnet(name, prefix):
    policies = {"privateLinkServiceNetworkPolicies": "Disabled"}
    return {"name": name, "properties": {"addressPrefix": prefix, **policies}}


def private_link():
    management = network.virtual_networks.begin_create_or_update(
        group,
        "management",
        {
            **place,
            "properties": {
                "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]},
                "subnets": [subnet("nodes", "10.0.0.0/24"), subnet("nat", "10.0.1.0/24")],
            },
        },
    ).result()
    nodes, nat = management.subnets
    front = {"name": "front", "properties": {"subnet": {"id": nodes.id}}}
    balancer = network.load_balancers.begin_create_or_update(
        group,
        "api",
        {**place, "sku": {"name": "Standard"}, "properties": {"frontendIPConfigurations": [front]}},
    ).result()
    service = network.private_link_services.begin_create_or_update(
        group,
        "link",
        {
            **place,
            "properties": {
                "loadBalancerFrontendIpConfigurations": [
                    {"id": balancer.frontend_ip_configurations[0].id}
                ],
                "ipConfigurations": [
                    {"name": "nat", "properties": {"primary": True, "subnet": {"id": nat.id}}}
                ],
            },
        },
    ).result()
    connection = {"name": "connection", "properties": {"privateLinkServiceId": service.id}}
    network.private_endpoints.begin_create_or_update(
        group,
        "endpoint",
        {
            **place,
            "properties": {
                "subnet": {"id": nodes.id},
                "manualPrivateLinkServiceConnections": [connection],
            },
        },
    ).result()

    def status():
        endpoint = network.private_endpoints.get(group, "endpoint")
        [found] = endpoint.manual_private_link_service_connections
        return found.private_link_service_connection_state.status

    before = status()
    [asking] = network.private_link_services.list_private_endpoint_connections(group, "link")
    asking.private_link_service_connection_state.status = "Approved"
    network.private_link_services.update_private_endpoint_connection(
        group, "link", asking.name, asking
    )
    after = status()
    network.private_endpoints.begin_delete(group, "endpoint").result()
    network.private_link_services.begin_delete(group, "link").result()
    network.load_balancers.begin_delete(group, "api").result()
    try:
        network.private_link_services.get(group, "link")
        deleted = "no"
    except HttpResponseError as error:
        deleted = error.error.code
    return {"alias": service.alias, "connection": [before, after], "deleted": deleted}


def private_dns():
    zone = "hosted.example"
    dns.private_zones.begin_create_or_update(group, zone, {"location": "global"}).result()
    management = network.virtual_networks.get(group, "management")
    link = {
        "location": "global",
        "virtual_network": {"id": management.id},
        "registration_enabled": False,
    }
    dns.virtual_network_links.begin_create_or_update(group, zone, "management", link).result()
    record = {"ttl": 60, "a_records": [{"ipv4_address": "10.0.0.9"}]}
    dns.record_sets.create_or_update(group, zone, "A", "api", record)
    names = [each.name for each in dns.record_sets.list(group, zone)]
    dns.virtual_network_links.begin_delete(group, zone, "management").result()
    dns.private_zones.begin_delete(group, zone).result()
    return {"records": names}


def gateway():
    tunnels = [
        {"type": kind, "identifier": identifier, "protocol": "VXLAN"}
        for kind, identifier in (("Internal", 900), ("External", 901))
    ]
    pool = {"name": "appliances", "properties": {"tunnelInterfaces": tunnels}}
    network.load_balancers.begin_create_or_update(
        group,
        "gateway",
        {**place, "sku": {"name": "Gateway"}, "properties": {"backendAddressPools": [pool]}},
    ).result()
    found = network.load_balancer_backend_address_pools.get(group, "gateway", "appliances")
    ports = [each.port for each in found.tunnel_interfaces]
    network.load_balancers.begin_delete(group, "gateway").result()
    network.virtual_networks.begin_delete(group, "management").result()
    return {"tunnelPorts": ports}


print(json.dumps({**private_link(), **private_dns(), **gateway()}))
