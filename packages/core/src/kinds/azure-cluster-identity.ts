import { type Static, Type } from "typebox";
import type { KubeObject } from "../kind.ts";
import { capiConditions } from "./capi-condition.ts";
import { age, type Definition } from "./definition.ts";
import { immutable, keepUnknown, oneOf, orNull, rules, text, textMap } from "./schema.ts";

/** The fields of a reference to an identity. */
export const identityReference = {
  apiVersion: Type.Optional(text("The version of its kind.", { maxLength: 316 })),
  kind: Type.Optional(text("Its kind.", { maxLength: 63 })),
  name: Type.Optional(text("Its name.", { maxLength: 253 })),
  namespace: Type.Optional(text("Its namespace. Absent: that of the cluster.", { maxLength: 63 })),
};

const selector = Type.Object(
  {
    matchLabels: Type.Optional(textMap("Labels that a namespace must have.")),
    matchExpressions: Type.Optional(
      Type.Array(
        Type.Object(
          {
            key: Type.String({ description: "The label." }),
            operator: Type.String({ description: "In, NotIn, Exists or DoesNotExist." }),
            values: Type.Optional(Type.Array(Type.String(), { description: "Its values." })),
          },
          { description: "One claim." },
        ),
        { description: "Claims that must all hold." },
      ),
    ),
  },
  { description: "Namespaces by label.", "x-kubernetes-map-type": "atomic" },
);

const allowedNamespaces = Type.Object(
  {
    list: Type.Optional(orNull(Type.Array(Type.String(), { description: "Namespaces by name." }))),
    selector: Type.Optional(selector),
  },
  {
    description:
      "Whose clusters may use it, by name or by label. Absent: those of no namespace; empty: those of all.",
    ...keepUnknown,
  },
);

const spec = Type.Object(
  {
    type: oneOf(
      [
        "ServicePrincipal",
        "UserAssignedMSI",
        "ManualServicePrincipal",
        "ServicePrincipalCertificate",
        "WorkloadIdentity",
        "UserAssignedIdentityCredential",
      ],
      "How it proves who it is.",
      rules(immutable("type")),
    ),
    clientID: Type.String({ description: "Its client id." }),
    tenantID: Type.String({ description: "Its tenant." }),
    resourceID: Type.Optional(
      Type.String({ description: "The id in Azure of a UserAssignedMSI. No longer used." }),
    ),
    clientSecret: Type.Optional(
      Type.Object(
        {
          name: Type.Optional(Type.String({ description: "The name of the Secret." })),
          namespace: Type.Optional(Type.String({ description: "Its namespace." })),
        },
        {
          description: "The Secret with its password or certificate.",
          ...keepUnknown,
          "x-kubernetes-map-type": "atomic",
        },
      ),
    ),
    certPath: Type.Optional(
      Type.String({ description: "The file with its certificate; goes before clientSecret." }),
    ),
    userAssignedIdentityCredentialsPath: Type.Optional(
      Type.String({ description: "The file of a UserAssignedIdentityCredential." }),
    ),
    userAssignedIdentityCredentialsCloudType: Type.Optional(
      Type.String({ description: "The cloud of that file: public, china or usgovernment." }),
    ),
    allowedNamespaces: Type.Optional(orNull(allowedNamespaces)),
  },
  { description: "Who it is.", ...keepUnknown },
);

const status = Type.Object(
  { conditions: Type.Optional(capiConditions) },
  { description: "What is known about it.", ...keepUnknown },
);

/** The part of CAPZ's AzureClusterIdentity that Postern reads. */
export interface AzureClusterIdentity extends KubeObject {
  spec: Static<typeof spec>;
  status?: Static<typeof status>;
}

/** The kind `AzureClusterIdentity`, in so far as Postern reads it. */
export const azureClusterIdentity: Definition<AzureClusterIdentity> = {
  group: "infrastructure.cluster.x-k8s.io",
  version: "v1beta1",
  kind: "AzureClusterIdentity",
  plural: "azureclusteridentities",
  singular: "azureclusteridentity",
  shortNames: [],
  categories: ["cluster-api"],
  namespaced: true,
  conditionList: "whole",
  description: "Who acts in Azure for clusters of Cluster API.",
  columns: [{ name: "Type", type: "string", jsonPath: ".spec.type" }, age],
  spec,
  status,
  standIn: true,
};
