import { contains, parseCidr } from "@postern/core/cidr.ts";
import { formatIp, isIp, parseIp } from "@postern/core/ip.ts";
import { defined, invalid, number, object, objects, oneOf, text } from "../../arm/fields.ts";
import { idIn, link, referred } from "../../arm/links.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { World } from "../../arm/resource-type.ts";
import { type JsonObject, parentOf, type Resource } from "../../state/store.ts";
import type { Sku } from "../load-balancers/frontends.ts";
import { membersOf, mixed, networkOfBalancer } from "../network-interfaces/pool-membership.ts";
import { ipBased, servicesOn } from "../private-link-services/frontends.ts";

/** What a pool belongs to, for checking what it may hold. */
export interface PoolPlace {
  world: World;
  /** The id of the pool. */
  id: string;
  sku: Sku;
  /** Whether its members are frontends of regional load balancers. */
  isGlobal: boolean;
  /** The key of the load balancer. */
  balancer: string;
  existing: Resource | undefined;
  /** How many pools come before it. */
  at: number;
}

/** What is kept of a pool: members by address, and the admin states of members by interface. */
export function acceptPool(properties: JsonObject, place: PoolPlace): JsonObject {
  const { existing } = place;
  const virtualNetwork = link(properties, "virtualNetwork");
  const given = objects(properties, "loadBalancerBackendAddresses");
  const addresses = given.map((each) => acceptAddress(each, virtualNetwork, place));
  checkMembers(addresses, place);
  return defined({
    loadBalancerBackendAddresses: addresses.filter(worthKeeping),
    tunnelInterfaces: tunnels(properties, place),
    virtualNetwork,
    syncMode: oneOf(properties, "syncMode", ["Automatic", "Manual"], undefined),
    drainPeriodInSeconds: number(properties, "drainPeriodInSeconds", undefined),
    location: text(properties, "location", existing?.properties.location as string | undefined),
  });
}

function acceptAddress(
  each: JsonObject,
  ofPool: JsonObject | undefined,
  { world, id, isGlobal }: PoolPlace,
): { name: string; properties: JsonObject } {
  const name = text(each, "name", "");
  const properties = object(each, "properties") ?? {};
  const adminState = oneOf(properties, "adminState", ["None", "Up", "Down"], undefined);
  const configuration = link(properties, "networkInterfaceIPConfiguration");
  // A member by interface, sent back as it was read: only its admin state can be changed here.
  if (configuration)
    return {
      name,
      properties: defined({ networkInterfaceIPConfiguration: configuration, adminState }),
    };
  if (name === "") throw badAddress(`A backend address of ${id} has no name.`);
  const frontend = link(properties, "loadBalancerFrontendIPConfiguration");
  if (isGlobal) return acceptRegional(name, frontend, adminState, { world, id });
  const ipAddress = text(properties, "ipAddress", undefined);
  if (ipAddress === undefined || !isIp(ipAddress))
    throw badAddress(`The backend address ${name} of ${id} has no valid ipAddress.`);
  if (frontend)
    throw badAddress(`The backend address ${name} of ${id} names a frontend of another region.`);
  const subnet = link(properties, "subnet");
  const virtualNetwork = link(properties, "virtualNetwork") ?? ofPool;
  const subnetId = idIn(subnet);
  const networkId = idIn(virtualNetwork) ?? (subnetId && parentOf(subnetId));
  if (networkId === undefined)
    throw badAddress(
      `The backend address ${name} of ${id} has neither a virtual network nor a subnet.`,
    );
  if (subnetId !== undefined)
    referred(world, subnetId, "Microsoft.Network/virtualNetworks/subnets", id);
  const network = referred(world, networkId, "Microsoft.Network/virtualNetworks", id);
  checkInNetwork(ipAddress, network, name);
  return {
    name,
    properties: defined({
      ipAddress: formatIp(parseIp(ipAddress)),
      virtualNetwork: link(properties, "virtualNetwork"),
      subnet,
      adminState,
    }),
  };
}

/** A member of a Global load balancer is a public frontend of a regional one; the address is that of the frontend. */
function acceptRegional(
  name: string,
  frontend: JsonObject | undefined,
  adminState: string | undefined,
  { world, id }: { world: World; id: string },
): { name: string; properties: JsonObject } {
  const frontendId = idIn(frontend);
  if (frontendId === undefined)
    throw badAddress(
      `The backend address ${name} of ${id} names no frontend of a regional load balancer.`,
    );
  const found = referred(
    world,
    frontendId,
    "Microsoft.Network/loadBalancers/frontendIPConfigurations",
    id,
  );
  const publicId = idIn(found.properties.publicIPAddress);
  if (publicId === undefined)
    throw badAddress(
      `The backend address ${name} of ${id} names a frontend without a public address.`,
    );
  return {
    name,
    properties: defined({ loadBalancerFrontendIPConfiguration: frontend, adminState }),
  };
}

