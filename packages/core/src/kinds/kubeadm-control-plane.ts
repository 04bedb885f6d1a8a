import { type Static, Type } from "typebox";
import type { KubeObject } from "../kind.ts";
import { conditionList } from "./condition.ts";
import { age, type Definition, statusOf } from "./definition.ts";
import { keepUnknown } from "./schema.ts";

const spec = Type.Object(
  {
    replicas: Type.Optional(
      Type.Integer({ description: "The desired number of machines.", format: "int32" }),
    ),
    version: Type.Optional(
      Type.String({ description: "The version of Kubernetes.", minLength: 1, maxLength: 256 }),
    ),
  },
  { description: "The desired state of the control plane.", ...keepUnknown },
);

const status = Type.Object(
  {
    initialization: Type.Optional(
      Type.Object(
        {
          controlPlaneInitialized: Type.Optional(
            Type.Boolean({ description: "Whether the API server has ever been reachable." }),
          ),
        },
        { description: "The state of the initialization.", minProperties: 1, ...keepUnknown },
      ),
    ),
    conditions: Type.Optional(conditionList({ maxItems: 32 })),
  },
  { description: "The observed state of the control plane.", minProperties: 1, ...keepUnknown },
);

/** The part of Cluster API's KubeadmControlPlane that Postern reads. Of its metadata, Postern writes an annotation. */
export interface KubeadmControlPlane extends KubeObject {
  spec: Static<typeof spec>;
  status?: Static<typeof status>;
}

/** The kind `KubeadmControlPlane`, in so far as Postern reads and writes it. */
export const kubeadmControlPlane: Definition<KubeadmControlPlane> = {
  group: "controlplane.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "KubeadmControlPlane",
  plural: "kubeadmcontrolplanes",
  singular: "kubeadmcontrolplane",
  shortNames: ["kcp"],
  categories: ["cluster-api"],
  namespaced: true,
  description: "The control plane of a Cluster API cluster, set up by kubeadm.",
  columns: [
    {
      name: "Cluster",
      type: "string",
      jsonPath: ".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']",
    },
    { name: "Available", type: "string", jsonPath: statusOf("Available") },
    { name: "Desired", type: "integer", jsonPath: ".spec.replicas" },
    {
      name: "Initialized",
      type: "boolean",
      jsonPath: ".status.initialization.controlPlaneInitialized",
      priority: 10,
    },
    age,
    { name: "Version", type: "string", jsonPath: ".spec.version" },
  ],
  spec,
  status,
  standIn: true,
};
