import { defined, object, oneOf, tags, text } from "../../arm/fields.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { ResourceType } from "../../arm/resource-type.ts";
import type { JsonObject, Resource } from "../../state/store.ts";
import { connectionsOf } from "../private-endpoint-connections/connection.ts";
import { storageType, subresources } from "./subresources.ts";

const skus = [
  "Standard_LRS",
  "Standard_GRS",
  "Standard_RAGRS",
  "Standard_ZRS",
  "Standard_GZRS",
  "Standard_RAGZRS",
  "Premium_LRS",
  "Premium_ZRS",
] as const;
const kinds = ["StorageV2", "Storage", "BlobStorage", "BlockBlobStorage", "FileStorage"] as const;

/** Storage accounts, as far as private endpoints need something to lead to. */
export const storageAccounts: ResourceType = {
  type: storageType,
  dialect: "storage",
  within: "resourceGroup",
  put: "sync",
  putsAnew: false,
  delete: "sync",
  accept({ body, properties, name, existing, world }) {
    if (!/^[a-z0-9]{3,24}$/.test(name))
      throw new Refusal(
        400,
        "AccountNameInvalid",
        `${name.slice(0, 100)} is not a valid storage account name. Storage account name must be between 3 and 24 characters in length and use numbers and lower-case letters only.`,
        { by: "gateway" },
      );
    const sku = oneOf(object(body, "sku") ?? {}, "name", skus, skus[0]);
    return {
      top: defined({
        location: existing?.top.location ?? body.location,
        ...tags(body),
        sku: { name: sku, tier: sku.split("_")[0] },
        kind: oneOf(body, "kind", kinds, kinds[0]),
      }),
      properties: {
        accessTier: oneOf(properties, "accessTier", ["Hot", "Cool", "Premium", "Cold"], "Hot"),
        publicNetworkAccess: oneOf(
          properties,
          "publicNetworkAccess",
          ["Enabled", "Disabled"],
          "Enabled",
        ),
        minimumTlsVersion: text(properties, "minimumTlsVersion", "TLS1_2"),
        creationTime: existing?.properties.creationTime ?? new Date(world.now()).toISOString(),
        statusOfPrimary: "available",
      },
    };
  },
  show: (account, { store }) => ({
    primaryLocation: account.top.location,
    privateEndpointConnections: connectionsOf(account, store).map(shownConnection),
  }),
  afterDelete(account, { store }) {
    for (const each of connectionsOf(account, store)) store.remove(each.key);
  },
  views: {
    privateLinkResources: (account) => ({
      value: subresources.map((groupId) => ({
        id: `${account.id}/privateLinkResources/${groupId}`,
        name: groupId,
        type: `${storageType}/privateLinkResources`,
        properties: {
          groupId,
          requiredMembers: [groupId],
          requiredZoneNames: [`privatelink.${groupId}.core.windows.net`],
        },
      })),
    }),
  },
  differences: [
    "An account is only a target for private endpoints: it stores nothing, and has no endpoints, keys or rules.",
    "Creating takes no time and returns 200 or 201; Azure returns 202.",
    "Connections are shown in the account, and cannot be approved, rejected or deleted separately (not done).",
  ],
};

function shownConnection({ id, name, properties, type }: Resource): JsonObject {
  const { privateEndpoint, privateLinkServiceConnectionState } = properties;
  return {
    id,
    name,
    type,
    properties: {
      provisioningState: "Succeeded",
      privateEndpoint,
      privateLinkServiceConnectionState,
    },
  };
}