function checkMembers(
  addresses: readonly { name: string; properties: JsonObject }[],
  place: PoolPlace,
): void {
  const { world, id, sku, balancer, existing } = place;
  const byAddress = addresses.filter(({ properties }) => properties.ipAddress !== undefined);
  if (byAddress.length === 0) return;
  if (sku === "Basic" || (sku === "Gateway" && !world.switches.gatewayPoolsTakeAddresses))
    // load-balancer/backend-pool-management: "IP based backends can only be used for Standard Load Balancers".
    throw new Refusal(
      400,
      "IPBasedBackendPoolNotSupported",
      `Backend address pool ${id} cannot have IP addresses: IP based backends can only be used for Standard Load Balancers.`,
    );
  if (existing && [...membersOf(existing, world)].length > 0) throw mixed(existing.id);
  const before = world.store.get(balancer);
  if (before && servicesOn(before, world) > 0) throw ipBased(before);
  const seen = new Set<string>();
  for (const { name, properties } of byAddress) {
    for (const each of [`name ${name.toLowerCase()}`, `address ${properties.ipAddress}`]) {
      if (seen.has(each)) throw badAddress(`The backend addresses of ${id} have the same ${each}.`);
      seen.add(each);
    }
    const own = networkOfBalancer(world, balancer);
    const network = idIn(properties.virtualNetwork)?.toLowerCase();
    if (own !== undefined && network !== undefined && network !== own)
      throw new Refusal(
        400,
        "BackendAddressInDifferentVirtualNetwork",
        `The backend address ${name} of ${id} is in another virtual network than the load balancer.`,
      );
  }
}

function checkInNetwork(address: string, network: Resource, name: string): void {
  const space = network.properties.addressSpace as { addressPrefixes?: string[] } | undefined;
  const ip = parseIp(address);
  if (space?.addressPrefixes?.some((each) => contains(parseCidr(each), ip))) return;
  throw new Refusal(
    400,
    "BackendAddressNotInVirtualNetwork",
    `The IP address ${address} of the backend address ${name} is outside the address space of virtual network ${network.id}.`,
  );
}

/** The default is that of the CLI tutorial, counted up as in Microsoft's example with two pools. */
function tunnels(
  properties: JsonObject,
  { sku, existing, at, id }: PoolPlace,
): JsonObject[] | undefined {
  const given = objects(properties, "tunnelInterfaces");
  if (sku !== "Gateway") {
    if (given.length === 0) return undefined;
    throw new Refusal(
      400,
      "TunnelInterfacesNotSupported",
      `Backend address pool ${id} cannot have tunnel interfaces: only a load balancer of SKU Gateway has them.`,
    );
  }
  if (given.length === 0)
    return (
      (existing?.properties.tunnelInterfaces as JsonObject[] | undefined) ?? [
        { port: 10800 + at, identifier: 900 + at, protocol: "VXLAN", type: "Internal" },
      ]
    );
  // An interface without a port gets the next one (10801 for the second), and the same with its identifier.
  const kept = given.map((each, i) => ({
    port: number(each, "port", 10800 + i),
    identifier: number(each, "identifier", 900 + i),
    protocol: oneOf(each, "protocol", ["None", "Native", "VXLAN"], "VXLAN"),
    type: oneOf(each, "type", ["None", "Internal", "External"], "Internal"),
  }));
  const distinct = new Set(kept.flatMap((each) => [`p${each.port}`, `i${each.identifier}`]));
  if (kept.length > 2 || distinct.size < 2 * kept.length)
    throw new Refusal(
      400,
      "InvalidTunnelInterfaces",
      `Backend address pool ${id} can have two tunnel interfaces, each with a port and an identifier of its own.`,
    );
  return kept;
}

function worthKeeping({ properties }: { properties: JsonObject }): boolean {
  return (
    properties.ipAddress !== undefined ||
    properties.loadBalancerFrontendIPConfiguration !== undefined ||
    properties.adminState !== undefined
  );
}

function badAddress(message: string): Refusal {
  return invalid(
    "InvalidRequestFormat",
    "Cannot parse the request.",
    "InvalidLoadBalancerBackendAddress",
    message,
  );
}
