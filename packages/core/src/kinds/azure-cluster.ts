import { type Static, Type } from "typebox";
import type { KubeObject } from "../kind.ts";
import { identityReference } from "./azure-cluster-identity.ts";
import { networkSpec } from "./azure-cluster-network.ts";
import { capiConditions } from "./capi-condition.ts";
import { apiEndpoint } from "./capi-endpoint.ts";
import { age, type Definition, type PrinterColumn, statusOf } from "./definition.ts";
import { immutable, keepUnknown, rules, text, textMap } from "./schema.ts";

const spec = Type.Object(
  {
    location: text("The region of the cluster.", { maxLength: 255 }, immutable("location")),
    resourceGroup: Type.Optional(
      text(
        "The resource group. Default: the name of the cluster.",
        { maxLength: 90 },
        immutable("resourceGroup"),
      ),
    ),
    subscriptionID: Type.Optional(
      text("The subscription.", { maxLength: 64 }, immutable("subscriptionID")),
    ),
    azureEnvironment: Type.Optional(
      text(
        "The cloud, such as AzurePublicCloud.",
        { maxLength: 63 },
        immutable("azureEnvironment"),
      ),
    ),
    // Optional although CAPZ now asks for it: clusters from before that are still there without one.
    identityRef: Type.Optional(
      Type.Object(identityReference, {
        description: "The AzureClusterIdentity that is used for the cluster.",
        ...keepUnknown,
        "x-kubernetes-map-type": "atomic",
        ...rules({
          rule: "self.?kind.orValue('') == 'AzureClusterIdentity'",
          message: "identityRef must name an AzureClusterIdentity: set its kind",
          fieldPath: ".kind",
        }),
      }),
    ),
    networkSpec: Type.Optional(networkSpec),
    controlPlaneEnabled: Type.Optional(
      Type.Boolean({ description: "False if CAPZ does not run the control plane." }),
    ),
    controlPlaneEndpoint: Type.Optional(apiEndpoint),
    additionalTags: Type.Optional(textMap("Tags of all resources that are created in Azure.")),
  },
  { description: "The desired state of the cluster.", ...keepUnknown },
);

const status = Type.Object(
  {
    ready: Type.Optional(Type.Boolean({ description: "Whether all resources exist." })),
    conditions: Type.Optional(capiConditions),
  },
  { description: "The observed state of the cluster.", ...keepUnknown },
);

/** The part of CAPZ's AzureCluster that Postern reads and writes. */
export interface AzureCluster extends KubeObject {
  spec: Static<typeof spec>;
  status?: Static<typeof status>;
}

const wide = (name: string, jsonPath: string): PrinterColumn => ({
  name,
  type: "string",
  jsonPath,
  priority: 1,
});
const ready = '.status.conditions[?(@.type=="Ready")]';

/** The kind `AzureCluster`, in so far as Postern reads and writes it. */
export const azureCluster: Definition<AzureCluster> = {
  group: "infrastructure.cluster.x-k8s.io",
  version: "v1beta1",
  kind: "AzureCluster",
  plural: "azureclusters",
  singular: "azurecluster",
  shortNames: [],
  categories: ["cluster-api"],
  namespaced: true,
  conditionList: "whole",
  description: "The Azure infrastructure of a Cluster API cluster.",
  columns: [
    {
      name: "Cluster",
      type: "string",
      jsonPath: ".metadata.labels.cluster\\.x-k8s\\.io/cluster-name",
    },
    { name: "Ready", type: "string", jsonPath: statusOf("Ready") },
    { name: "Reason", type: "string", jsonPath: `${ready}.reason` },
    wide("Message", `${ready}.message`),
    wide("Resource Group", ".spec.resourceGroup"),
    wide("SubscriptionID", ".spec.subscriptionID"),
    wide("Location", ".spec.location"),
    wide("Endpoint", ".spec.controlPlaneEndpoint.host"),
    age,
  ],
  spec,
  status,
  rules: [
    {
      rule: "self.metadata.name.matches('^[a-z0-9][a-z0-9-]{0,42}[a-z0-9]$')",
      message:
        "the name of an AzureCluster must have 2 to 44 lower-case letters, digits and inner hyphens: choose another",
    },
  ],
  standIn: true,
};
