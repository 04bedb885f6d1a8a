import { type Static, Type } from "typebox";
import type { KubeObject } from "../kind.ts";
import { age, type Definition } from "./definition.ts";
import { keepUnknown } from "./schema.ts";

/** An object of Azure Service Operator inside of another. Nobody checks it there. */
export interface EmbeddedResource {
  apiVersion?: string;
  kind?: string;
  metadata?: { name?: string; annotations?: Record<string, string> };
}

const resources = Type.Optional(
  Type.Array(
    Type.Unsafe<EmbeddedResource>({
      type: "object",
      description: "An object of Azure Service Operator.",
      ...keepUnknown,
    }),
    { description: "The resources that CAPZ creates through Azure Service Operator." },
  ),
);

const endpoint = Type.Optional(
  Type.Object(
    {
      host: Type.Optional(Type.String({ description: "The hostname or address.", maxLength: 512 })),
      port: Type.Optional(Type.Integer({ description: "The port.", format: "int32" })),
    },
    { description: "The endpoint of the API server.", ...keepUnknown },
  ),
);

const ready = Type.Optional(Type.Boolean({ description: "Whether all resources exist." }));

const clusterSpec = Type.Object(
  { resources, controlPlaneEndpoint: endpoint },
  { description: "The desired state of the cluster.", ...keepUnknown },
);
/** Without conditions, as CAPZ's: nobody can leave one here. */
const clusterStatus = Type.Object(
  { ready },
  { description: "The observed state of the cluster.", ...keepUnknown },
);

/** The part of CAPZ's AzureASOManagedCluster that Postern reads and writes: a cluster of AKS. */
export interface AzureAsoManagedCluster extends KubeObject {
  spec: Static<typeof clusterSpec>;
  status?: Static<typeof clusterStatus>;
}

const shared = {
  group: "infrastructure.cluster.x-k8s.io",
  version: "v1beta1",
  shortNames: [],
  namespaced: true,
  standIn: true,
} as const;

/** The kind `AzureASOManagedCluster`, in so far as Postern reads and writes it. */
export const azureAsoManagedCluster: Definition<AzureAsoManagedCluster> = {
  ...shared,
  kind: "AzureASOManagedCluster",
  plural: "azureasomanagedclusters",
  singular: "azureasomanagedcluster",
  description: "The infrastructure of an AKS cluster.",
  columns: [age],
  spec: clusterSpec,
  status: clusterStatus,
};

const controlPlaneSpec = Type.Object(
  { resources, version: Type.Optional(Type.String({ description: "The version of Kubernetes." })) },
  { description: "The desired state of the control plane.", ...keepUnknown },
);
const controlPlaneStatus = Type.Object(
  { ready, controlPlaneEndpoint: endpoint },
  { description: "The observed state of the control plane.", ...keepUnknown },
);

/** The part of CAPZ's AzureASOManagedControlPlane that Postern reads. */
export interface AzureAsoManagedControlPlane extends KubeObject {
  spec: Static<typeof controlPlaneSpec>;
  status?: Static<typeof controlPlaneStatus>;
}

/** The kind `AzureASOManagedControlPlane`, in so far as Postern reads it. */
export const azureAsoManagedControlPlane: Definition<AzureAsoManagedControlPlane> = {
  ...shared,
  kind: "AzureASOManagedControlPlane",
  plural: "azureasomanagedcontrolplanes",
  singular: "azureasomanagedcontrolplane",
  description: "The control plane of an AKS cluster.",
  columns: [age],
  spec: controlPlaneSpec,
  status: controlPlaneStatus,
};
