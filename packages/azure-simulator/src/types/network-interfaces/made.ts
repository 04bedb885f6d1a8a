import { lastSegment } from "@postern/core/resource-id.ts";
import { bump } from "../../arm/etags.ts";
import type { World } from "../../arm/resource-type.ts";
import type { JsonObject, Resource } from "../../state/store.ts";
import { interfaceProperties, networkInterfaces } from "./index.ts";

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
  return `${ownerId.slice(0, ownerId.lastIndexOf("/providers/"))}/providers/${networkInterfaces.type}/${name}`;
}

/** Create or update the interface of a service or an endpoint, which has its addresses. */
export function putInterface(
  id: string,
  owner: Resource,
  addresses: readonly InterfaceAddress[],
  world: World,
): void {
  const { store } = world;
  const existing = store.get(id);
  const location = String(owner.top.location);
  const configurations = addresses.map(configuration);
  const properties = interfaceProperties({}, configurations, { world, existing, location });
  if (existing && JSON.stringify(existing.properties) === JSON.stringify(properties)) return;
  const nic: Resource = existing ?? {
    id,
    key: id.toLowerCase(),
    type: networkInterfaces.type,
    name: lastSegment(id),
    top: { location, kind: "Regular" },
    properties,
    state: "Succeeded",
    version: 0,
    etag: world.guid(),
  };
  nic.properties = properties;
  bump(nic);
  store.put(nic);
}

function configuration(each: InterfaceAddress): JsonObject {
  return {
    name: each.name,
    properties: {
      privateIPAddress: each.address,
      privateIPAllocationMethod: each.isStatic ? "Static" : "Dynamic",
      subnet: { id: each.subnet },
      primary: each.primary,
      privateIPAddressVersion: each.version,
    },
  };
}
