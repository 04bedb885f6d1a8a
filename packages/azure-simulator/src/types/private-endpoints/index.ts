import { regionName } from "@postern/core/region.ts";
import { etagOf } from "../../arm/etags.ts";
import {
  defined,
  isObject,
  object,
  objects,
  reference,
  tagsAndZone,
  text,
} from "../../arm/fields.ts";
import { badReference, checkNetworkName } from "../../arm/links.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { ResourceType, World } from "../../arm/resource-type.ts";
import { show, since } from "../../arm/show.ts";
import { type JsonObject, parentOf, type Resource } from "../../state/store.ts";
import { networkInterfaces } from "../network-interfaces/index.ts";
import { type InterfaceAddress, interfaceId, putInterface } from "../network-interfaces/made.ts";
import { followEndpoint } from "../private-dns-zone-groups/records.ts";
import { missingField } from "../private-link-services/refusals.ts";
import { draftAddresses } from "../subnets/addresses.ts";
import { acceptConnections, approvalsIn, connect, disconnect } from "./connect.ts";
import {
  type ConnectionList,
  dnsConfigsOf,
  endpointConnections,
  endpointType,
  stateOf,
} from "./endpoint.ts";

/** Private endpoints. The interface that holds their address is made and removed with them. */
export const privateEndpoints: ResourceType = {
  type: endpointType,
  dialect: "network",
  within: "resourceGroup",
  put: "async",
  delete: "async",
  joins({ properties }) {
    const subnet = reference(properties, "subnet");
    const action = "Microsoft.Network/virtualNetworks/subnets/join/action";
    return [...(subnet === undefined ? [] : [{ id: subnet, action }]), ...approvalsIn(properties)];
  },
  accept(writing) {
    const { body, properties, name, id, existing, world } = writing;
    checkNetworkName(name, 2, 64);
    const location = String(existing?.top.location ?? body.location);
    const subnet = acceptSubnet(properties, id, location, existing, world);
    const resourceGuid = String(existing?.properties.resourceGuid ?? world.guid());
    const connections = acceptConnections(writing, resourceGuid);
    const customNetworkInterfaceName = text(properties, "customNetworkInterfaceName", "");
    const nicId = acceptInterface(customNetworkInterfaceName, writing);
    const groups = properties.applicationSecurityGroups;
    const kept = {
      resourceGuid,
      ...connections,
      customNetworkInterfaceName,
      subnet: { id: subnet },
      ipConfigurations: acceptAddresses(properties),
      networkInterfaces: [{ id: nicId }],
      provisioned: existing?.properties.provisioned ?? existing !== undefined,
      ...(groups !== undefined && {
        applicationSecurityGroups: objects(properties, "applicationSecurityGroups"),
      }),
    };
    addressesFor({ id, properties: kept }, nicId, world);
    return {
      top: defined({ location, ...tagsAndZone(body) }),
      properties: kept,
    };
  },
  afterWrite(endpoint, before, world) {
    const nicId = interfaceOf(endpoint.properties);
    putInterface(nicId, endpoint, addressesFor(endpoint, nicId, world), world);
    if (!before) connect(endpoint, world);
  },
  afterProvision(endpoint, world) {
    if (endpoint.properties.provisioned !== false) return;
    endpoint.properties = { ...endpoint.properties, provisioned: true };
    world.store.put(endpoint);
    followEndpoint(endpoint, world);
  },
  show(endpoint, world, query) {
    const etag = `W/"${endpoint.etag}"`;
    const configurations = objects(endpoint.properties, "ipConfigurations");
    return {
      privateLinkServiceConnections: shown(endpoint, "privateLinkServiceConnections", world),
      manualPrivateLinkServiceConnections: shown(
        endpoint,
        "manualPrivateLinkServiceConnections",
        world,
      ),
      ipConfigurations: configurations.map((each) => ({
        ...each,
        id: `${endpoint.id}/ipConfigurations/${each.name}`,
        etag,
        properties: { provisioningState: "Succeeded", ...object(each, "properties") },
      })),
      networkInterfaces: interfaces(endpoint, world, query),
      customDnsConfigs: dnsConfigsOf(endpoint, world.store),
      provisioned: undefined,
      // Recorded: 2022-01-01 does not show it.
      isIPv6EnabledPrivateEndpoint: since(query, "2024-10-01") ? false : undefined,
    };
  },
  afterDelete(endpoint, world) {
    disconnect(endpoint, world);
    world.store.remove(interfaceOf(endpoint.properties).toLowerCase());
  },
  differences: [
    "Only private link services and storage accounts can be connected to; every other target is rejected as a type that is not permitted (not done).",
    "An endpoint has one address, of IPv4 (not done: several members, IPv6).",
    "An endpoint requests exactly one connection, and its request message has at most 140 characters: rules [D], codes and messages [?].",
    "An automatic connection to a service in another subscription, created by somebody with the permission to approve it, is approved [?].",
    "An automatic connection by alias is rejected [I], with a code of our own [?].",
    "The permission to read an endpoint is enough to see its interface with $expand [?].",
    "The names of a service (fqdns) become customDnsConfigs once it is approved [?]; recorded: none where the service has none.",
    "The state of a connection that its service removed is Disconnected, without a description [?].",
  ],
};

