import { createHash } from "node:crypto";
import { regionName } from "@postern/core/region.ts";
import { defined, flag, object, objects, tagsAndZone, text, texts } from "../../arm/fields.ts";
import { checkNetworkName, idIn, joinsIn, link, referred } from "../../arm/links.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { ResourceType, World } from "../../arm/resource-type.ts";
import { since } from "../../arm/show.ts";
import { type JsonObject, parentOf, type Resource } from "../../state/store.ts";
import {
  acceptConfigurations,
  configurationsOf,
  networkOf,
  shownConfigurations,
} from "./ip-configurations.ts";
import { checkPools, touchBalancers } from "./pool-membership.ts";

/** Network interfaces. A write that changes no load balancer and no security group is done at once. */
export const networkInterfaces: ResourceType = {
  type: "Microsoft.Network/networkInterfaces",
  dialect: "network",
  within: "resourceGroup",
  // Recorded for pools, before and after the write; for the others by analogy.
  put: ({ resource, before }) => (isWired(resource) || isWired(before) ? "async" : "sync"),
  // Recorded: 200 for one that was never on a machine, 202 for one that was.
  delete: (resource) => (resource.properties.macAddress === undefined ? "async200" : "async"),
  patchTags: true,
  joins: ({ properties }) => joinsIn(properties, interfaceJoins),
  accept({ body, properties, existing, world, id, name }) {
    checkNetworkName(name);
    if (existing) checkNotOwned(existing, world, "changed");
    const location = String(body.location ?? existing?.top.location);
    const ipConfigurations = acceptConfigurations(objects(properties, "ipConfigurations"), {
      world,
      id,
      location,
      existing,
    });
    for (const each of ipConfigurations)
      checkPublicAddress(each.properties as JsonObject, id, world);
    checkPools(world, id, ipConfigurations as { name: string; properties: JsonObject }[]);
    return {
      top: defined({ location, ...tagsAndZone(body), kind: "Regular" }),
      properties: interfaceProperties(properties, ipConfigurations, { world, existing, location }),
    };
  },
  show(resource, world, query) {
    const machine = machineOf(resource, world);
    return defined({
      defaultOutboundConnectivityEnabled: since(query, "2024-10-01") ? false : undefined,
      ipConfigurations: shownConfigurations(resource, `W/"${resource.etag}"`),
      virtualMachine: machine && { id: machine.id },
      primary: machine && true,
      privateEndpoint: ownerOf(resource, world, "Microsoft.Network/privateEndpoints"),
      privateLinkService: ownerOf(resource, world, "Microsoft.Network/privateLinkServices"),
    });
  },
  afterWrite(resource, before, world) {
    touchBalancers(before, resource, world);
  },
  mayDelete(resource, world) {
    checkNotOwned(resource, world, "deleted");
    const machine = machineOf(resource, world);
    if (!machine) return;
    // The words are those of hashicorp/terraform-provider-azurerm#8105.
    throw new Refusal(
      400,
      "NicInUse",
      `Network Interface ${resource.id} is used by existing resource ${machine.id}. In order to delete the network interface, it must be dissociated from the resource. To learn more, see aka.ms/deletenic.`,
    );
  },
  afterDelete(resource, world) {
    touchBalancers(resource, undefined, world);
  },
  lists: {
    loadBalancers: ({ resource, world }) => balancersOf(resource, world),
  },
  differences: [
    "Network security groups, application security groups and tap configurations are stored as sent and have no effect.",
    "A delete returns 202 if the interface was attached to a machine, and 200 otherwise: a rule derived from two recordings [W].",
    "A block of addresses is always chosen by Azure; a static one is rejected (not done). Which lengths a block can have is documented [D], the code of the rejection is not [?].",
    "Effective routes and effective security groups are not done.",
    "The rejections for interfaces of endpoints and link services have codes by analogy [?].",
  ],
};

/** The type of interfaces that stand alone; those of scale sets have their own. */
export const interfaceType = "Microsoft.Network/networkInterfaces";

/** The ip configurations of an interface, read one by one. */
export const networkInterfaceIPConfigurations: ResourceType = {
  type: "Microsoft.Network/networkInterfaces/ipConfigurations",
  dialect: "network",
  within: "parent",
  read: ({ address, world }) => {
    const resource = world.store.get(parentOf(address.key));
    return resource && shownIn(resource).find((each) => isNamed(each, address.names.at(-1)));
  },
  list: ({ address, world }) => {
    const resource = world.store.get(address.key.slice(0, address.key.lastIndexOf("/")));
    return resource ? shownIn(resource).map((shown) => ({ shown })) : [];
  },
  differences: [],
};

/** What the asker needs on what an interface names. */
export const interfaceJoins: Readonly<Record<string, string>> = {
  subnet: "Microsoft.Network/virtualNetworks/subnets/join/action",
  publicIPAddress: "Microsoft.Network/publicIPAddresses/join/action",
  loadBalancerBackendAddressPools:
    "Microsoft.Network/loadBalancers/backendAddressPools/join/action",
  loadBalancerInboundNatRules: "Microsoft.Network/loadBalancers/inboundNatRules/join/action",
  networkSecurityGroup: "Microsoft.Network/networkSecurityGroups/join/action",
  gatewayLoadBalancer: "Microsoft.Network/loadBalancers/frontendIPConfigurations/join/action",
};

