import { lastSegment } from "@postern/core/resource-id.ts";
import { defined, object, objects, text, texts } from "../../arm/fields.ts";
import { checkNetworkName } from "../../arm/links.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { Join, World, Writing } from "../../arm/resource-type.ts";
import { type JsonObject, parentOf, type Resource } from "../../state/store.ts";
import {
  connectionName,
  makeConnection,
  touch,
} from "../private-endpoint-connections/connection.ts";
import {
  isAlias,
  isAutoApproved,
  isVisible,
  serviceOf,
  serviceType,
} from "../private-link-services/aliases.ts";
import { missingField } from "../private-link-services/refusals.ts";
import { storageType, subresources } from "../storage-accounts/subresources.ts";
import { type ConnectionList, connectionLists, endpointConnections } from "./endpoint.ts";

const longestMessage = 140;

/** What an endpoint can lead to. */
const targets = [serviceType, storageType];

/** A connection as it is asked for. */
interface Asked {
  list: ConnectionList;
  name: string;
  target: string;
  groupIds: string[] | undefined;
  requestMessage: string | undefined;
}

/** The right that Resource Manager asks for where a connection is to be approved by the one who makes it. */
export function approvalsIn(properties: JsonObject): Join[] {
  return asked(properties)
    .filter(({ list, target }) => list === "privateLinkServiceConnections" && !isAlias(target))
    .map(({ target }) => ({
      id: target,
      action: `${typeIn(target)}/PrivateEndpointConnectionsApproval/action`,
    }));
}

/** Read the connection of an endpoint, and refuse what Azure refuses of it. */
export function acceptConnections(
  writing: Writing,
  guid: string,
): Record<ConnectionList, JsonObject[]> {
  const { properties, id, existing } = writing;
  const wanted = asked(properties);
  if (existing) {
    checkSame(wanted, existing, id);
    return both((list) => objects(existing.properties, list));
  }
  if (wanted.length !== 1)
    throw new Refusal(
      400,
      "PrivateEndpointMustHaveOneConnection",
      `Private endpoint ${id} has ${wanted.length} private link service connections. It must have exactly one.`,
    );
  for (const each of wanted) checkAsked(each, id);
  return both((list) =>
    wanted.filter((each) => each.list === list).map((each) => connected(each, writing, guid)),
  );
}

/** Make the connections of a new endpoint at their services. */
export function connect(endpoint: Resource, world: World): void {
  for (const list of connectionLists)
    for (const { entry, service, connection } of endpointConnections(endpoint, list)) {
      const found = world.store.get(service);
      if (!found) continue;
      const status = String(object(entry, "leads")?.status);
      // Recorded: accounts write the words with a hyphen.
      const approved = found.type === storageType ? "Auto-Approved" : "Auto Approved";
      const state = {
        status,
        description: status === "Approved" ? approved : "Awaiting approval",
        actionsRequired: "None",
      };
      const name = lastSegment(connection);
      makeConnection(found, name, endpoint, state, world.store);
    }
}

/** Take the connections of an endpoint that has gone away from their services. */
export function disconnect(endpoint: Resource, world: World): void {
  const { store } = world;
  for (const list of connectionLists)
    for (const { connection } of endpointConnections(endpoint, list)) {
      if (!store.get(connection)) continue;
      const service = store.get(parentOf(connection.toLowerCase()));
      store.remove(connection.toLowerCase());
      if (service) touch(service, store);
    }
}

function connected(
  { list, name, target, groupIds, requestMessage }: Asked,
  writing: Writing,
  guid: string,
): JsonObject {
  const { id, address, name: endpoint } = writing;
  const service = visibleService({ target, groupIds }, writing);
  const subscription = address.subscription ?? "";
  // The right to approve was a condition of the write.
  const brought = list === "privateLinkServiceConnections";
  return {
    name,
    id: `${id}/${list}/${name}`,
    type: `Microsoft.Network/privateEndpoints/${list}`,
    properties: defined({ privateLinkServiceId: target, groupIds, requestMessage }),
    leads: {
      service: service.key,
      connection: `${service.key}/privateendpointconnections/${connectionName(endpoint, guid)}`,
      status: brought || isAutoApproved(service, subscription) ? "Approved" : "Pending",
    },
  };
}