function acceptSubnet(
  properties: JsonObject,
  id: string,
  location: string,
  existing: Resource | undefined,
  { store }: World,
): string {
  const wanted = reference(properties, "subnet");
  if (wanted === undefined) throw missingField("properties.subnet", id);
  const held = existing && reference(existing.properties, "subnet");
  // The words are those of Azure's page on endpoints of PostgreSQL servers.
  if (held !== undefined && held.toLowerCase() !== wanted.toLowerCase())
    throw new Refusal(
      400,
      "CannotChangeSubnetOnExistingPrivateEndpoint",
      `Cannot change the subnet in which the network interface for private endpoint ${id} is created. Current subnet: '${held}.' Requested subnet: '${wanted}.'`,
    );
  const network = store.get(parentOf(wanted.toLowerCase()));
  const place = network?.top.location;
  if (!network || typeof place !== "string" || regionName(place) !== regionName(location))
    throw badReference(wanted.slice(0, wanted.toLowerCase().lastIndexOf("/subnets/")), id);
  const subnet = store.get(wanted);
  if (!subnet) throw badReference(wanted, id);
  return subnet.id;
}

function acceptInterface(
  wanted: string,
  {
    existing,
    id,
    name,
    world,
  }: { existing: Resource | undefined; id: string; name: string; world: World },
): string {
  if (existing) {
    const held = String(existing.properties.customNetworkInterfaceName ?? "");
    if (wanted.toLowerCase() === held.toLowerCase()) return interfaceOf(existing.properties);
    throw new Refusal(
      400,
      "CannotChangeCustomNetworkInterfaceNameOnExistingPrivateEndpoint",
      `Cannot change the network interface name of private endpoint ${id} from '${held}' to '${wanted}'.`,
    );
  }
  if (wanted === "") return interfaceId(id, `${name}.nic.${world.guid()}`);
  checkNetworkName(wanted);
  const nicId = interfaceId(id, wanted);
  if (world.store.get(nicId))
    throw new Refusal(
      400,
      "PrivateEndpointCustomNetworkInterfaceNameInUse",
      `Private endpoint ${id} cannot make network interface ${nicId} since it exists already.`,
    );
  return nicId;
}

function acceptAddresses(properties: JsonObject): JsonObject[] {
  return objects(properties, "ipConfigurations").map((each) => {
    const fields = object(each, "properties") ?? {};
    return {
      name: text(each, "name", ""),
      type: "Microsoft.Network/privateEndpoints/ipConfigurations",
      properties: defined({
        groupId: text(fields, "groupId", undefined),
        memberName: text(fields, "memberName", undefined),
        privateIPAddress: text(fields, "privateIPAddress", undefined),
      }),
    };
  });
}

function addressesFor(
  endpoint: Pick<Resource, "id" | "properties">,
  nicId: string,
  world: World,
): InterfaceAddress[] {
  const subnet = reference(endpoint.properties, "subnet") ?? "";
  const [asked] = objects(endpoint.properties, "ipConfigurations");
  const wanted = asked && text(object(asked, "properties") ?? {}, "privateIPAddress", undefined);
  const [before] = objects(world.store.get(nicId)?.properties ?? {}, "ipConfigurations");
  const held = before && object(before, "properties")?.privateIPAddress;
  const address = draftAddresses(world, [endpoint.id, nicId]).take({
    subnet,
    wanted,
    held: typeof held === "string" ? held : undefined,
    asker: `${nicId}/ipConfigurations/privateEndpointIpConfig`,
  });
  const name = `privateEndpointIpConfig.${String(endpoint.properties.resourceGuid)}`;
  return [
    { name, subnet, address, primary: true, version: "IPv4", isStatic: wanted !== undefined },
  ];
}

function shown(endpoint: Resource, list: ConnectionList, { store }: World): JsonObject[] {
  return endpointConnections(endpoint, list).map(({ entry, fields, connection }) => ({
    name: entry.name,
    id: entry.id,
    etag: `W/"${endpoint.etag}"`,
    properties: {
      provisioningState: "Succeeded",
      ...fields,
      privateLinkServiceConnectionState: shownState(endpoint, stateOf(connection, store)),
    },
    type: entry.type,
  }));
}

/** Recorded: the words of an account are shown once the endpoint is written. */
function shownState(endpoint: Resource, state: JsonObject): JsonObject {
  const isEarly = endpoint.state === "Updating" && state.description === "Auto-Approved";
  return isEarly ? { ...state, description: "Auto Approved" } : state;
}

function interfaces(endpoint: Resource, world: World, query: URLSearchParams): JsonObject[] {
  const { store } = world;
  const expand = query.get("$expand")?.toLowerCase().split(",") ?? [];
  return objects(endpoint.properties, "networkInterfaces").map((each) => {
    const nic = expand.includes("networkinterfaces") ? store.get(text(each, "id", "")) : undefined;
    if (!nic) return { id: each.id };
    return show(nic, networkInterfaces, world, query, etagOf(nic, networkInterfaces));
  });
}

function interfaceOf(properties: JsonObject): string {
  const [first] = objects(properties, "networkInterfaces");
  return isObject(first) ? text(first, "id", "") : "";
}
