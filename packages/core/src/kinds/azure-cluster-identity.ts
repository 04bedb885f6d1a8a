import { type Static, Type } from "typebox";
import type { KubeObject } from "../kind.ts";
import { capiConditions } from "./capi-condition.ts";
import { age, type Definition } from "./definition.ts";
import { immutable, keepUnknown, oneOf, orNull, rules, text, textMap } from "./schema.ts";

/** The fields of a reference to an identity. */
export const identityReference = {
  apiVersion: Type.Optional(text("The API version of the identity.", { maxLength: 316 })),
  kind: Type.Optional(text("The kind.", { maxLength: 63 })),
  name: Type.Optional(text("The name.", { maxLength: 253 })),
  namespace: Type.Optional(text("The namespace. Default: that of the cluster.", { maxLength: 63 })),
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
            values: Type.Optional(
              Type.Array(Type.String(), { description: "The values of the label." }),
            ),
          },
          { description: "A requirement." },
        ),
        { description: "Requirements on labels, all of which must hold." },
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
    description: "The namespaces whose clusters may use the identity. Absent: none. Empty: all.",
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
      "The type of the credential.",
      rules(immutable("type")),
    ),
    clientID: Type.String({ description: "The client id." }),
    tenantID: Type.String({ description: "The tenant id." }),
    resourceID: Type.Optional(
      Type.String({ description: "The resource id of a UserAssignedMSI. Deprecated." }),
    ),
    clientSecret: Type.Optional(
      Type.Object(
        {
          name: Type.Optional(Type.String({ description: "The name of the Secret." })),
          namespace: Type.Optional(Type.String({ description: "The namespace." })),
        },
        {
          description: "The Secret that contains the password or the certificate.",
          ...keepUnknown,
          "x-kubernetes-map-type": "atomic",
        },
      ),
    ),
    certPath: Type.Optional(
      Type.String({
        description: "The file that contains the certificate. Takes precedence over clientSecret.",
      }),
    ),
    userAssignedIdentityCredentialsPath: Type.Optional(
      Type.String({ description: "The file of a UserAssignedIdentityCredential." }),
    ),
    userAssignedIdentityCredentialsCloudType: Type.Optional(
      Type.String({ description: "The cloud of that file: public, china or usgovernment." }),
    ),
    allowedNamespaces: Type.Optional(orNull(allowedNamespaces)),
  },
  { description: "The identity.", ...keepUnknown },
);

const status = Type.Object(
  { conditions: Type.Optional(capiConditions) },
  { description: "The observed state.", ...keepUnknown },
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
  description: "An identity that Cluster API clusters use in Azure.",
  columns: [{ name: "Type", type: "string", jsonPath: ".spec.type" }, age],
  spec,
  status,
  standIn: true,
};
