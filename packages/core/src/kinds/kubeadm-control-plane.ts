import { type Static, Type } from "typebox";
import type { KubeObject } from "../kind.ts";
import { conditionList } from "./condition.ts";
import { age, type Definition, statusOf } from "./definition.ts";
import { keepUnknown } from "./schema.ts";

const spec = Type.Object(
  {
    replicas: Type.Optional(
      Type.Integer({ description: "How many machines it is to have.", format: "int32" }),
    ),
    version: Type.Optional(
      Type.String({ description: "The version of Kubernetes.", minLength: 1, maxLength: 256 }),
    ),
  },
  { description: "What the control plane is to be.", ...keepUnknown },
);

const status = Type.Object(
  {
    initialization: Type.Optional(
      Type.Object(
        {
          controlPlaneInitialized: Type.Optional(
            Type.Boolean({ description: "Whether the API server has ever answered." }),
          ),
        },
        { description: "How its beginning went.", minProperties: 1, ...keepUnknown },
      ),
    ),
    conditions: Type.Optional(conditionList({ maxItems: 32 })),
  },
  { description: "What the control plane is.", minProperties: 1, ...keepUnknown },
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
  description: "The control plane of a cluster of Cluster API, set up by kubeadm.",
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
