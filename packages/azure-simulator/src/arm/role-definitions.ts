/** What a role lets its holders do. */
export interface Permission {
  actions: readonly string[];
  notActions: readonly string[];
}

/** A role. */
export interface RoleDefinition {
  /** The guid. */
  name: string;
  roleName: string;
  description: string;
  builtIn: boolean;
  assignableScopes: readonly string[];
  permissions: readonly Permission[];
}

/** What nearly every narrow role of Azure begins and ends with. */
const everyday = [
  "Microsoft.Authorization/*/read",
  "Microsoft.Insights/alertRules/*",
  "Microsoft.ResourceHealth/availabilityStatuses/read",
  "Microsoft.Resources/deployments/*",
  "Microsoft.Resources/subscriptions/resourceGroups/read",
  "Microsoft.Support/*",
];

const identities = "Microsoft.ManagedIdentity/userAssignedIdentities";

/**
 * The built-in roles that people use with private connectivity, with the guids and actions that are the same in every
 * tenant: https://learn.microsoft.com/azure/role-based-access-control/built-in-roles
 */
export const builtInRoles: readonly RoleDefinition[] = [
  role(
    "8e3af657-a8ff-443c-a75c-2fe8c4bcb635",
    "Owner",
    "Grants full access to manage all resources, including the ability to assign roles in Azure RBAC.",
    ["*"],
  ),
  role(
    "b24988ac-6180-42a0-ab88-20f7382dd24c",
    "Contributor",
    "Grants full access to manage all resources, but does not allow you to assign roles in Azure RBAC, manage assignments in Azure Blueprints, or share image galleries.",
    ["*"],
    [
      "Microsoft.Authorization/*/Delete",
      "Microsoft.Authorization/*/Write",
      "Microsoft.Authorization/elevateAccess/Action",
      "Microsoft.Blueprint/blueprintAssignments/write",
      "Microsoft.Blueprint/blueprintAssignments/delete",
      "Microsoft.Compute/galleries/share/action",
      "Microsoft.Purview/consents/write",
      "Microsoft.Purview/consents/delete",
      "Microsoft.Resources/deploymentStacks/manageDenySetting/action",
    ],
  ),
  role(
    "acdd72a7-3385-48ef-bd42-f606fba81ae7",
    "Reader",
    "View all resources, but does not allow you to make any changes.",
    ["*/read"],
  ),
  role(
    "18d7d88d-d35e-4fb5-a5c3-7773c20a72d9",
    "User Access Administrator",
    "Lets you manage user access to Azure resources.",
    ["*/read", "Microsoft.Authorization/*", "Microsoft.Support/*"],
  ),
  role(
    "4d97b98b-1d4f-4787-a291-c67834d212e7",
    "Network Contributor",
    "Lets you manage networks, but not access to them.",
    [...everyday, "Microsoft.Network/*"],
  ),
  role(
    "b12aa53e-6015-4669-85d0-8515ebb3ae7f",
    "Private DNS Zone Contributor",
    "Lets you manage private DNS zone resources, but not the virtual networks they are linked to.",
    [
      ...everyday,
      "Microsoft.Network/privateDnsZones/*",
      "Microsoft.Network/privateDnsOperationResults/*",
      "Microsoft.Network/privateDnsOperationStatuses/*",
      "Microsoft.Network/virtualNetworks/read",
      "Microsoft.Network/virtualNetworks/join/action",
    ],
  ),
  role(
    "befefa01-2a29-4197-83a8-272ff33ce314",
    "DNS Zone Contributor",
    "Lets you manage DNS zones and record sets in Azure DNS, but does not let you control who has access to them.",
    [...everyday, "Microsoft.Network/dnsZones/*"],
  ),
  role(
    "9980e02c-c2be-4d73-94e8-173b1dc7cf3c",
    "Virtual Machine Contributor",
    "Lets you manage virtual machines, but not access to them, and not the virtual network or storage account they're connected to.",
    [
      ...everyday,
      "Microsoft.Compute/availabilitySets/*",
      "Microsoft.Compute/locations/*",
      "Microsoft.Compute/virtualMachines/*",
      "Microsoft.Compute/virtualMachineScaleSets/*",
      "Microsoft.Compute/cloudServices/*",
      "Microsoft.Compute/disks/write",
      "Microsoft.Compute/disks/read",
      "Microsoft.Compute/disks/delete",
      "Microsoft.Network/applicationGateways/backendAddressPools/join/action",
      "Microsoft.Network/loadBalancers/backendAddressPools/join/action",
      "Microsoft.Network/loadBalancers/inboundNatPools/join/action",
      "Microsoft.Network/loadBalancers/inboundNatRules/join/action",
      "Microsoft.Network/loadBalancers/probes/join/action",
      "Microsoft.Network/loadBalancers/read",
      "Microsoft.Network/locations/*",
      "Microsoft.Network/networkInterfaces/*",
      "Microsoft.Network/networkSecurityGroups/join/action",
      "Microsoft.Network/networkSecurityGroups/read",
      "Microsoft.Network/publicIPAddresses/join/action",
      "Microsoft.Network/publicIPAddresses/read",
      "Microsoft.Network/virtualNetworks/read",
      "Microsoft.Network/virtualNetworks/subnets/join/action",
    ],
  ),
  role(
    "f1a07417-d97a-45cb-824c-7a7467783830",
    "Managed Identity Operator",
    "Read and Assign User Assigned Identity",
    [...everyday, `${identities}/*/read`, `${identities}/*/assign/action`],
  ),
  role(
    "e40ec5ca-96e0-45a2-b4ff-59039f2c2b59",
    "Managed Identity Contributor",
    "Create, Read, Update, and Delete User Assigned Identity",
    [
      ...everyday,
      `${identities}/read`,
      `${identities}/write`,
      `${identities}/delete`,
      `${identities}/federatedIdentityCredentials/read`,
      `${identities}/federatedIdentityCredentials/write`,
      `${identities}/federatedIdentityCredentials/delete`,
      `${identities}/revokeTokens/action`,
    ],
  ),
];

/** The guid of the role that may do everything. */
export const ownerRole = "8e3af657-a8ff-443c-a75c-2fe8c4bcb635";

function role(
  name: string,
  roleName: string,
  description: string,
  actions: readonly string[],
  notActions: readonly string[] = [],
): RoleDefinition {
  const permissions = [{ actions, notActions }];
  return { name, roleName, description, builtIn: true, assignableScopes: ["/"], permissions };
}
