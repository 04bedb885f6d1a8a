import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { clusterAnnotation, conditions } from "postern/hosted/names.ts";
import type { World, Zone } from "postern/view/world.ts";

export const managementGroup = "/subscriptions/m/resourceGroups/mc/providers/Microsoft.Network";
export const guestGroup = "/subscriptions/g/resourceGroups/one/providers/Microsoft.Network";
export const clusterID = "6f1a0d5e-2c1b-4c55-9d0a-0c8f5d3a7e11";
export const ids = {
  home: `${managementGroup}/virtualNetworks/home`,
  nat: `${managementGroup}/virtualNetworks/home/subnets/nat`,
  balancer: `${managementGroup}/loadBalancers/kubernetes-internal`,
  service: `${managementGroup}/privateLinkServices/pls-one`,
  guest: `${guestGroup}/virtualNetworks/guest`,
  workers: `${guestGroup}/virtualNetworks/guest/subnets/workers`,
  endpoint: `${guestGroup}/privateEndpoints/private-router-pe`,
  nic: `${guestGroup}/networkInterfaces/private-router-pe.nic`,
  zone: `${guestGroup}/privateDnsZones/one.hypershift.local`,
};
export const address = "192.168.0.4";
export const host = "api.one.hypershift.local";

/** A private zone, linked to networks, with addresses by name. */
export function zoneOf(
  id: string,
  networks: readonly string[],
  records: Record<string, string | { cname: string }> = {},
): Zone {
  return {
    zone: { id, name: id.slice(id.lastIndexOf("/") + 1), location: "global", properties: {} },
    links: networks.map((network, at) => ({
      id: `${id}/virtualNetworkLinks/link-${at}`,
      location: "global",
      properties: { registrationEnabled: false, virtualNetwork: { id: network } },
    })),
    records: Object.entries(records).map(([name, value]) =>
      typeof value === "string"
        ? {
            id: `${id}/A/${name}`,
            type: "Microsoft.Network/privateDnsZones/A",
            properties: { ttl: 30, aRecords: [{ ipv4Address: value }] },
          }
        : {
            id: `${id}/CNAME/${name}`,
            type: "Microsoft.Network/privateDnsZones/CNAME",
            properties: { ttl: 30, cnameRecord: value },
          },
    ),
  } as Zone;
}

/** An endpoint with its interface. */
export function endpointOf(given: {
  id: string;
  subnet: string;
  address: string;
  to?: string;
  status?: string;
}): Pick<World["azure"], "endpoints" | "interfaces"> {
  const name = given.id.slice(given.id.lastIndexOf("/") + 1);
  const nic = given.id.replace("privateEndpoints", "networkInterfaces");
  return {
    endpoints: [
      {
        id: given.id,
        name,
        location: "westeurope",
        properties: {
          provisioningState: "Succeeded",
          subnet: { id: given.subnet },
          networkInterfaces: [{ id: nic }],
          privateLinkServiceConnections: [
            {
              name,
              properties: {
                privateLinkServiceId: given.to ?? ids.service,
                privateLinkServiceConnectionState: { status: given.status ?? "Approved" },
              },
            },
          ],
        },
      },
    ],
    interfaces: [
      {
        id: nic,
        properties: {
          ipConfigurations: [{ properties: { privateIPAddress: given.address } }],
        },
      },
    ],
  } as Pick<World["azure"], "endpoints" | "interfaces">;
}

/** What is to be different in a world. */
export interface Over {
  kube?: Partial<World["kube"]>;
  azure?: Partial<World["azure"]>;
  unread?: World["unread"];
}

/** A world with one hosted cluster to which everything leads. */
export function oneWorld(over: Over = {}): World {
  return {
    kube: {
      hostedClusters: [cluster()],
      controlPlanes: [],
      links: [link()],
      azureClusters: [],
      ...over.kube,
    },
    azure: {
      networks: [
        network(ids.home, "10.0.0.0/16", [
          { id: ids.nat, prefix: "10.0.9.0/24", policy: "Disabled" },
        ]),
        network(ids.guest, "192.168.0.0/16", [{ id: ids.workers, prefix: "192.168.0.0/24" }]),
      ],
      loadBalancers: [balancer()],
      linkServices: [service()],
      ...endpointOf({ id: ids.endpoint, subnet: ids.workers, address }),
      zones: [zoneOf(ids.zone, [ids.guest], { api: address, "*.apps": address })],
      ...over.azure,
    },
    unread: over.unread ?? [],
  };
}

