import { type Static, Type } from "typebox";
import { accessRules } from "./access-rules.ts";
import {
  immutable,
  irremovable,
  keepUnknown,
  oneOf,
  resourceId,
  rules,
  subscriptionSet,
  text,
  uuid,
} from "./schema.ts";

/** From where an API server can be reached. */
export const topologies = ["Public", "PublicAndPrivate", "Private"] as const;

const linkFields = {
  natSubnetID: Type.Optional(
    resourceId(
      "Microsoft.Network/virtualNetworks/subnets",
      "The NAT subnet of the private link service. Without it, Postern creates one.",
      { maxLength: 355 },
      immutable("natSubnetID"),
    ),
  ),
  additionalAllowedSubscriptions: subscriptionSet(
    "Subscriptions that may connect in addition to the cluster's own.",
  ),
};

const link = (description: string) => Type.Object(linkFields, { description, ...keepUnknown });

const privateSpec = Type.Object(
  {
    type: oneOf(
      ["PrivateLink", "Swift"],
      "How the API server is reached privately.",
      rules(immutable("type")),
    ),
    privateLink: Type.Optional(link("Settings of type PrivateLink. All are optional.")),
    swift: Type.Optional(
      Type.Object(
        {
          podNetworkInstance: text(
            "The name of the pod network instance.",
            { minLength: 1, maxLength: 63 },
            {
              rule: "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
              message: "must be a DNS label: lower case letters, digits and inner hyphens",
            },
            immutable("podNetworkInstance"),
          ),
        },
        { description: "Settings of type Swift.", ...keepUnknown },
      ),
    ),
  },
  {
    description: "How the API server is reached privately. Requires a private topology.",
    ...keepUnknown,
    ...rules(
      {
        rule: "self.type == 'PrivateLink' || !has(self.privateLink)",
        message: "privateLink is only for type PrivateLink: remove it",
        fieldPath: ".privateLink",
        reason: "FieldValueForbidden",
      },
      {
        rule: "self.type != 'Swift' || has(self.swift)",
        message: "swift is required with type Swift: add it with its podNetworkInstance",
        fieldPath: ".swift",
        reason: "FieldValueRequired",
      },
      {
        rule: "self.type == 'Swift' || !has(self.swift)",
        message: "swift is only for type Swift: remove it",
        fieldPath: ".swift",
        reason: "FieldValueForbidden",
      },
    ),
  },
);

const endpointAccess = Type.Object(
  {
    type: oneOf(topologies, "The same as topology."),
    private: Type.Optional(link("The same as private.privateLink.")),
  },
  {
    description: "An alternative form of topology and private. Prefer those.",
    ...keepUnknown,
    ...rules({
      rule: "self.type != 'Public' || !has(self.private)",
      message: "private is only for type Private or PublicAndPrivate: set that type, or remove it",
      fieldPath: ".private",
      reason: "FieldValueForbidden",
    }),
  },
);

const authentication = Type.Object(
  {
    azureAuthenticationConfigType: oneOf(
      ["ManagedIdentities", "WorkloadIdentities"],
      "The identities that the control plane uses in Azure.",
    ),
    managedIdentities: Type.Optional(
      Type.Object({}, { description: "Identities of a managed service.", ...keepUnknown }),
    ),
    workloadIdentities: Type.Optional(
      Type.Object(
        {
          controlPlaneOperator: Type.Optional(
            Type.Object(
              { clientID: uuid("The client id of the identity.") },
              {
                description: "The identity that creates the private endpoint and its DNS zones.",
                ...keepUnknown,
              },
            ),
          ),
        },
        { description: "Workload identities of a self-managed cluster.", ...keepUnknown },
      ),
    ),
  },
  {
    description: "The identities that the control plane uses in Azure.",
    ...keepUnknown,
    ...rules(
      ...(["managedIdentities", "workloadIdentities"] as const).map((member) => {
        const type = member === "managedIdentities" ? "ManagedIdentities" : "WorkloadIdentities";
        return {
          rule: `(self.azureAuthenticationConfigType == '${type}') == has(self.${member})`,
          message: `${member} must be set together with azureAuthenticationConfigType ${type}: set both or neither`,
          fieldPath: `.${member}`,
        };
      }),
    ),
  },
);

/** `spec.platform.azure` of a HostedCluster and of its HostedControlPlane. */
export const azurePlatformSchema = Type.Object(
  {
    cloud: Type.Optional(
      oneOf(
        [
          "AzurePublicCloud",
          "AzureUSGovernmentCloud",
          "AzureChinaCloud",
          "AzureGermanCloud",
          "AzureBleuCloud",
          "AzureStackCloud",
        ],
        "The cloud that the cluster runs in.",
        { default: "AzurePublicCloud" },
      ),
    ),
    location: text("The Azure region.", { maxLength: 255 }, immutable("location")),
    resourceGroup: text(
      "The resource group of the cluster.",
      { minLength: 1, maxLength: 90 },
      {
        rule: "self.matches('^[-a-zA-Z0-9_.()]+$') && !self.endsWith('.')",
        message:
          "must be the name of a resource group: letters, digits, underscores, hyphens, dots and parentheses, without a dot at the end",
      },
      immutable("resourceGroup"),
    ),
    vnetID: text("The virtual network of the cluster.", { maxLength: 255 }, immutable("vnetID")),
    subnetID: Type.Optional(
      resourceId(
        "Microsoft.Network/virtualNetworks/subnets",
        "The subnet of the cluster's machines and of the private endpoint. Without it, that of the oldest NodePool.",
        { maxLength: 355 },
        immutable("subnetID"),
      ),
    ),
    subscriptionID: text(
      "The subscription of the cluster.",
      { maxLength: 255 },
      immutable("subscriptionID"),
    ),
    tenantID: text("The tenant of the cluster.", { maxLength: 255 }),
    azureAuthenticationConfig: authentication,
    topology: Type.Optional(
      oneOf(topologies, "Where the API server can be reached from. Default: Public."),
    ),
    private: Type.Optional(privateSpec),
    endpointAccess: Type.Optional(endpointAccess),
    privateConnectivity: Type.Optional(
      link(
        "An alternative form of private.privateLink, used with endpointAccess. Prefer private.privateLink.",
      ),
    ),
  },
  {
    description: "Settings of the platform Azure.",
    ...keepUnknown,
    ...rules(...accessRules, irremovable("subnetID")),
  },
);

/** `spec.platform.azure` of a HostedCluster and of its HostedControlPlane. */
export type AzurePlatform = Static<typeof azurePlatformSchema>;