function visibleService(
  { target, groupIds = [] }: Pick<Asked, "target" | "groupIds">,
  { world, asker, address, id }: Writing,
): Resource {
  const { store } = world;
  const byAlias = isAlias(target);
  const type = byAlias ? serviceType : targets.find((each) => same(each, typeIn(target)));
  if (type === undefined)
    // hashicorp/terraform-provider-azurerm#11377
    throw new Refusal(
      400,
      "InvalidPrivateLinkServiceIdType",
      `Private link service Id ${target} has an invalid resource type. Permitted type(s): ${targets.join(",")}.`,
    );
  if (type === storageType) checkGroups(groupIds, id);
  const service = byAlias ? serviceOf(target, store) : store.get(target);
  const seen =
    service !== undefined &&
    service.state !== "Deleting" &&
    (isVisible(service, address.subscription ?? "") ||
      // Who may read it needs no listing: "role-based access control only" is the default.
      (!byAlias && world.allowed(asker, `${type}/read`, service.key)));
  if (seen) return service;
  // The code is that of Azure/azure-powershell#24514, of whose words the beginning is known.
  throw new Refusal(
    400,
    "ThirdPartyPrivateLinkServiceProvidedDuringPrivateEndpointCreationDoesNotExistOrIsNotVisible",
    `Third-party Private Link Service ${byAlias ? "Alias" : "Id"} ${target} provided during the creation of private endpoint ${id} does not exist or is not visible.`,
  );
}

/** A connection to an account leads to one part of it. */
function checkGroups(groupIds: readonly string[], id: string): void {
  const [first = ""] = groupIds;
  if (
    groupIds.length === 1 &&
    subresources.includes(first.replace(/_secondary$/i, "").toLowerCase())
  )
    return;
  throw new Refusal(
    400,
    "PrivateLinkServiceConnectionGroupIdsInvalid",
    `The group ids '${groupIds.join(",").slice(0, 100)}' of a private link service connection of private endpoint ${id} are not valid. One of ${subresources.join(", ")} is required.`,
  );
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

function asked(properties: JsonObject): Asked[] {
  return connectionLists.flatMap((list) =>
    objects(properties, list).map((each) => {
      const fields = object(each, "properties") ?? {};
      return {
        list,
        name: text(each, "name", ""),
        target: text(fields, "privateLinkServiceId", ""),
        groupIds: fields.groupIds ? texts(fields, "groupIds") : undefined,
        requestMessage: text(fields, "requestMessage", undefined),
      };
    }),
  );
}

function checkAsked({ list, name, target, requestMessage }: Asked, id: string): void {
  checkNetworkName(name);
  if (target === "") throw missingField(`properties.${list}.privateLinkServiceId`, id);
  // An alias proves no right to approve (MicrosoftDocs/azure-docs#79906); the code is by analogy.
  if (list === "privateLinkServiceConnections" && isAlias(target))
    throw new Refusal(
      400,
      "PrivateLinkServiceAliasRequiresManualConnection",
      `Private link service connection ${id}/${list}/${name} names an alias. An alias can be connected to by manualPrivateLinkServiceConnections only.`,
    );
  if (requestMessage !== undefined && requestMessage.length > longestMessage)
    throw new Refusal(
      400,
      "PrivateLinkServiceConnectionRequestMessageTooLong",
      `The request message of private link service connection ${id}/${list}/${name} has ${requestMessage.length} characters. It cannot have more than ${longestMessage}.`,
    );
}

/** The words are those of Azure's page on endpoints of PostgreSQL servers. */
function checkSame(wanted: readonly Asked[], existing: Resource, id: string): void {
  const held = connectionLists.flatMap((list) =>
    endpointConnections(existing, list).map(({ entry, fields }) => ({ list, entry, fields })),
  );
  const changed =
    wanted.length !== held.length ||
    held.some(({ list, entry, fields }) => {
      const again = wanted.find((each) => each.list === list && each.name === entry.name);
      return (
        again?.target.toLowerCase() !== String(fields.privateLinkServiceId).toLowerCase() ||
        (again.groupIds ?? []).join() !== texts(fields, "groupIds").join() ||
        (again.requestMessage ?? fields.requestMessage) !== fields.requestMessage
      );
    });
  if (!changed) return;
  throw new Refusal(
    400,
    "CannotChangePrivateLinkConnectionOnPrivateEndpoint",
    `Cannot change the private link connection on private endpoint ${id}. Please ensure you are not updating the details of existing private link connection: '${held[0]?.entry.id}'. That is not allowed.`,
  );
}

function both(of: (list: ConnectionList) => JsonObject[]): Record<ConnectionList, JsonObject[]> {
  return {
    privateLinkServiceConnections: of("privateLinkServiceConnections"),
    manualPrivateLinkServiceConnections: of("manualPrivateLinkServiceConnections"),
  };
}

function typeIn(id: string): string {
  const [provider = "", ...rest] = id
    .slice(id.toLowerCase().lastIndexOf("/providers/") + 11)
    .split("/");
  return [provider, ...rest.filter((_, at) => at % 2 === 0)].join("/");
}
