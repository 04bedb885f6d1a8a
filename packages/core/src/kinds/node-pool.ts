import { type Static, Type } from "typebox";
import type { KubeObject } from "../kind.ts";
import { conditionList } from "./condition.ts";
import { age, type Definition } from "./definition.ts";
import { immutable, keepUnknown, resourceId, text } from "./schema.ts";

const azure = Type.Object(
  {
    subnetID: resourceId(
      "Microsoft.Network/virtualNetworks/subnets",
      "The subnet of the pool's machines.",
      { maxLength: 355 },
      immutable("subnetID"),
    ),
  },
  { description: "Settings of the platform Azure.", ...keepUnknown },
);

const spec = Type.Object(
  {
    clusterName: text(
      "The name of the HostedCluster in the same namespace that the machines join.",
      { minLength: 1, maxLength: 253 },
      immutable("clusterName"),
    ),
    platform: Type.Object(
      {
        type: text("The type of the platform, such as Azure.", { maxLength: 63 }),
        azure: Type.Optional(azure),
      },
      { description: "The platform of the machines.", ...keepUnknown },
    ),
  },
  { description: "The desired state of the node pool.", ...keepUnknown },
);

const status = Type.Object(
  { conditions: Type.Optional(conditionList({ maxItems: 100 })) },
  { description: "The observed state of the node pool.", ...keepUnknown },
);

/** The part of HyperShift's NodePool that Postern reads. */
export interface NodePool extends KubeObject {
  spec: Static<typeof spec>;
  status?: Static<typeof status>;
}

/** The kind `NodePool`, in so far as Postern reads it. */
export const nodePool: Definition<NodePool> = {
  group: "hypershift.openshift.io",
  version: "v1beta1",
  kind: "NodePool",
  plural: "nodepools",
  singular: "nodepool",
  shortNames: ["np", "nps"],
  namespaced: true,
  description: "Machines that join a hosted cluster.",
  columns: [{ name: "Cluster", type: "string", jsonPath: ".spec.clusterName" }, age],
  spec,
  status,
  standIn: true,
};
