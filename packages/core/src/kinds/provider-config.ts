import { type Static, Type } from "typebox";
import type { KubeObject } from "../kind.ts";
import { age, type Definition } from "./definition.ts";
import { keepUnknown, oneOf } from "./schema.ts";

const spec = Type.Object(
  {
    credentials: Type.Object(
      {
        source: oneOf(
          [
            "None",
            "Secret",
            "UserAssignedManagedIdentity",
            "SystemAssignedManagedIdentity",
            "OIDCTokenFile",
            "Upbound",
            "Filesystem",
          ],
          "The source of the credentials.",
        ),
      },
      { description: "The credentials.", ...keepUnknown },
    ),
    clientID: Type.Optional(Type.String({ description: "The client id of the identity." })),
    subscriptionID: Type.Optional(Type.String({ description: "The subscription." })),
    tenantID: Type.Optional(Type.String({ description: "The tenant." })),
  },
  { description: "The settings with which Crossplane authenticates to Azure.", ...keepUnknown },
);

const status = Type.Object(
  {
    users: Type.Optional(
      Type.Integer({ description: "The number of resources that use it.", format: "int64" }),
    ),
  },
  { description: "The observed state.", ...keepUnknown },
);

/** The part of Crossplane's ProviderConfig for Azure that Postern writes. */
export interface ProviderConfig extends KubeObject {
  spec: Static<typeof spec>;
  status?: Static<typeof status>;
}

/** The kind `ProviderConfig` of Crossplane's provider for Azure, in so far as Postern writes it. */
export const providerConfig: Definition<ProviderConfig> = {
  group: "azure.upbound.io",
  version: "v1beta1",
  kind: "ProviderConfig",
  plural: "providerconfigs",
  singular: "providerconfig",
  shortNames: [],
  categories: ["crossplane", "providerconfig", "azure"],
  namespaced: false,
  description: "The settings with which Crossplane authenticates to Azure for one cluster.",
  columns: [
    { ...age, name: "AGE" },
    {
      name: "SECRET-NAME",
      type: "string",
      jsonPath: ".spec.credentials.secretRef.name",
      priority: 1,
    },
  ],
  spec,
  status,
  standIn: true,
};
