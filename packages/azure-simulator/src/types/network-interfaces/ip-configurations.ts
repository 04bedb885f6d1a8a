import { regionName } from "@postern/core/region.ts";
import { defined, flag, invalid, isObject, number, object, oneOf, text } from "../../arm/fields.ts";
import { badReference, checkNetworkName, idIn, link, links } from "../../arm/links.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { World } from "../../arm/resource-type.ts";
import { type JsonObject, parentOf, type Resource } from "../../state/store.ts";
import { draftAddresses } from "../subnets/addresses.ts";

/** learn.microsoft.com/azure/virtual-network/ip-services/virtual-network-private-ip-address-blocks-cli */
const blockLengths = { IPv4: 28, IPv6: 80 } as const;

/** What is kept of the ip configurations of an interface, each with an address of its subnet. */
export function acceptConfigurations(
  given: readonly JsonObject[],
  about: {
    world: World;
    /** The id of the interface. */
    id: string;
    location: string;
    existing: Resource | undefined;
  },
): JsonObject[] {
  const { world, id, location, existing } = about;
  if (given.length === 0)
    throw invalid(
      "InvalidRequestFormat",
      "Cannot parse the request.",
      "NetworkInterfaceMustHaveAtLeastOneIpConfiguration",
      `Network interface ${id} must have at least one IP configuration.`,
    );
  const draft = draftAddresses(world, [id]);
  const named = new Set<string>();
  const primaries = given.filter((each) =>
    flag(object(each, "properties") ?? {}, "primary", false),
  );
  if (primaries.length > 1) throw onePrimary(id);
  const kept = given.map((each, at) => {
    const name = text(each, "name", "");
    checkNetworkName(name);
    if (named.has(name.toLowerCase())) throw twice(name, id);
    named.add(name.toLowerCase());
    const properties = object(each, "properties") ?? {};
    const subnet = link(properties, "subnet");
    const asker = `${id}/ipConfigurations/${name}`;
    if (subnet === undefined)
      throw invalid(
        "InvalidRequestFormat",
        "Cannot parse the request.",
        "SubnetMissing",
        `The IP configuration ${asker} has no subnet.`,
      );
    const version = oneOf(properties, "privateIPAddressVersion", ["IPv4", "IPv6"], "IPv4");
    const method = oneOf(properties, "privateIPAllocationMethod", ["Dynamic", "Static"], "Dynamic");
    const wanted = text(properties, "privateIPAddress", undefined);
    const primary = primaries.length === 0 ? at === 0 : flag(properties, "primary", false);
    const prefixLength = number(properties, "privateIPAddressPrefixLength", undefined);
    if (prefixLength !== undefined && (primary || prefixLength !== blockLengths[version]))
      throw badBlock(asker, prefixLength);
    if (method === "Static" && wanted === undefined)
      throw new Refusal(
        400,
        "PrivateIPAddressNotProvidedForStaticPrivateIPAllocation",
        `Private IP address is not provided for the static private IP allocation of ${asker}.`,
      );
    const privateIPAddress = draft.take({
      subnet: idIn(subnet) ?? "",
      version: version === "IPv6" ? 6 : 4,
      wanted: method === "Static" ? wanted : undefined,
      held: currentAddress(existing, name, subnet),
      prefixLength: method === "Dynamic" ? prefixLength : undefined,
      asker,
    });
    checkRegion(world, idIn(subnet) ?? "", location, id);
    return {
      name,
      properties: defined({
        privateIPAddress,
        privateIPAllocationMethod: method,
        publicIPAddress: link(properties, "publicIPAddress"),
        subnet,
        primary,
        privateIPAddressVersion: version,
        privateIPAddressPrefixLength: prefixLength,
        loadBalancerBackendAddressPools: links(properties, "loadBalancerBackendAddressPools"),
        loadBalancerInboundNatRules: links(properties, "loadBalancerInboundNatRules"),
        applicationSecurityGroups: links(properties, "applicationSecurityGroups"),
        gatewayLoadBalancer: link(properties, "gatewayLoadBalancer"),
      }),
    };
  });
  checkOneNetwork(kept, id);
  // Recorded: the primary one comes first, whatever its place was.
  return kept.sort((a, b) => Number(b.properties.primary) - Number(a.properties.primary));
}

/** The ip configurations of an interface as they are kept. */
export function configurationsOf(resource: Resource): { name: string; properties: JsonObject }[] {
  const kept = resource.properties.ipConfigurations;
  return Array.isArray(kept)
    ? kept.filter(isObject).map((each) => ({
        name: String(each.name),
        properties: isObject(each.properties) ? each.properties : {},
      }))
    : [];
}

/** The ip configurations as a reader sees them. */
export function shownConfigurations(resource: Resource, etag: string): JsonObject[] {
  // Interfaces of scale sets have no type in their configurations (LoadBalancerNetworkInterfaceListVmss).
  const type =
    resource.type === "Microsoft.Network/networkInterfaces"
      ? { type: "Microsoft.Network/networkInterfaces/ipConfigurations" }
      : {};
  return configurationsOf(resource).map(({ name, properties }) => ({
    name,
    id: `${resource.id}/ipConfigurations/${name}`,
    etag,
    ...type,
    properties: { provisioningState: resource.state, ...properties },
  }));
}

/** The network of an interface, by the key of the subnet of its first configuration. */
export function networkOf(configurations: readonly { properties: JsonObject }[]): string {
  return parentOf((idIn(configurations[0]?.properties.subnet) ?? "").toLowerCase());
}

/** Recorded: in another subnet a configuration gets an address anew, even where its own would be free. */
function currentAddress(
  existing: Resource | undefined,
  name: string,
  subnet: JsonObject,
): string | undefined {
  const held = existing && configurationsOf(existing).find((each) => each.name === name);
  if (!held || idIn(held.properties.subnet)?.toLowerCase() !== idIn(subnet)?.toLowerCase())
    return undefined;
  return text(held.properties, "privateIPAddress", undefined);
}

function checkRegion(world: World, subnet: string, location: string, id: string): void {
  const network = world.store.get(parentOf(subnet.toLowerCase()));
  if (regionName(String(network?.top.location)) === regionName(location)) return;
  throw badReference(subnet, id);
}

function checkOneNetwork(kept: readonly { properties: JsonObject }[], id: string): void {
  const networks = new Set(kept.map((each) => networkOf([each])));
  if (networks.size === 1) return;
  throw new Refusal(
    400,
    "IpConfigurationsOnSameNicCannotUseDifferentVnets",
    `All IP configurations of network interface ${id} must be in subnets of one virtual network.`,
  );
}

function badBlock(asker: string, length: number): Refusal {
  return new Refusal(
    400,
    "PrivateIPAddressPrefixLengthInvalid",
    `IP configuration ${asker} has the private IP address prefix length ${length}. A block of addresses is /${blockLengths.IPv4}, or /${blockLengths.IPv6} of IPv6, and not primary.`,
  );
}

function onePrimary(id: string): Refusal {
  return new Refusal(
    400,
    "MoreThanOnePrimaryIpConfigurationOnNic",
    `Network interface ${id} has more than one primary IP configuration.`,
  );
}

function twice(name: string, id: string): Refusal {
  return invalid(
    "InvalidRequestFormat",
    "Cannot parse the request.",
    "DuplicateResourceName",
    `Resource ${id} has two child resources with the same name (${name}).`,
  );
}
