import { defined, flag, invalid, object, objects, tags, text, texts } from "../../arm/fields.ts";
import { checkNetworkName } from "../../arm/links.ts";
import type { ResourceType } from "../../arm/resource-type.ts";
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
    for (const prefix of prefixes) readPrefix(prefix, `resource ${id}`);
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
      top: defined({ location: body.location ?? existing?.top.location, ...tags(body) }),
      properties: defined({
        resourceGuid: existing?.properties.resourceGuid ?? world.guid(),
        addressSpace: { addressPrefixes: prefixes },
        privateEndpointVNetPolicies: text(properties, "privateEndpointVNetPolicies", "Disabled"),
        dhcpOptions: object(properties, "dhcpOptions"),
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
    return { subnets: shown };
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
    "Peerings, encryption, flow timeouts and BGP communities are not kept; DDoS protection is kept and does nothing (not done).",
    "Usage, free addresses and the operations on DDoS status (not done).",
    "A write to a network that is being changed is refused at once [P], or taken and fails in its operation [I]: a switch, since both are reported.",
  ],
};
