import { object, oneOf, text } from "../../arm/fields.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { ResourceType } from "../../arm/resource-type.ts";
import { since } from "../../arm/show.ts";
import { connectionType, stateBefore } from "./connection.ts";
import { updateEndpoint } from "./update-endpoint.ts";

const decisions = ["Approved", "Rejected", "Removed", "Pending"] as const;

/** Connections of endpoints to a private link service. They come with endpoints; the owner decides on them. */
export const privateEndpointConnections: ResourceType = {
  type: connectionType,
  dialect: "network",
  within: "parent",
  put: "async",
  delete: "async",
  accept({ properties, existing, id }) {
    if (!existing) throw new Refusal(404, "NotFound", `Resource ${id} not found.`);
    const { before: _before, ...rest } = existing.properties;
    // While a decision is carried out, what was before it still holds.
    const held = stateBefore(existing) ?? {};
    const given = object(properties, "privateLinkServiceConnectionState") ?? {};
    const status = oneOf(given, "status", decisions, undefined) ?? String(held.status);
    // Microsoft: a connection that was denied cannot be approved (https://github.com/MicrosoftDocs/azure-docs/issues/115121).
    const again = status === "Approved" && held.status !== "Pending" && held.status !== "Approved";
    if (again || (status === "Pending" && held.status !== "Pending"))
      throw new Refusal(
        400,
        "PrivateEndpointConnectionStateCannotBeChanged",
        `The state of private endpoint connection ${id} cannot be changed from ${held.status} to ${status}.`,
      );
    const state = {
      status,
      description: text(given, "description", String(held.description ?? "")),
      actionsRequired: text(given, "actionsRequired", String(held.actionsRequired ?? "None")),
    };
    const isSame = JSON.stringify(state) === JSON.stringify(held);
    return {
      properties: {
        ...rest,
        privateLinkServiceConnectionState: state,
        ...(!isSame && { before: held }),
      },
    };
  },
  show: (_connection, _world, query) => ({
    before: undefined,
    // Recorded: 2021-05-01 does not show it.
    ...(!since(query, "2022-01-01") && { privateEndpointLocation: undefined }),
  }),
  // The endpoint changes when the operation ends.
  afterProvision(connection, world) {
    const { before, ...properties } = connection.properties;
    if (before === undefined) return;
    connection.properties = properties;
    world.store.put(connection);
    updateEndpoint(connection, world);
  },
  afterFailure(connection, { store }) {
    const { before, ...properties } = connection.properties;
    if (before === undefined) return;
    connection.properties = { ...properties, privateLinkServiceConnectionState: before };
    store.put(connection);
  },
  afterDelete(connection, world) {
    updateEndpoint(connection, world);
  },
  differences: [
    "A connection that was rejected or removed cannot be approved any more [D], with an error code of our own [?].",
    "A failed approval or rejection is reverted, and the connection shows Failed [?].",
    "Names consist of the endpoint and its guid; linkIdentifier is derived from that guid [P].",
  ],
};
