import { type Static, Type } from "typebox";
import type { KubeObject } from "../kind.ts";
import { conditionList } from "./condition.ts";
import { age, type Definition, statusOf } from "./definition.ts";
import { keepUnknown, oneOf } from "./schema.ts";

const subdomain = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

const reference = (description: string) =>
  Type.Optional(
    Type.Object(
      {
        apiGroup: Type.String({
          description: "The API group. Any served version is used.",
          minLength: 1,
          maxLength: 253,
          pattern: subdomain,
        }),
        kind: Type.String({
          description: "The kind.",
          minLength: 1,
          maxLength: 63,
          pattern: "^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$",
        }),
        name: Type.String({
          description: "The name, in the namespace of the cluster.",
          minLength: 1,
          maxLength: 253,
          pattern: subdomain,
        }),
      },
      { description, ...keepUnknown },
    ),
  );

const spec = Type.Object(
  {
    paused: Type.Optional(Type.Boolean({ description: "Pauses reconciliation of the cluster." })),
    controlPlaneEndpoint: Type.Optional(
      Type.Object(
        {
          host: Type.Optional(
            Type.String({ description: "The hostname or address.", minLength: 1, maxLength: 512 }),
          ),
          port: Type.Optional(
            Type.Integer({
              description: "The port.",
              format: "int32",
              minimum: 1,
              maximum: 65_535,
            }),
          ),
        },
        { description: "The endpoint of the API server.", minProperties: 1, ...keepUnknown },
      ),
    ),
    infrastructureRef: reference("The infrastructure of the cluster, such as an AzureCluster."),
    controlPlaneRef: reference("The control plane provider, such as a KubeadmControlPlane."),
  },
  { description: "The desired state of the cluster.", minProperties: 1, ...keepUnknown },
);

const status = Type.Object(
  {
    phase: Type.Optional(
      oneOf(
        ["Pending", "Provisioning", "Provisioned", "Deleting", "Failed", "Unknown"],
        "The phase of the cluster.",
      ),
    ),
    conditions: Type.Optional(conditionList({ maxItems: 32 })),
  },
  { description: "The observed state of the cluster.", minProperties: 1, ...keepUnknown },
);

/** The part of Cluster API's Cluster that Postern reads and writes. */
export interface CapiCluster extends KubeObject {
  spec: Static<typeof spec>;
  status?: Static<typeof status>;
}

/** The kind `Cluster` of Cluster API, in so far as Postern reads and writes it. */
export const capiCluster: Definition<CapiCluster> = {
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "Cluster",
  plural: "clusters",
  singular: "cluster",
  shortNames: ["cl"],
  categories: ["cluster-api"],
  namespaced: true,
  description: "A cluster of Cluster API.",
  columns: [
    { name: "ClusterClass", type: "string", jsonPath: ".spec.topology.classRef.name" },
    { name: "Available", type: "string", jsonPath: statusOf("Available") },
    { name: "Paused", type: "boolean", jsonPath: ".spec.paused", priority: 10 },
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    age,
    { name: "Version", type: "string", jsonPath: ".spec.topology.version" },
  ],
  spec,
  status,
  standIn: true,
};