/** What is kept of an interface, whoever makes it. */
export function interfaceProperties(
  given: JsonObject,
  ipConfigurations: readonly JsonObject[],
  about: { world: World; existing: Resource | undefined; location: string },
): JsonObject {
  const { world, existing, location } = about;
  const dns = object(given, "dnsSettings") ?? {};
  const label = text(dns, "internalDnsNameLabel", undefined);
  const network = networkOf(ipConfigurations as { properties: JsonObject }[]);
  return defined({
    resourceGuid: existing?.properties.resourceGuid ?? world.guid(),
    ipConfigurations: [...ipConfigurations],
    dnsSettings: {
      dnsServers: texts(dns, "dnsServers"),
      appliedDnsServers: texts(dns, "dnsServers"),
      ...(label !== undefined && { internalDnsNameLabel: label }),
      internalDomainNameSuffix: suffixOf(network, location),
    },
    macAddress: existing?.properties.macAddress,
    enableAcceleratedNetworking: flag(given, "enableAcceleratedNetworking", false),
    vnetEncryptionSupported: false,
    enableIPForwarding: flag(given, "enableIPForwarding", false),
    disableTcpStateTracking: flag(given, "disableTcpStateTracking", false),
    networkSecurityGroup: link(given, "networkSecurityGroup"),
    hostedWorkloads: [],
    tapConfigurations: [],
    nicType: "Standard",
    allowPort25Out: true,
    auxiliaryMode: "None",
    auxiliarySku: "None",
  });
}

/** Whether an interface names a pool, an inbound NAT rule or a security group. */
function isWired(resource: Resource | undefined): boolean {
  if (resource === undefined) return false;
  return (
    resource.properties.networkSecurityGroup !== undefined ||
    configurationsOf(resource).some(
      ({ properties }) =>
        properties.loadBalancerBackendAddressPools !== undefined ||
        properties.loadBalancerInboundNatRules !== undefined,
    )
  );
}

/** The machine that an interface is on. */
export function machineOf(resource: Resource, world: World): Resource | undefined {
  for (const user of world.store.referrers(resource.key))
    if (user.type === "Microsoft.Compute/virtualMachines") return user;
  return undefined;
}

/** An address of the hardware, made from a guid; the first half is one of Microsoft's. */
export function macAddressFrom(guid: string): string {
  const hash = createHash("sha256").update(guid).digest("hex").toUpperCase();
  return ["00", "0D", "3A", hash.slice(0, 2), hash.slice(2, 4), hash.slice(4, 6)].join("-");
}

function shownIn(resource: Resource): JsonObject[] {
  return shownConfigurations(resource, `W/"${resource.etag}"`);
}

function isNamed(shown: JsonObject, name: string | undefined): boolean {
  return String(shown.name).toLowerCase() === name?.toLowerCase();
}

function ownerOf(resource: Resource, world: World, type: string): JsonObject | undefined {
  for (const user of world.store.referrers(resource.key))
    if (user.type === type) return { id: user.id };
  return undefined;
}

function checkNotOwned(resource: Resource, world: World, done: string): void {
  for (const [type, word] of [
    ["Microsoft.Network/privateEndpoints", "PrivateEndpoint"],
    ["Microsoft.Network/privateLinkServices", "PrivateLinkService"],
  ] as const) {
    const owner = ownerOf(resource, world, type);
    if (owner)
      throw new Refusal(
        400,
        `NicInUseWith${word}`,
        `Network interface ${resource.id} cannot be ${done} because it is currently in use with ${owner.id}.`,
      );
  }
}

function checkPublicAddress(properties: JsonObject, id: string, world: World): void {
  const publicId = idIn(properties.publicIPAddress);
  if (publicId === undefined) return;
  const address = referred(world, publicId, "Microsoft.Network/publicIPAddresses", id);
  for (const user of world.store.referrers(address.key))
    if (user.key !== id.toLowerCase())
      // The words are those of microsoft/azure-tools-for-java#91.
      throw new Refusal(
        400,
        "PublicIPAddressInUse",
        `IP configuration of ${id} is referencing public IP address ${address.id} that is already allocated to resource ${user.id}.`,
      );
}

function balancersOf(resource: Resource | undefined, world: World): Resource[] {
  const keys = (resource ? configurationsOf(resource) : []).flatMap(({ properties }) =>
    ((properties.loadBalancerBackendAddressPools ?? []) as JsonObject[]).map((each) =>
      parentOf(String(each.id).toLowerCase()),
    ),
  );
  return [...new Set(keys)].flatMap((key) => world.store.get(key) ?? []);
}

/** Machines of one network share a suffix; the letters before `internal` go with the region. */
function suffixOf(network: string, location: string): string {
  const regions: Readonly<Record<string, string>> = {
    eastus: "bx",
    eastus2: "cx",
    eastus2euap: "cbnx",
  };
  const digest = createHash("sha256").update(network).digest();
  const letters = "abcdefghijklmnopqrstuvwxyz234567";
  const label = Array.from(digest.subarray(0, 26), (byte) => letters[byte & 31]).join("");
  return `${label}.${regions[regionName(location)] ?? "dx"}.internal.cloudapp.net`;
}
