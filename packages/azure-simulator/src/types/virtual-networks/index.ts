import { overlaps } from "@postern/core/cidr.ts";
import {
  defined,
  flag,
  invalid,
  object,
  objects,
  oneOf,
  tagsAndZone,
  text,
  texts,
} from "../../arm/fields.ts";
import { checkNetworkName } from "../../arm/links.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { ResourceType } from "../../arm/resource-type.ts";
import { since } from "../../arm/show.ts";
import type { JsonObject } from "../../state/store.ts";
import {
  acceptSubnet,
  checkInside,
  checkNoOverlap,
  readPrefix,
  subnets,
} from "../subnets/index.ts";

/** Virtual networks. The subnets in a body are written with it. */
export const virtualNetworks: ResourceType = {
  type: "Microsoft.Network/virtualNetworks",
  dialect: "network",
  within: "resourceGroup",
  put: "async",
  delete: "async",
  patchTags: true,
  accept({ body, properties, existing, world, id, name: network }) {
    checkNetworkName(network);
    const space = object(properties, "addressSpace") ?? {};
    const prefixes = texts(space, "addressPrefixes");
    if (prefixes.length === 0)
      throw invalid(
        "InvalidRequestFormat",
        "Cannot parse the request.",
        "MissingJsonReferenceId",
        "The address space of a virtual network must have a prefix.",
      );
    checkSpace(prefixes, id);
    const dhcp = object(properties, "dhcpOptions");
    const wanted = properties.subnets === undefined ? undefined : objects(properties, "subnets");
    const children = wanted?.map((subnet) => {
      const name = text(subnet, "name", "");
      const fields = acceptSubnet(object(subnet, "properties") ?? {}, name, prefixes, id, world);
      return { name, properties: fields };
    });
    if (children) checkNoOverlap(children, id);
    else
      for (const each of world.store.collection(`${existing?.key}/subnets`))
        checkInside(each.properties, each.name, prefixes, id);
    return {
      top: defined({ location: body.location ?? existing?.top.location, ...tagsAndZone(body) }),
      properties: defined({
        resourceGuid: existing?.properties.resourceGuid ?? world.guid(),
        addressSpace: { addressPrefixes: prefixes },
        privateEndpointVNetPolicies: text(properties, "privateEndpointVNetPolicies", "Disabled"),
        dhcpOptions: dhcp && { ...dhcp, dnsServers: texts(dhcp, "dnsServers") },
        encryption: acceptEncryption(properties, id),
        virtualNetworkPeerings: [],
        enableDdosProtection: flag(properties, "enableDdosProtection", false),
      }),
      // An empty list takes them all away; where the body has none they stay.
      ...(children && { children: { [subnets.type]: children } }),
    };
  },
  show(network, world, query) {
    const shown: JsonObject[] = [];
    for (const subnet of world.store.collection(`${network.key}/subnets`))
      shown.push({
        name: subnet.name,
        id: subnet.id,
        etag: `W/"${network.etag}"`,
        properties: {
          provisioningState: subnet.state,
          ...subnet.properties,
          ...subnets.show?.(subnet, world, query),
        },
        type: subnet.type,
      });
    // Recorded: 2021-03-01 does not show it.
    const policies = since(query, "2024-01-01") ? {} : { privateEndpointVNetPolicies: undefined };
    const older = since(query, "2020-01-01") ? {} : { enableVmProtection: false };
    return { subnets: shown, ...policies, ...older };
  },
  afterDelete(network, { store }) {
    // A link to a network that is gone leads nowhere.
    for (const user of [...store.referrers(network.key)])
      if (user.type.endsWith("/virtualNetworkLinks")) store.remove(user.key);
  },
  mayDelete(network, world) {
    for (const subnet of world.store.collection(`${network.key}/subnets`))
      subnets.mayDelete?.(subnet, world);
  },
  differences: [
    "Peerings, flow timeouts and BGP communities are not stored; encryption and DDoS protection are stored but have no effect (not done).",
    "Usage, free addresses and the operations on DDoS status (not done).",
    "A write to a network that is being changed is rejected immediately [P], or accepted and fails later [I]: a switch, because both are reported.",
  ],
};

/** Prefixes of one network have no address in common; the code is by analogy. */
function checkSpace(prefixes: readonly string[], id: string): void {
  const blocks = prefixes.map((prefix) => readPrefix(prefix, id));
  blocks.forEach((block, at) => {
    const other = blocks.findIndex((each, i) => i < at && overlaps(each, block));
    if (other >= 0)
      throw new Refusal(
        400,
        "NetcfgAddressSpaceOverlap",
        `The address prefixes ${prefixes[other]} and ${prefixes[at]} of virtual network ${id} overlap.`,
      );
  });
}

/** Recorded: who encrypts must say what becomes of those who cannot. */
function acceptEncryption(properties: JsonObject, id: string): JsonObject | undefined {
  const given = object(properties, "encryption");
  if (given === undefined) return undefined;
  const words = ["AllowUnencrypted", "DropUnencrypted"] as const;
  const enabled = flag(given, "enabled", undefined);
  const unset = enabled === false ? words[0] : undefined;
  const enforcement = oneOf(given, "enforcement", words, unset);
  if (enabled !== undefined && enforcement !== undefined) return { enabled, enforcement };
  throw new Refusal(
    400,
    "MustSpecifyBothEncryptionIntentAndEnforcementPolicy",
    `Cannot encrypt VirtualNetwork ${id} unless both encryption intent (Enabled true or false) and enforcement policy (AllowUnencrypted or DropUnencrypted) are specified.`,
  );
}
