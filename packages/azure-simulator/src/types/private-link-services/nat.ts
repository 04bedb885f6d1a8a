import { regionName } from "@postern/core/region.ts";
import { defined, flag, object, objects, oneOf, reference, text } from "../../arm/fields.ts";
import { badReference, checkNetworkName } from "../../arm/links.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { World } from "../../arm/resource-type.ts";
import { type JsonObject, parentOf, type Resource } from "../../state/store.ts";
import type { InterfaceAddress } from "../network-interfaces/made.ts";
import { draftAddresses } from "../subnets/addresses.ts";
import { missingField } from "./refusals.ts";

/** A service takes addresses for its translation from subnets of the provider: up to 8 (private-link-service-overview). */
const mostAddresses = 8;

/** Read the addresses that a service translates to, and refuse what Azure refuses of them. */
export function acceptNat(
  properties: JsonObject,
  id: string,
  location: string,
  existing: Resource | undefined,
  world: World,
): JsonObject[] {
  const given = objects(properties, "ipConfigurations");
  if (given.length === 0) throw missingField("properties.ipConfigurations", id);
  if (given.length > mostAddresses)
    throw new Refusal(
      400,
      "PrivateLinkServiceIpConfigurationCountExceedsLimit",
      `Private link service ${id} has ${given.length} ip configurations. It cannot have more than ${mostAddresses}.`,
    );
  const named = new Set<string>();
  const anyPrimary = given.some((each) => object(each, "properties")?.primary === true);
  const accepted = given.map((each, at) => {
    const name = text(each, "name", "");
    checkNetworkName(name);
    if (named.has(name.toLowerCase())) throw twice(id, name);
    named.add(name.toLowerCase());
    const fields = object(each, "properties") ?? {};
    const subnet = subnetFor(fields, id, location, world);
    const version = oneOf(fields, "privateIPAddressVersion", ["IPv4", "IPv6"], "IPv4");
    const method = oneOf(fields, "privateIPAllocationMethod", ["Dynamic", "Static"], "Dynamic");
    return {
      name,
      id: `${id}/ipConfigurations/${name}`,
      type: "Microsoft.Network/privateLinkServices/ipConfigurations",
      properties: defined({
        provisioningState: "Succeeded",
        // Recorded: an address that was not asked for is told by the interface only.
        privateIPAddress:
          method === "Static" ? text(fields, "privateIPAddress", undefined) : undefined,
        privateIPAllocationMethod: method,
        subnet: { id: subnet.id },
        primary: flag(fields, "primary", !anyPrimary && at === 0),
        privateIPAddressVersion: version,
      }),
    };
  });
  checkPrimary(accepted, existing, id);
  return accepted;
}

function subnetFor(fields: JsonObject, id: string, location: string, world: World): Resource {
  const { store } = world;
  const named = reference(fields, "subnet");
  if (named === undefined) throw missingField("properties.ipConfigurations.subnet", id);
  const subnet = store.get(named);
  const network = subnet && store.get(parentOf(subnet.key));
  const place = network?.top.location;
  if (!subnet || typeof place !== "string" || regionName(place) !== regionName(location))
    throw badReference(named, id);
  if (subnet.properties.privateLinkServiceNetworkPolicies !== "Disabled")
    throw new Refusal(
      400,
      "PrivateLinkServiceCannotBeCreatedInSubnetThatHasNetworkPoliciesEnabled",
      `Private link service ${id} cannot be created in a subnet ${subnet.id} since it has private link service network policies enabled.`,
    );
  return subnet;
}

/** There is one, and it stays in its subnet (hashicorp/terraform-provider-azurerm#13411). */
function checkPrimary(
  accepted: readonly { properties: JsonObject }[],
  existing: Resource | undefined,
  id: string,
): void {
  const primaries = accepted.filter(({ properties }) => properties.primary === true);
  const [primary] = primaries;
  if (!primary || primaries.length > 1)
    throw new Refusal(
      400,
      "PrivateLinkServiceMustHaveOnePrimaryIpConfiguration",
      `Private link service ${id} must have exactly one primary ip configuration.`,
    );
  const before = existing && natOf(existing).find(({ fields }) => fields.primary === true);
  const held = before && reference(before.fields, "subnet");
  const subnet = reference(primary.properties, "subnet");
  if (held === undefined || held.toLowerCase() === subnet?.toLowerCase()) return;
  throw new Refusal(
    400,
    "PrivateLinkServicePrimaryIpConfigurationSubnetCannotBeChanged",
    `The subnet of the primary ip configuration of private link service ${id} cannot be changed. Current subnet: '${held}'. Requested subnet: '${subnet}'.`,
  );
}

/** The ip configurations that a service keeps. */
export function natOf(
  service: Pick<Resource, "properties">,
): { name: string; fields: JsonObject }[] {
  return objects(service.properties, "ipConfigurations").map((each) => ({
    name: text(each, "name", ""),
    fields: object(each, "properties") ?? {},
  }));
}

/** Choose the addresses; those that the interface holds already are kept. */
export function natAddresses(
  service: Pick<Resource, "id" | "properties">,
  nicId: string,
  world: World,
): InterfaceAddress[] {
  const draft = draftAddresses(world, [service.id, nicId]);
  const nic = world.store.get(nicId);
  const held = new Map(
    nic ? natOf(nic).map(({ name, fields }) => [name, fields.privateIPAddress]) : [],
  );
  return natOf(service).map(({ name, fields }) => {
    const subnet = reference(fields, "subnet") ?? "";
    const wanted = text(fields, "privateIPAddress", undefined);
    const before = held.get(name);
    const version = fields.privateIPAddressVersion === "IPv6" ? "IPv6" : "IPv4";
    return {
      name,
      subnet,
      version,
      primary: fields.primary === true,
      isStatic: wanted !== undefined,
      address: draft.take({
        subnet,
        version: version === "IPv6" ? 6 : 4,
        wanted,
        held: typeof before === "string" ? before : undefined,
        asker: `${service.id}/ipConfigurations/${name}`,
      }),
    };
  });
}

function twice(id: string, name: string): Refusal {
  return new Refusal(400, "InvalidRequestFormat", "Cannot parse the request.", {
    details: [
      {
        code: "DuplicateResourceName",
        message: `Resource ${id} has two child resources with the same name (${name}).`,
      },
    ],
  });
}
