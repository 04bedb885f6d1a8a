import { type Over, otherUuid, uuid } from "./row.ts";

export const linkService = `/subscriptions/${uuid}/resourceGroups/wc1/providers/Microsoft.Network/privateLinkServices/wc1-api-privatelink`;

/** A private endpoint, with some fields put over its own. */
export const endpoint = (over: Over = {}) => ({
  name: "wc1-api-privatelink-privateendpoint",
  location: "westeurope",
  privateLinkServiceConnections: [connection()],
  manualApproval: false,
  ...over,
});

/** Its connection. */
export const connection = (over: Over = {}) => ({
  name: "wc1-api-privatelink-connection",
  privateLinkServiceID: linkService,
  ...over,
});

/** The subnet of the nodes. */
export const nodes = (over: Over = {}) => ({
  name: "node-subnet",
  role: "node",
  cidrBlocks: ["10.0.16.0/20"],
  ...over,
});

/** The subnet of the control plane. */
export const controlPlane = (over: Over = {}) => ({
  name: "control-plane-subnet",
  role: "control-plane",
  cidrBlocks: ["10.0.0.0/20"],
  ...over,
});

/** A private link as the chart cluster-azure writes it, in the spelling of the fork. */
export const link = (over: Over = {}) => ({
  name: "wc1-api-privatelink",
  natIpConfigurations: [nat()],
  lbFrontendIPConfigNames: ["wc1-api-internal-lb-frontend-ip"],
  allowedSubscriptions: [uuid, otherUuid],
  autoApprovedSubscriptions: [uuid, otherUuid],
  ...over,
});

/** One NAT address of it. */
export const nat = (over: Over = {}) => ({
  allocationMethod: "Dynamic",
  subnet: "node-subnet",
  ...over,
});

/** The load balancer of a private cluster. */
export const internal = (over: Over = {}) => ({
  name: "wc1-api-internal-lb",
  type: "Internal",
  frontendIPs: [{ name: "wc1-api-internal-lb-frontend-ip", privateIP: "10.0.0.100" }],
  ...over,
});

/** A private AzureCluster, with some put over its network and over the rest. */
export const azureClusterSpec = (network: Over = {}, over: Over = {}): Record<string, unknown> => ({
  location: "westeurope",
  resourceGroup: "wc1",
  subscriptionID: uuid,
  azureEnvironment: "AzurePublicCloud",
  identityRef: {
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
    kind: "AzureClusterIdentity",
    name: "wc1",
    namespace: "org-acme",
  },
  controlPlaneEndpoint: { host: "", port: 0 },
  networkSpec: {
    vnet: { name: "wc1-vnet", resourceGroup: "wc1" },
    subnets: [controlPlane(), nodes()],
    apiServerLB: internal(),
    ...network,
  },
  ...over,
});
