import { regionName } from "@postern/core/region.ts";
import { defined, invalid, object, oneOf, text, texts } from "../../arm/fields.ts";
import { badReference, checkNetworkName, idIn, link, referred } from "../../arm/links.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { Child, World } from "../../arm/resource-type.ts";
import { type JsonObject, parentOf, type Resource } from "../../state/store.ts";
import { draftAddresses } from "../subnets/addresses.ts";

/** The kinds of load balancers. */
export type Sku = "Basic" | "Standard" | "Gateway";

/** What is kept of the frontends of a load balancer; those in a subnet have an address of it. */
export function acceptFrontends(
  given: readonly JsonObject[],
  about: { world: World; id: string; location: string; sku: Sku },
): Child[] {
  const { world, id, location, sku } = about;
  const before = [...world.store.collection(`${id.toLowerCase()}/frontendipconfigurations`)];
  const draft = draftAddresses(
    world,
    before.map((each) => each.key),
  );
  const kept = given.map((each): Child => {
    const name = text(each, "name", "");
    checkNetworkName(name);
    const asker = `${id}/frontendIPConfigurations/${name}`;
    const properties = object(each, "properties") ?? {};
    const subnet = link(properties, "subnet");
    const publicIPAddress = link(properties, "publicIPAddress");
    const publicIPPrefix = link(properties, "publicIPPrefix");
    checkOneKind(asker, subnet, publicIPAddress ?? publicIPPrefix, sku);
    const method = oneOf(properties, "privateIPAllocationMethod", ["Dynamic", "Static"], "Dynamic");
    const version = oneOf(properties, "privateIPAddressVersion", ["IPv4", "IPv6"], "IPv4");
    const subnetId = idIn(subnet);
    if (subnetId !== undefined) checkSubnet(world, subnetId, location, id);
    const publicId = idIn(publicIPAddress);
    if (publicId !== undefined) checkPublic(world, publicId, asker, sku);
    const gateway = link(properties, "gatewayLoadBalancer");
    const gatewayId = idIn(gateway);
    if (gatewayId !== undefined) checkChain(world, gatewayId, asker, publicId !== undefined, sku);
    const zones = texts(each, "zones");
    const held = before.find((one) => one.name === name)?.properties.privateIPAddress;
    return {
      name,
      ...(zones.length > 0 && { top: { zones } }),
      properties: defined({
        privateIPAddress:
          subnetId === undefined
            ? undefined
            : draft.take({
                subnet: subnetId,
                version: version === "IPv6" ? 6 : 4,
                wanted:
                  method === "Static" ? text(properties, "privateIPAddress", undefined) : undefined,
                held: typeof held === "string" ? held : undefined,
                asker,
              }),
        privateIPAllocationMethod: method,
        subnet,
        publicIPAddress,
        publicIPPrefix,
        // Recorded: a public frontend shows none.
        privateIPAddressVersion: subnetId === undefined ? undefined : version,
        gatewayLoadBalancer: gateway,
      }),
    };
  });
  checkOneNetwork(kept, id);
  return kept;
}

function checkOneKind(
  asker: string,
  subnet: JsonObject | undefined,
  outside: JsonObject | undefined,
  sku: Sku,
): void {
  if (subnet && outside)
    throw invalid(
      "InvalidRequestFormat",
      "Cannot parse the request.",
      "FrontendIPConfigHasBothSubnetAndPublicIP",
      `Frontend IP configuration ${asker} has both a subnet and a public IP address.`,
    );
  if (!subnet && !outside)
    throw invalid(
      "InvalidRequestFormat",
      "Cannot parse the request.",
      "FrontendIPConfigMustHaveSubnetOrPublicIP",
      `Frontend IP configuration ${asker} has neither a subnet nor a public IP address.`,
    );
  // A Gateway load balancer has private frontends only (load-balancer/gateway-overview).
  if (sku === "Gateway" && outside)
    throw new Refusal(
      400,
      "GatewayLoadBalancerFrontendMustBePrivate",
      `Frontend IP configuration ${asker} of a load balancer of SKU Gateway cannot have a public IP address.`,
    );
}

function checkSubnet(world: World, subnetId: string, location: string, id: string): void {
  const subnet = referred(world, subnetId, "Microsoft.Network/virtualNetworks/subnets", id);
  const network = world.store.get(parentOf(subnet.key));
  if (regionName(String(network?.top.location)) === regionName(location)) return;
  throw badReference(subnetId, id);
}

function checkPublic(world: World, publicId: string, asker: string, sku: Sku): void {
  const address = referred(world, publicId, "Microsoft.Network/publicIPAddresses", asker);
  const held = (address.top.sku as JsonObject | undefined)?.name;
  if (held !== sku)
    throw new Refusal(
      400,
      "PublicIPAndLBSkuDoNotMatch",
      `${sku} sku load balancer ${parentOf(asker)} cannot reference ${held} sku publicIP ${address.id}.`,
    );
  for (const user of world.store.referrers(address.key))
    if (user.key !== asker.toLowerCase())
      throw new Refusal(
        400,
        "PublicIPAddressInUse",
        `IP configuration ${asker} is referencing public IP address ${address.id} that is already allocated to resource ${user.id}.`,
      );
}

/** Only a public frontend of a Standard load balancer is chained, and only to a frontend of a Gateway one. */
function checkChain(
  world: World,
  gatewayId: string,
  asker: string,
  outside: boolean,
  sku: Sku,
): void {
  const frontend = referred(
    world,
    gatewayId,
    "Microsoft.Network/loadBalancers/frontendIPConfigurations",
    asker,
  );
  const gateway = world.store.get(parentOf(frontend.key));
  if (skuOf(gateway) === "Gateway" && sku === "Standard" && outside) return;
  throw new Refusal(
    400,
    "InvalidGatewayLoadBalancerReference",
    `Frontend IP configuration ${asker} cannot be chained to ${frontend.id}: a public frontend of SKU Standard is chained to a frontend of SKU Gateway.`,
  );
}

/** The kind of a load balancer. */
export function skuOf(balancer: Resource | undefined): Sku {
  return ((balancer?.top.sku as JsonObject | undefined)?.name ?? "Basic") as Sku;
}

/** Whether a load balancer is of one region, or stands in front of those of several. */
export function tierOf(balancer: Resource | undefined): "Regional" | "Global" {
  const { tier } = (balancer?.top.sku ?? {}) as JsonObject;
  return tier === "Global" ? "Global" : "Regional";
}

function checkOneNetwork(kept: readonly Child[], id: string): void {
  const networks = new Set(
    kept.map(({ properties }) => {
      const subnet = idIn(properties.subnet);
      return subnet === undefined ? "" : parentOf(subnet.toLowerCase());
    }),
  );
  if (networks.size <= 1) return;
  throw new Refusal(
    400,
    "LoadBalancerFrontendsMustBeOfOneKind",
    `The frontend IP configurations of load balancer ${id} must all be public, or all be in one virtual network.`,
  );
}
