import { type Static, Type } from "typebox";
import type { KubeObject } from "../kind.ts";
import { identityReference } from "./azure-cluster-identity.ts";
import { capiConditions } from "./capi-condition.ts";
import { age, type Definition, statusOf } from "./definition.ts";
import { immutable, keepUnknown, text } from "./schema.ts";

const spec = Type.Object(
  {
    location: text("The region of the cluster.", { maxLength: 255 }, immutable("location")),
    subscriptionID: Type.Optional(
      text("The subscription.", { maxLength: 64 }, immutable("subscriptionID")),
    ),
    identityRef: Type.Optional(
      Type.Object(identityReference, {
        description: "The AzureClusterIdentity that is used for the cluster.",
        ...keepUnknown,
        "x-kubernetes-map-type": "atomic",
      }),
    ),
  },
  { description: "The desired state of the control plane.", ...keepUnknown },
);

const status = Type.Object(
  { conditions: Type.Optional(capiConditions) },
  { description: "The observed state of the control plane.", ...keepUnknown },
);

/** The part of CAPZ's AzureManagedControlPlane that Postern reads. */
export interface AzureManagedControlPlane extends KubeObject {
  spec: Static<typeof spec>;
  status?: Static<typeof status>;
}

/** The kind `AzureManagedControlPlane`, in so far as Postern reads it. */
export const azureManagedControlPlane: Definition<AzureManagedControlPlane> = {
  group: "infrastructure.cluster.x-k8s.io",
  version: "v1beta1",
  kind: "AzureManagedControlPlane",
  plural: "azuremanagedcontrolplanes",
  singular: "azuremanagedcontrolplane",
  shortNames: ["amcp"],
  categories: ["cluster-api"],
  namespaced: true,
  conditionList: "whole",
  description:
    "The control plane of a cluster of AKS, as CAPZ had it before AzureASOManagedControlPlane.",
  columns: [
    {
      name: "Cluster",
      type: "string",
      jsonPath: ".metadata.labels.cluster\\.x-k8s\\.io/cluster-name",
    },
    { name: "Ready", type: "string", jsonPath: statusOf("Ready") },
    age,
  ],
  spec,
  status,
  standIn: true,
};
