/** Every name that the operators before us and Cluster API have in common with Postern. */

/** On a workload AzureCluster while the management side may have endpoints to it. */
export const endpointsFinalizer = "azure-private-endpoint-operator.giantswarm.io/azurecluster";
/** On a Cluster while it has a ProviderConfig. */
export const providerConfigFinalizer = "azure.giantswarm.io/providerconfig";
/** On the infrastructure object of a Cluster while it has names in DNS. */
export const dnsFinalizer = "dns-operator-azure.giantswarm.io/azurecluster";
/** On an AzureCluster while link services or endpoints that we created for it may exist. */
export const privateLinksFinalizer = "postern.io/private-links";
/** Its name before the first release. */
export const formerPrivateLinksFinalizer = "postern.io/realise";

/** On a Cluster of another provider while it has names in DNS: nobody watches its infrastructure object. */
export const dnsClusterFinalizer = "postern.io/dns";

/** Where certificates of AzureClusterIdentities are, unless `--certificate-directory` says otherwise. */
export const defaultCertificateDirectory = "/var/run/postern/certificates";

export const annotations = {
  /** The address by which the management cluster reaches the API server of this workload cluster. */
  apiServerAddress: "azure-private-endpoint-operator.giantswarm.io/private-link-apiserver-ip",
  /** The address by which this workload cluster reaches the gateway of the management cluster. */
  managementAddress: "azure-private-endpoint-operator.giantswarm.io/private-link-mc-ingress-ip",
  paused: "cluster.x-k8s.io/paused",
  /** On a workload AzureCluster that is to go although the management side cannot be cleaned. */
  abandon: "postern.io/abandon-endpoints",
  wildcardTarget: "network.giantswarm.io/wildcard-cname-target",
  subscription: "giantswarm.io/azure-subscription-id",
  identity: "azure.giantswarm.io/azure-cluster-identity",
  identityNamespace: "azure.giantswarm.io/azure-cluster-identity-namespace",
  /** What `apiServerLB.privateLinks` would hold, as JSON, where the installed CRD has no place for it. */
  privateLinks: "postern.io/private-links",
  /** Beside `paused` where it is ours: the conditions that are waited for. Who removes it owns the pause. */
  pausedFor: "postern.io/paused-for",
  /** On a ProviderConfig: the Cluster that it is created for, as namespace/name. */
  madeFor: "postern.io/made-for",
} as const;

/** Begins the annotations that become tags of a resource group. */
export const groupTagPrefix = "azure-resourcegroup-tag.";

/** Begins CAPZ's tag on everything that a cluster owns; the name of the cluster follows. */
export const capzTagPrefix = "sigs.k8s.io_cluster-api-provider-azure_cluster_";

/** The field manager of the operators before us, and of CAPZ: the name of their binaries. */
export const predecessor = "manager";

export const conditions = {
  privateLinks: "PrivateLinksReady",
  privateEndpoints: "PrivateEndpointsReady",
  links: "GSPrivateLinksReady",
  dnsZone: "GSDNSZoneReady",
  loadBalancers: "LoadBalancersReady",
} as const;

/** By which names a workload cluster may reach the management cluster: the present one, and the one before version 0.5. */
export const everyLink = ["gateway", "ingress"] as const;
/** One of them. */
export type ManagementLink = (typeof everyLink)[number];

/** The link to the API server of a cluster, as Giant Swarm's charts call it. */
export function apiLinkName(cluster: string): string {
  return `${cluster}-api-privatelink`;
}

/** The endpoint of the management cluster to a link of a workload cluster. */
export function apiEndpointName(link: string): string {
  return `${link}-privateendpoint`;
}

/** The connection of that endpoint. */
export function apiConnectionName(link: string): string {
  return `${link}-connection`;
}

/** The endpoint of a workload cluster to the management cluster. */
export function managementEndpointName(
  workload: string,
  management: string,
  link: ManagementLink,
): string {
  const what = link === "gateway" ? "gateway" : "privatelink";
  return `${workload}-to-${management}-${what}-privateendpoint`;
}

/** The connection of that endpoint. */
export function managementConnectionName(
  workload: string,
  management: string,
  link: ManagementLink,
): string {
  const what = link === "gateway" ? "-gateway" : "";
  return `${workload}-to-${management}${what}-connection`;
}

/** The link service of the management cluster. */
export function managementLinkName(management: string, link: ManagementLink): string {
  return `${management}-${link}-privatelink`;
}

/**
 * The resource group of that link service. One that the management cluster requests is created in the group of the cluster. One
 * that somebody else creates is in a group with the name of the AzureCluster, as the operators before us had it.
 */
export function managementLinkGroupName(
  management: { name: string; group: string; links: readonly { name: string }[] },
  link: ManagementLink,
): string {
  const service = managementLinkName(management.name, link).toLowerCase();
  const isRequested = management.links.some(({ name }) => name.toLowerCase() === service);
  return isRequested ? management.group : management.name;
}
