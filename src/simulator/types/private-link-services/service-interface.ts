import { bump } from "../../etags.ts";
import type { World } from "../../resource-type.ts";
import type { JsonObject, Resource } from "../../store.ts";

const interfaceType = "Microsoft.Network/networkInterfaces";

/** One address of an interface that Azure makes. */
export interface InterfaceAddress {
  name: string;
  address: string;
  subnet: string;
  primary: boolean;
  version: "IPv4" | "IPv6";
  isStatic: boolean;
}

/** The id of the interface that Azure makes for a service or an endpoint, in the same group. */
export function interfaceId(ownerId: string, name: string): string {
  return `${ownerId.slice(0, ownerId.lastIndexOf("/providers/"))}/providers/${interfaceType}/${name}`;
}

/** Keep the interface of a service or an endpoint: it is what holds the addresses. */
export function keepInterface(
  id: string,
  owner: Resource,
  ownedAs: "privateLinkService" | "privateEndpoint",
  addresses: readonly InterfaceAddress[],
  world: World,
): void {
  const { store } = world;
  const held = store.get(id);
  const nic: Resource = held ?? {
    id,
    key: id.toLowerCase(),
    type: interfaceType,
    name: id.slice(id.lastIndexOf("/") + 1),
    top: { location: owner.top.location, kind: "Regular" },
    properties: {},
    state: "Succeeded",
    version: 0,
    etag: "",
  };
  const properties: JsonObject = {
    resourceGuid: held?.properties.resourceGuid ?? world.guid(),
    ipConfigurations: addresses.map((each) => configuration(id, each)),
    dnsSettings: held?.properties.dnsSettings ?? { dnsServers: [], appliedDnsServers: [] },
    enableAcceleratedNetworking: false,
    vnetEncryptionSupported: false,
    enableIPForwarding: false,
    disableTcpStateTracking: false,
    [ownedAs]: { id: owner.id },
    hostedWorkloads: [],
    tapConfigurations: [],
    nicType: "Standard",
    allowPort25Out: true,
    defaultOutboundConnectivityEnabled: false,
    auxiliaryMode: "None",
    auxiliarySku: "None",
  };
  if (held && JSON.stringify(held.properties) === JSON.stringify(properties)) return;
  nic.properties = properties;
  bump(nic);
  store.put(nic);
}

function configuration(id: string, each: InterfaceAddress): JsonObject {
  return {
    name: each.name,
    id: `${id}/ipConfigurations/${each.name}`,
    type: `${interfaceType}/ipConfigurations`,
    properties: {
      provisioningState: "Succeeded",
      privateIPAddress: each.address,
      privateIPAllocationMethod: each.isStatic ? "Static" : "Dynamic",
      subnet: { id: each.subnet },
      primary: each.primary,
      privateIPAddressVersion: each.version,
    },
  };
}
