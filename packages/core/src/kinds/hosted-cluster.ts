import { type Static, Type } from "typebox";
import type { KubeObject } from "../kind.ts";
import { conditionList } from "./condition.ts";
import { age, type Definition, statusOf } from "./definition.ts";
import { controlPlaneEndpoint, hostedFields, hostedTransitions } from "./hosted.ts";
import { keepUnknown, type Rule, rules } from "./schema.ts";

const byWorkloadIdentities =
  "(has(self.platform.azure) && self.platform.azure.azureAuthenticationConfig.azureAuthenticationConfigType == 'WorkloadIdentities')";

const published = (service: string, allowed: string) =>
  `self.platform.type != 'Azure' || !has(self.services) || self.services.all(s, s.service != '${service}' || ${allowed})`;

const isRoute = "s.servicePublishingStrategy.type == 'Route'";
const isLoadBalancer = "s.servicePublishingStrategy.type == 'LoadBalancer'";

const isPrivateLink =
  "has(self.platform.azure) && ((has(self.platform.azure.private) && self.platform.azure.private.type == 'PrivateLink') || (has(self.platform.azure.endpointAccess) && self.platform.azure.endpointAccess.type != 'Public'))";

/** Each part that goes through the router behind the private link is published as a Route. */
const publishing: Rule[] = [
  ...["Konnectivity", "Ignition"].map((service) => ({
    rule: published(service, isRoute),
    message: `${service} must be published as Route on Azure: set its type to Route`,
    fieldPath: ".services",
  })),
  {
    rule: published("OAuthServer", `${isRoute} || (${isLoadBalancer} && ${byWorkloadIdentities})`),
    message:
      "OAuthServer must be published as Route on Azure, or as LoadBalancer with WorkloadIdentities: set its type",
    fieldPath: ".services",
  },
  {
    // Of a cluster that exists the services cannot change, so any update of it would be rejected.
    rule: `oldSelf.hasValue() || !(${isPrivateLink}) || ${published("APIServer", `!(${isLoadBalancer})`)}`,
    message:
      "APIServer cannot be published as LoadBalancer behind a private link, which serves the router's port only: set its type to Route",
    fieldPath: ".services",
    optionalOldSelf: true,
  },
  {
    rule: "self.platform.type == 'IBMCloud' || (has(self.services) == has(oldSelf.services) && (!has(self.services) || self.services == oldSelf.services))",
    message:
      "services cannot change once the cluster is created: restore the old ones, or create a new cluster",
    fieldPath: ".services",
  },
];

const spec = Type.Object(hostedFields, {
  description: "The desired state of the cluster.",
  ...keepUnknown,
  ...rules(...publishing, ...hostedTransitions),
});

const status = Type.Object(
  {
    conditions: Type.Optional(conditionList({ maxItems: 100 })),
    controlPlaneEndpoint: Type.Optional(controlPlaneEndpoint),
  },
  { description: "The observed state of the cluster.", ...keepUnknown },
);

/** The part of HyperShift's HostedCluster that Postern reads and writes. */
export interface HostedCluster extends KubeObject {
  spec: Static<typeof spec>;
  status?: Static<typeof status>;
}

/** The kind `HostedCluster`, in so far as Postern reads and writes it. */
export const hostedCluster: Definition<HostedCluster> = {
  group: "hypershift.openshift.io",
  version: "v1beta1",
  kind: "HostedCluster",
  plural: "hostedclusters",
  singular: "hostedcluster",
  shortNames: ["hc", "hcs"],
  namespaced: true,
  description: "A cluster whose control plane runs as pods in the management cluster.",
  columns: [
    { name: "Topology", type: "string", jsonPath: ".spec.platform.azure.topology" },
    {
      name: "Private Link",
      type: "string",
      jsonPath: statusOf("AzurePrivateLinkServiceAvailable"),
    },
    { name: "Endpoint", type: "string", jsonPath: ".status.controlPlaneEndpoint.host" },
    age,
  ],
  spec,
  status,
  standIn: true,
};
