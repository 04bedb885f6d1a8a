import { createHash } from "node:crypto";
import { regionName } from "@postern/core/region.ts";
import {
  defined,
  number,
  object,
  objects,
  oneOf,
  tagsAndZone,
  text,
  texts,
} from "../../arm/fields.ts";
import { checkNetworkName, link } from "../../arm/links.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { ResourceType, World } from "../../arm/resource-type.ts";
import type { JsonObject, Resource } from "../../state/store.ts";

/** Public addresses. A static one has its address when its operation has ended, a dynamic one while it is used. */
export const publicIPAddresses: ResourceType = {
  type: "Microsoft.Network/publicIPAddresses",
  dialect: "network",
  within: "resourceGroup",
  put: "async",
  delete: "async",
  patchTags: true,
  accept({ body, properties, existing, world, name }) {
    checkNetworkName(name);
    const sku = object(body, "sku") ?? {};
    const skuName = oneOf(sku, "name", ["Basic", "Standard"], "Basic");
    const method = oneOf(
      properties,
      "publicIPAllocationMethod",
      ["Static", "Dynamic"],
      skuName === "Basic" ? "Dynamic" : "Static",
    );
    if (skuName === "Standard" && method === "Dynamic")
      throw new Refusal(
        400,
        "StandardSkuPublicIPAddressMustBeStatic",
        `Standard sku publicIp ${name} must have AllocationMethod set to Static.`,
      );
    const dns = object(properties, "dnsSettings");
    const zones = texts(body, "zones");
    return {
      top: defined({
        location: body.location ?? existing?.top.location,
        ...tagsAndZone(body),
        ...(zones.length > 0 && { zones }),
        sku: { name: skuName, tier: oneOf(sku, "tier", ["Regional", "Global"], "Regional") },
      }),
      properties: defined({
        resourceGuid: existing?.properties.resourceGuid ?? world.guid(),
        ipAddress: existing?.properties.ipAddress,
        publicIPAddressVersion: oneOf(
          properties,
          "publicIPAddressVersion",
          ["IPv4", "IPv6"],
          "IPv4",
        ),
        publicIPAllocationMethod: method,
        idleTimeoutInMinutes: number(properties, "idleTimeoutInMinutes", 4),
        ipTags: objects(properties, "ipTags"),
        // Recorded: a Basic one has no protection to inherit.
        ddosSettings:
          object(properties, "ddosSettings") ??
          (skuName === "Basic" ? undefined : { protectionMode: "VirtualNetworkInherited" }),
        publicIPPrefix: link(properties, "publicIPPrefix"),
        dnsSettings: dns && named(dns, body.location ?? existing?.top.location),
      }),
    };
  },
  show(address, world) {
    const user = userOf(address, world);
    return defined({
      ipConfiguration: user === undefined ? undefined : { id: user },
      // A dynamic one has an address only while somebody uses it.
      ipAddress:
        address.properties.ipAddress ??
        (user !== undefined && address.state === "Succeeded" ? addressFor(address) : undefined),
    });
  },
  afterProvision(address, world) {
    const { properties } = address;
    if (properties.publicIPAllocationMethod !== "Static" || properties.ipAddress !== undefined)
      return;
    address.properties = { ...properties, ipAddress: addressFor(address) };
    world.store.put(address);
  },
  mayDelete(address, world) {
    const user = userOf(address, world);
    if (user === undefined) return;
    // The words are those of hashicorp/terraform-provider-azurerm#2566.
    throw new Refusal(
      400,
      "PublicIPAddressCannotBeDeleted",
      `Public IP address ${address.id} can not be deleted since it is still allocated to resource ${user}. In order to delete the public IP, disassociate/detach the Public IP address from the resource.  To learn how to do this, see aka.ms/deletepublicip.`,
    );
  },
  differences: [
    "Addresses are derived from the resourceGuid; none of them is reachable.",
    "A name label with a scope has no hash in its name (not done).",
    "Prefixes, reverse names, DDoS plans and NAT gateways are stored as sent and have no effect.",
    "The code for a dynamic Standard address is not verified [?].",
  ],
};

/** The id of the ip configuration or frontend that uses a public address. */
export function userOf(address: Resource, world: World): string | undefined {
  for (const user of world.store.referrers(address.key)) {
    if (user.type === "Microsoft.Network/loadBalancers/frontendIPConfigurations") return user.id;
    const configurations = user.properties.ipConfigurations;
    if (!Array.isArray(configurations)) continue;
    for (const each of configurations as JsonObject[]) {
      const { publicIPAddress } = (each.properties ?? {}) as JsonObject;
      const id = (publicIPAddress as JsonObject | undefined)?.id;
      if (typeof id === "string" && id.toLowerCase() === address.key)
        return `${user.id}/ipConfigurations/${each.name}`;
    }
  }
  return undefined;
}

function addressFor({ properties }: Resource): string {
  const hash = createHash("sha256").update(String(properties.resourceGuid)).digest();
  if (properties.publicIPAddressVersion === "IPv6")
    return `2603:1030:${hash.readUInt16BE(0).toString(16)}:${hash.readUInt16BE(2).toString(16)}::${(hash.readUInt16BE(4) | 1).toString(16)}`;
  return `${20 + ((hash[0] ?? 0) & 31)}.${hash[1]}.${hash[2]}.${hash[3]}`;
}

function named(dns: JsonObject, location: unknown): JsonObject {
  const label = text(dns, "domainNameLabel", undefined);
  const place = regionName(String(location));
  return defined({
    domainNameLabel: label,
    domainNameLabelScope: text(dns, "domainNameLabelScope", undefined),
    fqdn: label === undefined ? undefined : `${label}.${place}.cloudapp.azure.com`,
    reverseFqdn: text(dns, "reverseFqdn", undefined),
  });
}
