import {
  type Cidr,
  contains,
  formatCidr,
  overlaps,
  parseCidr,
  sizeOf,
} from "@postern/core/cidr.ts";
import { isIp, parseIp } from "@postern/core/ip.ts";
import { lastSegment } from "@postern/core/resource-id.ts";
import {
  defined,
  flag,
  invalid,
  object,
  objects,
  oneOf,
  reference,
  text,
  texts,
} from "../../arm/fields.ts";
import { checkNetworkName } from "../../arm/links.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { ResourceType, World } from "../../arm/resource-type.ts";
import { type JsonObject, parentOf, type Resource } from "../../state/store.ts";

/** Subnets. One write to a network at a time. */
export const subnets: ResourceType = {
  type: "Microsoft.Network/virtualNetworks/subnets",
  dialect: "network",
  within: "parent",
  put: "async",
  delete: "async",
  accept({ properties, parent, name, world, id }) {
    const space = parent?.properties.addressSpace as { addressPrefixes: string[] };
    const accepted = acceptSubnet(properties, name, space.addressPrefixes, parent?.id ?? "", world);
    const others = [...world.store.collection(`${parent?.key}/subnets`)].filter(
      (each) => each.key !== id.toLowerCase(),
    );
    checkNoOverlap([...others, { name, properties: accepted }], parent?.id ?? "");
    return { properties: accepted };
  },
  show(subnet, world) {
    const users = [...world.store.referrers(subnet.key)];
    const configurations = users.flatMap((each) => configurationsIn(each, subnet.key));
    const endpoints = users
      .filter((each) => each.type === "Microsoft.Network/privateEndpoints")
      .map((each) => ({ id: each.id }));
    const { serviceEndpoints, delegations } = subnet.properties;
    return {
      ...(serviceEndpoints !== undefined && {
        serviceEndpoints: shownServiceEndpoints(subnet),
      }),
      ...(Array.isArray(delegations) && { delegations: shownDelegations(subnet, world) }),
      ...(configurations.length > 0 && { ipConfigurations: configurations }),
      ...(endpoints.length > 0 && { privateEndpoints: endpoints }),
    };
  },
  mayDelete(subnet, world) {
    const users = usersOf(subnet, world);
    if (users.length === 0) return;
    throw new Refusal(
      400,
      "InUseSubnetCannotBeDeleted",
      `Subnet ${subnet.name} is in use by ${users[0]?.id} and cannot be deleted. In order to delete the subnet, delete all the resources within the subnet. See aka.ms/deletesubnet.`,
    );
  },
  differences: [
    "Security groups, route tables, NAT gateways, service endpoints and delegations are stored as sent and have no effect.",
    "That a subnet is not smaller than /29 is documented [D]; the message is not [?].",
    "The code and message for changing the prefix of a subnet in use are from memory [?]; the rule is documented [D].",
    "Interfaces, load balancers, link services and endpoints that reference a subnet with a running write of its own are rejected with 429 ReferencedResourceNotProvisioned [I]; reports of endpoints also show it as the error of their operation, which a fault rule can produce. References to any other resource with a running write are accepted [?].",
    "The ids of ip configurations are shown with names in capitals: recorded of interfaces [W], of frontends by analogy [?].",
    "Preparing network policies and the links of services (not done).",
  ],
};

/** What is kept of a subnet. */
export function acceptSubnet(
  properties: JsonObject,
  name: string,
  space: readonly string[],
  network: string,
  world: World,
): JsonObject {
  checkNetworkName(name);
  const prefixes = prefixesOf(properties);
  if (prefixes.length === 0)
    throw invalid(
      "InvalidRequestFormat",
      "Cannot parse the request.",
      "MissingJsonReferenceId",
      `The subnet ${name} has no address prefix.`,
    );
  checkInside(properties, name, space, network);
  checkPrefixesStay(world.store.get(`${network}/subnets/${name}`), prefixes, world);
  const policies = oneOf(
    properties,
    "privateLinkServiceNetworkPolicies",
    ["Enabled", "Disabled"],
    "Enabled",
  );
  if (policies === "Enabled") checkNoService(`${network}/subnets/${name}`, world);
  return defined({
    addressPrefix: text(properties, "addressPrefix", undefined),
    addressPrefixes:
      properties.addressPrefixes === undefined ? undefined : texts(properties, "addressPrefixes"),
    networkSecurityGroup: link(properties, "networkSecurityGroup"),
    routeTable: link(properties, "routeTable"),
    natGateway: link(properties, "natGateway"),
    serviceEndpoints:
      properties.serviceEndpoints === undefined
        ? undefined
        : objects(properties, "serviceEndpoints"),
    delegations: objects(properties, "delegations"),
    privateEndpointNetworkPolicies: oneOf(
      properties,
      "privateEndpointNetworkPolicies",
      ["Enabled", "Disabled", "NetworkSecurityGroupEnabled", "RouteTableEnabled"],
      "Disabled",
    ),
    privateLinkServiceNetworkPolicies: policies,
    defaultOutboundAccess: flag(properties, "defaultOutboundAccess", undefined),
    sharingScope: oneOf(properties, "sharingScope", ["Tenant", "DelegatedServices"], undefined),
  });
}