export function cluster(over: Partial<HostedCluster["spec"]> = {}): HostedCluster {
  return {
    metadata: { namespace: "clusters", name: "one", uid: "u-cluster" },
    spec: {
      clusterID,
      platform: { type: "Azure", azure: { topology: "Private", private: { type: "PrivateLink" } } },
      ...over,
    },
    status: {
      conditions: [{ type: conditions.available, status: "True", reason: "AzureSuccess" }],
    },
  } as unknown as HostedCluster;
}

type Link = World["kube"]["links"][number];

export function link(over: { spec?: object; status?: object } = {}): Link {
  return {
    metadata: {
      namespace: "clusters-one",
      name: "private-router",
      uid: "u-link",
      annotations: { [clusterAnnotation]: "clusters/one" },
    },
    spec: {
      loadBalancerIP: "10.0.0.7",
      subscriptionID: "g",
      resourceGroupName: "one",
      location: "westeurope",
      guestVNetID: ids.guest,
      guestSubnetID: ids.workers,
      baseDomain: "example.com",
      ...over.spec,
    },
    status: {
      internalLoadBalancerID: ids.balancer,
      privateLinkServiceID: ids.service,
      privateEndpointID: ids.endpoint,
      privateEndpointIP: address,
      privateDNSZoneID: ids.zone,
      dnsZoneName: "one.hypershift.local",
      ...over.status,
    },
  } as unknown as Link;
}

export function network(
  id: string,
  block: string,
  subnets: readonly { id: string; prefix: string; policy?: string; used?: number }[],
  dnsServers: readonly string[] = [],
): World["azure"]["networks"][number] {
  return {
    id,
    location: "westeurope",
    properties: {
      addressSpace: { addressPrefixes: [block] },
      ...(dnsServers.length > 0 && { dhcpOptions: { dnsServers: [...dnsServers] } }),
      subnets: subnets.map(({ id: subnet, prefix, policy, used = 0 }) => ({
        id: subnet,
        name: subnet.slice(subnet.lastIndexOf("/") + 1),
        properties: {
          addressPrefix: prefix,
          privateLinkServiceNetworkPolicies: policy ?? "Enabled",
          ipConfigurations: Array.from({ length: used }, (_, at) => ({ id: `${subnet}/ip/${at}` })),
        },
      })),
    },
  } as World["azure"]["networks"][number];
}

export function balancer(over: { sku?: string; location?: string; properties?: object } = {}) {
  return {
    id: ids.balancer,
    name: "kubernetes-internal",
    location: over.location ?? "westeurope",
    sku: { name: over.sku ?? "Standard" },
    properties: {
      provisioningState: "Succeeded",
      frontendIPConfigurations: [
        {
          id: `${ids.balancer}/frontendIPConfigurations/a1`,
          name: "a1",
          properties: { subnet: { id: `${ids.home}/subnets/nodes` }, privateIPAddress: "10.0.0.7" },
        },
      ],
      loadBalancingRules: [
        {
          name: "r",
          properties: {
            frontendPort: 443,
            frontendIPConfiguration: { id: `${ids.balancer}/frontendIPConfigurations/a1` },
            backendAddressPool: { id: `${ids.balancer}/backendAddressPools/kubernetes` },
          },
        },
      ],
      backendAddressPools: [
        {
          id: `${ids.balancer}/backendAddressPools/kubernetes`,
          name: "kubernetes",
          properties: { backendIPConfigurations: [{ id: "/a" }, { id: "/b" }] },
        },
      ],
      ...over.properties,
    },
  } as World["azure"]["loadBalancers"][number];
}

export function service(over: object = {}) {
  return {
    id: ids.service,
    name: "pls-one",
    location: "westeurope",
    properties: {
      provisioningState: "Succeeded",
      alias: "pls-one.guid.westeurope.azure.privatelinkservice",
      loadBalancerFrontendIpConfigurations: [{ id: `${ids.balancer}/frontendIPConfigurations/a1` }],
      ipConfigurations: [{ properties: { subnet: { id: ids.nat } } }],
      visibility: { subscriptions: ["g"] },
      autoApproval: { subscriptions: ["g"] },
      privateEndpointConnections: [
        {
          name: "conn",
          properties: {
            privateEndpoint: { id: ids.endpoint },
            privateLinkServiceConnectionState: { status: "Approved" },
          },
        },
      ],
      ...over,
    },
  } as unknown as World["azure"]["linkServices"][number];
}
