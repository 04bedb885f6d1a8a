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

const undotted: Rule = {
  rule: "!self.endsWith('.')",
  message: "must not end with a dot: remove it",
};

const named = (description: string) =>
  Type.Object(
    {
      hostname: Type.Optional(
        text("The hostname under which it is reached.", { maxLength: 253 }, undotted),
      ),
    },
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
        "The service.",
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
    { description: "A service of the control plane.", ...keepUnknown },
  ),
  { description: "How the services of the control plane are published.", maxItems: 6 },
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
              description: "CIDR blocks from which the public API server may be reached.",
            }),
          ),
        },
        { description: "The network of the API server.", ...keepUnknown },
      ),
    ),
  },
  { description: "The virtual network of the cluster.", ...keepUnknown },
);

const platform = Type.Object(
  {
    type: text("The type of the platform, such as Azure.", { maxLength: 63 }),
    azure: Type.Optional(azurePlatformSchema),
  },
  {
    description: "The platform of the cluster.",
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
  clusterID: Type.Optional(uuid("A UUID that identifies the cluster.", immutable("clusterID"))),
  infraID: Type.Optional(
    text(
      "The identifier of the cluster that is part of the names of its cloud resources.",
      { maxLength: 253 },
      immutable("infraID"),
    ),
  ),
  pausedUntil: Type.Optional(
    text("Pauses reconciliation: true, or a time in RFC 3339 until which it is paused.", {
      maxLength: 35,
    }),
  ),
  dns: Type.Optional(
    Type.Object(
      {
        baseDomain: Type.Optional(
          text(
            "The base domain of the cluster.",
            { maxLength: 253 },
            undotted,
            {
              rule: "self == '' || self.matches('^[^.]{1,63}([.][^.]{1,63})*[.]?$')",
              message: "must have labels of 1 to 63 characters, joined by single dots",
            },
            immutable("dns.baseDomain"),
          ),
        ),
      },
      { description: "DNS settings of the cluster.", ...keepUnknown },
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
    host: text("The hostname or address.", { maxLength: 253 }),
    port: Type.Integer({ description: "The port.", format: "int32" }),
  },
  { description: "The endpoint of the API server.", ...keepUnknown },
);