function shownServiceEndpoints(subnet: Resource): JsonObject[] {
  return objects(subnet.properties, "serviceEndpoints").map((each) => ({
    provisioningState: subnet.state,
    locations: ["*"],
    ...each,
  }));
}

/** What a service may do in a subnet that is delegated to it, as recorded. Others may join it, as is documented. */
const delegatedActions: Readonly<Record<string, readonly string[]>> = {
  "microsoft.web/serverfarms": ["action"],
  "microsoft.sql/managedinstances": [
    "join/action",
    "prepareNetworkPolicies/action",
    "unprepareNetworkPolicies/action",
  ],
};

function shownDelegations(subnet: Resource, world: World): JsonObject[] {
  const etag = `W/"${world.store.get(parentOf(subnet.key))?.etag}"`;
  return objects(subnet.properties, "delegations").map((each) => {
    const given = object(each, "properties") ?? {};
    const serviceName = text(given, "serviceName", "");
    const actions = delegatedActions[serviceName.toLowerCase()] ?? ["join/action"];
    return {
      name: text(each, "name", ""),
      id: `${subnet.id}/delegations/${text(each, "name", "")}`,
      etag,
      properties: {
        provisioningState: "Succeeded",
        serviceName,
        actions: actions.map((each) => `Microsoft.Network/virtualNetworks/subnets/${each}`),
      },
      type: "Microsoft.Network/virtualNetworks/subnets/delegations",
    };
  });
}

/** By analogy with the code for endpoints in hashicorp/terraform-provider-azurerm#10832. */
function checkNoService(subnet: string, world: World): void {
  for (const user of world.store.referrers(subnet.toLowerCase()))
    if (user.type === "Microsoft.Network/privateLinkServices")
      throw new Refusal(
        400,
        "PrivateLinkServiceNetworkPoliciesCannotBeEnabledOnPrivateLinkServiceSubnet",
        `Private link service network policies cannot be enabled on private link service subnet ${subnet}.`,
      );
}

/** A prefix stays while anyone is in the subnet (learn.microsoft.com/azure/virtual-network/virtual-network-manage-subnet). */
function checkPrefixesStay(
  existing: Resource | undefined,
  wanted: readonly string[],
  world: World,
): void {
  const gone = existing && prefixesOf(existing.properties).find((each) => !wanted.includes(each));
  if (!existing || gone === undefined || usersOf(existing, world).length === 0) return;
  throw new Refusal(
    400,
    "InUsePrefixCannotBeDeleted",
    `IpPrefix ${gone} on Subnet ${existing.name} has active allocations and cannot be deleted.`,
  );
}

function usersOf(subnet: Resource, { store }: World): Resource[] {
  return [...store.referrers(subnet.key)].filter((each) => parentOf(each.key) !== subnet.key);
}

/** Refuse a subnet that is not within the addresses of its network. */
export function checkInside(
  properties: JsonObject,
  name: string,
  space: readonly string[],
  network: string,
): void {
  for (const prefix of prefixesOf(properties)) {
    const block = readPrefix(prefix, `${network}/subnets/${name}`);
    checkSize(block, name, network);
    if (!space.some((each) => contains(parseCidr(each), block)))
      throw new Refusal(
        400,
        "NetcfgInvalidSubnet",
        `Subnet '${name}' is not valid because its IP address range is outside the IP address range of virtual network '${lastSegment(network)}'.`,
      );
  }
}

