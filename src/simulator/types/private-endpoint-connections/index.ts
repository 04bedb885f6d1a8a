import { isObject, object, oneOf, text } from "../../fields.ts";
import { Refusal } from "../../refusal.ts";
import type { ResourceType, World } from "../../resource-type.ts";
import type { Resource } from "../../store.ts";
import { followEndpoint } from "../private-dns-zone-groups/records.ts";
import { connectionType, touch } from "./connection.ts";

const decisions = ["Approved", "Rejected", "Removed", "Pending"] as const;

/** Connections of endpoints to a private link service. They come with endpoints; the owner decides on them. */
export const privateEndpointConnections: ResourceType = {
  type: connectionType,
  dialect: "network",
  within: "parent",
  put: "sync",
  delete: "async",
  accept({ properties, existing, id }) {
    if (!existing) throw new Refusal(404, "NotFound", `Resource ${id} not found.`);
    const held = object(existing.properties, "privateLinkServiceConnectionState") ?? {};
    const given = object(properties, "privateLinkServiceConnectionState") ?? {};
    const status = oneOf(given, "status", decisions, undefined) ?? String(held.status);
    if (status === "Pending" && held.status !== "Pending")
      throw new Refusal(
        400,
        "PrivateEndpointConnectionStateCannotBeChanged",
        `The state of private endpoint connection ${id} cannot be changed from ${held.status} to Pending.`,
      );
    return {
      properties: {
        ...existing.properties,
        privateLinkServiceConnectionState: {
          status,
          description: text(given, "description", String(held.description ?? "")),
          actionsRequired: text(given, "actionsRequired", String(held.actionsRequired ?? "None")),
        },
      },
    };
  },
  written(connection, _before, world) {
    tellEndpoint(connection, world);
  },
  deleted(connection, world) {
    tellEndpoint(connection, world);
  },
  differences: [
    "Any decision can follow any other but Pending [?].",
    "Names are of the endpoint and its guid, linkIdentifier is made from that guid [P].",
  ],
};

/** The endpoint shows what is decided here, so it changes with it. */
function tellEndpoint({ properties }: Resource, world: World): void {
  const { privateEndpoint } = properties;
  const id = isObject(privateEndpoint) ? privateEndpoint.id : undefined;
  const endpoint = typeof id === "string" ? world.store.get(id) : undefined;
  if (!endpoint) return;
  touch(endpoint, world.store);
  followEndpoint(endpoint, world);
}
