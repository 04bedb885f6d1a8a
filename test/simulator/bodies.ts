import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { group, subscription } from "./small-world.ts";

const providers = `${group}/providers`;
const network = `${providers}/Microsoft.Network`;
const location = "westeurope";

/** A body that is taken for each type, by path under the group of the small world, in an order in which they can be made. */
export const bodies: readonly { path: string; body: JsonObject }[] = [
  { path: group, body: { location, tags: { a: "b" } } },
  {
    path: `${network}/virtualNetworks/v`,
    body: {
      location,
      properties: {
        addressSpace: { addressPrefixes: ["10.0.0.0/16"] },
        subnets: [
          { name: "s", properties: { addressPrefix: "10.0.0.0/24" } },
          {
            name: "nat",
            properties: {
              addressPrefix: "10.0.1.0/24",
              privateLinkServiceNetworkPolicies: "Disabled",
            },
          },
        ],
      },
    },
  },
  {
    path: `${network}/virtualNetworks/v/subnets/t`,
    body: { properties: { addressPrefix: "10.0.2.0/24" } },
  },
  {
    path: `${network}/networkInterfaces/n`,
    body: {
      location,
      properties: {
        ipConfigurations: [
          {
            name: "c",
            properties: { subnet: { id: `${network}/virtualNetworks/v/subnets/s` }, primary: true },
          },
          {
            name: "block",
            properties: {
              subnet: { id: `${network}/virtualNetworks/v/subnets/s` },
              privateIPAddressPrefixLength: 28,
            },
          },
        ],
      },
    },
  },
  {
    path: `${network}/loadBalancers/l`,
    body: {
      location,
      sku: { name: "Standard" },
      properties: {
        frontendIPConfigurations: [
          {
            name: "f",
            properties: { subnet: { id: `${network}/virtualNetworks/v/subnets/s` } },
          },
        ],
        backendAddressPools: [{ name: "p" }],
        probes: [{ name: "probe", properties: { protocol: "Tcp", port: 80 } }],
      },
    },
  },
  {
    path: `${network}/loadBalancers/l/backendAddressPools/p`,
    body: { properties: { loadBalancerBackendAddresses: [] } },
  },
  {
    path: `${network}/privateLinkServices/pls`,
    body: {
      location,
      properties: {
        loadBalancerFrontendIpConfigurations: [
          { id: `${network}/loadBalancers/l/frontendIPConfigurations/f` },
        ],
        ipConfigurations: [
          {
            name: "nat",
            properties: { subnet: { id: `${network}/virtualNetworks/v/subnets/nat` } },
          },
        ],
        visibility: { subscriptions: ["*"] },
        autoApproval: { subscriptions: [subscription] },
      },
    },
  },
  {
    path: `${network}/privateEndpoints/pe`,
    body: {
      location,
      properties: {
        subnet: { id: `${network}/virtualNetworks/v/subnets/s` },
        privateLinkServiceConnections: [
          {
            name: "c",
            properties: { privateLinkServiceId: `${network}/privateLinkServices/pls` },
          },
        ],
      },
    },
  },
  { path: `${network}/privateDnsZones/z.example`, body: { location: "global", properties: {} } },
  {
    path: `${network}/privateDnsZones/z.example/virtualNetworkLinks/k`,
    body: {
      location: "global",
      properties: {
        virtualNetwork: { id: `${network}/virtualNetworks/v` },
        registrationEnabled: false,
      },
    },
  },
  {
    path: `${network}/privateDnsZones/z.example/A/api`,
    body: { properties: { ttl: 30, aRecords: [{ ipv4Address: "10.0.0.9" }] } },
  },
  {
    path: `${network}/privateEndpoints/pe/privateDnsZoneGroups/default`,
    body: {
      properties: {
        privateDnsZoneConfigs: [
          {
            name: "z",
            properties: { privateDnsZoneId: `${network}/privateDnsZones/z.example` },
          },
        ],
      },
    },
  },
  {
    path: `${providers}/Microsoft.ManagedIdentity/userAssignedIdentities/identity`,
    body: { location },
  },
  {
    path: `${providers}/Microsoft.Compute/virtualMachines/vm`,
    body: {
      location,
      properties: {
        hardwareProfile: { vmSize: "Standard_D2s_v3" },
        storageProfile: {
          imageReference: { publisher: "p", offer: "o", sku: "s", version: "latest" },
          osDisk: { createOption: "FromImage", name: "disk" },
        },
        osProfile: { computerName: "vm", adminUsername: "someone", adminPassword: "Aa1!aaaaaaaa" },
        networkProfile: { networkInterfaces: [{ id: `${network}/networkInterfaces/n` }] },
      },
    },
  },
  {
    path: `${network}/publicIPAddresses/address`,
    body: {
      location,
      sku: { name: "Standard" },
      properties: { publicIPAllocationMethod: "Static" },
    },
  },
  {
    path: `${providers}/Microsoft.Storage/storageAccounts/account1`,
    body: { location, sku: { name: "Standard_LRS" }, kind: "StorageV2" },
  },
  {
    path: `${providers}/Microsoft.Resources/deployments/deployment`,
    body: {
      properties: {
        mode: "Incremental",
        parameters: { name: { value: "template" } },
        template: {
          contentVersion: "1.0.0.0",
          parameters: { name: { type: "string" } },
          variables: { twice: "[concat(parameters('name'), '-', parameters('name'))]" },
          resources: [
            {
              type: "Microsoft.Network/publicIPAddresses",
              name: "[variables('twice')]",
              apiVersion: "2024-05-01",
              location: "[resourceGroup().location]",
              sku: { name: "Standard" },
              dependsOn: [],
              properties: { publicIPAllocationMethod: "Static" },
            },
          ],
          outputs: {
            address: {
              type: "object",
              value:
                "[reference(resourceId('Microsoft.Network/publicIPAddresses', variables('twice')))]",
            },
          },
        },
      },
    },
  },
  { path: `${network}/dnsZones/public.example`, body: { location: "global" } },
  {
    path: `${network}/dnsZones/public.example/A/www`,
    body: { properties: { TTL: 60, ARecords: [{ ipv4Address: "192.0.2.1" }] } },
  },
];