/** From /29 on, and for IPv6 /64 (learn.microsoft.com/azure/virtual-network/virtual-networks-faq). */
function checkSize({ version, prefixLength }: Cidr, name: string, network: string): void {
  if (version === 4 ? prefixLength <= 29 : prefixLength === 64) return;
  throw new Refusal(
    400,
    "NetcfgInvalidSubnet",
    `Subnet '${name}' is not valid in virtual network '${lastSegment(network)}': a subnet has a prefix of /29 or shorter, and of exactly /64 for IPv6.`,
  );
}

/** Refuse subnets of one network that share addresses. */
export function checkNoOverlap(
  subnets: readonly { name: string; properties: JsonObject }[],
  network: string,
): void {
  const blocks = subnets.flatMap(({ name, properties }) =>
    prefixesOf(properties).map((prefix) => ({ name, block: parseCidr(prefix) })),
  );
  blocks.sort((a, b) =>
    a.block.version !== b.block.version
      ? a.block.version - b.block.version
      : a.block.first < b.block.first
        ? -1
        : 1,
  );
  for (let i = 1; i < blocks.length; i++) {
    const [low, high] = [blocks[i - 1], blocks[i]];
    if (low && high && low.name !== high.name && overlaps(low.block, high.block))
      throw new Refusal(
        400,
        "NetcfgSubnetRangesOverlap",
        `Subnet '${high.name}' is not valid because its IP address range overlaps with that of an existing subnet in virtual network '${lastSegment(network)}'.`,
      );
  }
}

/** The prefixes of a subnet, in whichever of the two fields. */
export function prefixesOf(properties: JsonObject): string[] {
  const one = text(properties, "addressPrefix", undefined);
  const many = texts(properties, "addressPrefixes");
  return many.length > 0 ? many : one === undefined ? [] : [one];
}

/** The block that a prefix is. The words are those of Azure/avdaccelerator#83 and microsoft/sql-server-samples#492. */
export function readPrefix(prefix: string, id: string): Cidr {
  const [address = "", length = ""] = prefix.split("/");
  const ip = isIp(address) ? parseIp(address) : undefined;
  const prefixLength = Number(length);
  const isLength = /^\d{1,3}$/.test(length) && prefixLength <= (ip?.version === 6 ? 128 : 32);
  if (ip === undefined || !isLength)
    throw new Refusal(
      400,
      "InvalidAddressPrefixFormat",
      `Address prefix ${prefix.slice(0, 100)} of resource ${id} is not formatted correctly. It should follow CIDR notation, for example 10.0.0.0/24.`,
    );
  const size = sizeOf({ version: ip.version, prefixLength });
  const block = { version: ip.version, first: ip.value - (ip.value % size), prefixLength };
  if (block.first === ip.value) return block;
  throw new Refusal(
    400,
    "InvalidCIDRNotation",
    `The address prefix ${prefix} in resource ${id} has an invalid CIDR notation. For the given prefix length, the address prefix should be ${formatCidr(block)}.`,
  );
}

function link(properties: JsonObject, name: string): JsonObject | undefined {
  const id = reference(properties, name);
  return id === undefined ? undefined : { id };
}

/** What holds an address of a subnet: a frontend, or the configurations of an interface that are in it. */
function configurationsIn(user: Resource, subnet: string): JsonObject[] {
  if (user.type === "Microsoft.Network/loadBalancers/frontendIPConfigurations")
    return [{ id: inCapitals(user.id) }];
  if (!user.type.endsWith("/networkInterfaces")) return [];
  return objects(user.properties, "ipConfigurations").flatMap((each) => {
    const id = reference(object(each, "properties") ?? {}, "subnet");
    return id?.toLowerCase() === subnet
      ? [{ id: inCapitals(`${user.id}/ipConfigurations/${text(each, "name", "")}`) }]
      : [];
  });
}

/** Recorded of interfaces, gateways and bastions: a subnet writes the names in these ids in capitals. */
function inCapitals(id: string): string {
  const isName = (at: number) => at === 4 || (at > 6 && at % 2 === 0);
  const parts = id.split("/");
  return parts.map((part, at) => (isName(at) ? part.toUpperCase() : part)).join("/");
}
