import { Type } from "typebox";
import { azurePlatformSchema } from "./azure-platform.ts";
import {
  immutable,
  irremovable,
  keepUnknown,
  oneOf,
  type Rule,
  rules,
  text,
  uuid,
} from "./schema.ts";

const named = (description: string) =>
  Type.Object(
    { hostname: Type.Optional(text("The name under which it is reached.", { maxLength: 253 })) },
    { description, ...keepUnknown },
  );

const nodePort = Type.Object(
  {
    address: text("The name or address of a node.", { maxLength: 253 }),
    port: Type.Optional(Type.Integer({ description: "The port of the node.", format: "int32" })),
  },
  { description: "Settings of type NodePort.", ...keepUnknown },
);

const services = Type.Array(
  Type.Object(
    {
      service: oneOf(
        ["APIServer", "OAuthServer", "OIDC", "Konnectivity", "Ignition", "OVNSbDb"],
        "What is published.",
      ),
      servicePublishingStrategy: Type.Object(
        {
          type: oneOf(["LoadBalancer", "NodePort", "Route", "None", "S3"], "How it is published."),
          route: Type.Optional(named("Settings of type Route.")),
          loadBalancer: Type.Optional(named("Settings of type LoadBalancer.")),
          nodePort: Type.Optional(nodePort),
        },
        { description: "How it is published.", ...keepUnknown },
      ),
    },
    { description: "One thing that a control plane publishes.", ...keepUnknown },
  ),
  { description: "How the parts of a control plane are published.", maxItems: 6 },
);

const networking = Type.Object(
  {
    apiServer: Type.Optional(
      Type.Object(
        {
          port: Type.Optional(
            Type.Integer({ description: "The port of the API server.", format: "int32" }),
          ),
          allowedCIDRBlocks: Type.Optional(
            Type.Array(Type.String(), {
              description: "From where the public API server may be reached.",
            }),
          ),
        },
        { description: "The network of the API server.", ...keepUnknown },
      ),
    ),
  },
  { description: "The network of the cluster.", ...keepUnknown },
);

const platform = Type.Object(
  {
    type: text("What the cluster runs on, such as Azure.", { maxLength: 63 }),
    azure: Type.Optional(azurePlatformSchema),
  },
  {
    description: "What the cluster runs on.",
    ...keepUnknown,
    ...rules({
      rule: "self.type != 'Azure' || has(self.azure)",
      message: "azure is required with type Azure: add it",
      fieldPath: ".azure",
      reason: "FieldValueRequired",
    }),
  },
);

/** The fields that a HostedCluster and its HostedControlPlane have in common: one is copied to the other. */
export const hostedFields = {
  clusterID: Type.Optional(uuid("The number of the cluster.", immutable("clusterID"))),
  infraID: Type.Optional(
    text(
      "The name of the cluster in the names of what is made for it.",
      { maxLength: 253 },
      immutable("infraID"),
    ),
  ),
  pausedUntil: Type.Optional(
    text("true, or a time in RFC 3339: until then nothing is done.", { maxLength: 35 }),
  ),
  dns: Type.Optional(
    Type.Object(
      {
        baseDomain: Type.Optional(
          text("The domain of the cluster.", { maxLength: 253 }, immutable("dns.baseDomain")),
        ),
      },
      { description: "The names of the cluster.", ...keepUnknown },
    ),
  ),
  services: Type.Optional(services),
  networking: Type.Optional(networking),
  platform,
};

/** The rules about a change of these fields. */
export const hostedTransitions: readonly Rule[] = [irremovable("dns.baseDomain")];

/** Where the API server of a cluster is reached. */
export const controlPlaneEndpoint = Type.Object(
  {
    host: text("The name or address.", { maxLength: 253 }),
    port: Type.Integer({ description: "The port.", format: "int32" }),
  },
  { description: "Where the API server is reached.", ...keepUnknown },
);
