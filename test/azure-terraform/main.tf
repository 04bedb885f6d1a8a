# A link service before an internal load balancer, and a private endpoint that leads to it.
terraform {
  required_providers {
    azapi = { source = "azure/azapi" }
  }
}

variable "subscription" {
  type = string
}

resource "azapi_resource" "group" {
  type      = "Microsoft.Resources/resourceGroups@2024-03-01"
  name      = "terraform"
  location  = "westeurope"
  parent_id = "/subscriptions/${var.subscription}"
}

resource "azapi_resource" "network" {
  type      = "Microsoft.Network/virtualNetworks@2024-01-01"
  name      = "network"
  location  = azapi_resource.group.location
  parent_id = azapi_resource.group.id
  body = {
    properties = {
      addressSpace = { addressPrefixes = ["10.5.0.0/16"] }
      subnets = [
        {
          name = "service"
          properties = {
            addressPrefix                     = "10.5.1.0/24"
            privateLinkServiceNetworkPolicies = "Disabled"
          }
        },
        {
          name = "endpoint"
          properties = {
            addressPrefix                  = "10.5.2.0/24"
            privateEndpointNetworkPolicies = "Disabled"
          }
        },
      ]
    }
  }
}

resource "azapi_resource" "balancer" {
  type      = "Microsoft.Network/loadBalancers@2024-01-01"
  name      = "balancer"
  location  = azapi_resource.group.location
  parent_id = azapi_resource.group.id
  body = {
    sku = { name = "Standard" }
    properties = {
      frontendIPConfigurations = [
        {
          name       = "front"
          properties = { subnet = { id = "${azapi_resource.network.id}/subnets/service" } }
        },
      ]
    }
  }
}

resource "azapi_resource" "link" {
  type      = "Microsoft.Network/privateLinkServices@2024-01-01"
  name      = "link"
  location  = azapi_resource.group.location
  parent_id = azapi_resource.group.id
  body = {
    properties = {
      ipConfigurations = [
        {
          name = "nat"
          properties = {
            primary = true
            subnet  = { id = "${azapi_resource.network.id}/subnets/service" }
          }
        },
      ]
      loadBalancerFrontendIpConfigurations = [
        { id = "${azapi_resource.balancer.id}/frontendIPConfigurations/front" },
      ]
    }
  }
}

resource "azapi_resource" "endpoint" {
  type      = "Microsoft.Network/privateEndpoints@2024-01-01"
  name      = "endpoint"
  location  = azapi_resource.group.location
  parent_id = azapi_resource.group.id
  body = {
    properties = {
      subnet = { id = "${azapi_resource.network.id}/subnets/endpoint" }
      privateLinkServiceConnections = [
        { name = "link", properties = { privateLinkServiceId = azapi_resource.link.id } },
      ]
    }
  }
}
