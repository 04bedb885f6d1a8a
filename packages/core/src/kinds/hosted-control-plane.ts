import { type Static, Type } from "typebox";
import type { KubeObject } from "../kind.ts";
import { conditionList } from "./condition.ts";
import { age, type Definition } from "./definition.ts";
import { controlPlaneEndpoint, hostedFields, hostedTransitions } from "./hosted.ts";
import { keepUnknown, rules } from "./schema.ts";

const spec = Type.Object(hostedFields, {
  description: "The desired state of the control plane.",
  ...keepUnknown,
  ...rules(...hostedTransitions),
});

const status = Type.Object(
  {
    conditions: Type.Optional(conditionList({ maxItems: 100 })),
    controlPlaneEndpoint: Type.Optional(controlPlaneEndpoint),
    ready: Type.Optional(Type.Boolean({ description: "The observed state of the control plane." })),
  },
  { description: "The observed state of the control plane.", ...keepUnknown },
);

/** The part of HyperShift's HostedControlPlane that Postern reads and writes. */
export interface HostedControlPlane extends KubeObject {
  spec: Static<typeof spec>;
  status?: Static<typeof status>;
}

/** The kind `HostedControlPlane`, in so far as Postern reads and writes it. */
export const hostedControlPlane: Definition<HostedControlPlane> = {
  group: "hypershift.openshift.io",
  version: "v1beta1",
  kind: "HostedControlPlane",
  plural: "hostedcontrolplanes",
  singular: "hostedcontrolplane",
  shortNames: ["hcp", "hcps"],
  namespaced: true,
  description: "The control plane of a hosted cluster, in the namespace where it runs.",
  columns: [
    { name: "Topology", type: "string", jsonPath: ".spec.platform.azure.topology" },
    { name: "Endpoint", type: "string", jsonPath: ".status.controlPlaneEndpoint.host" },
    age,
  ],
  spec,
  status,
  standIn: true,
};
