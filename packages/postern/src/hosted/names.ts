/** Every name that HyperShift and Postern have in common: finalizers, annotations, Services and Azure resources. */

/** On a HostedControlPlane and what belongs to it: `<namespace>/<name>` of its HostedCluster. */
export const clusterAnnotation = "hypershift.openshift.io/cluster";

/** On an AzurePrivateLinkService while its link service may exist. */
export const linkFinalizer = "hypershift.openshift.io/azure-pls-cleanup";
/** On an AzurePrivateLinkService while its endpoint, zones or records may exist. */
export const endpointFinalizer = "hypershift.openshift.io/azure-private-link-service";
/** On a HostedControlPlane while endpoints, zones or records of any of its links may exist: its credential is needed to delete them. */
export const controlPlaneFinalizer = "hypershift.openshift.io/azure-pls-endpoint-cleanup";
/** On a HostedCluster while its control plane exists. */
export const hostedClusterFinalizer = "hypershift.openshift.io/finalizer";

/** The Service of the router of a private control plane, and the link named after it. */
export const privateRouter = "private-router";
/** The Service of the OAuth server where it is published by a load balancer of its own. */
export const oauthServer = "oauth-openshift";

/** The ServiceAccount by which a control plane proves to Azure who it is. */
export const controlPlaneAccount = "control-plane-operator";

/** Makes the load balancer of a Service an internal one. */
export const internalLoadBalancerAnnotation =
  "service.beta.kubernetes.io/azure-load-balancer-internal";

/** The conditions of an AzurePrivateLinkService; the HostedCluster has them too. */
export const conditions = {
  loadBalancer: "AzureInternalLoadBalancerAvailable",
  link: "AzurePLSCreated",
  endpoint: "AzurePrivateEndpointAvailable",
  dns: "AzurePrivateDNSAvailable",
  available: "AzurePrivateLinkServiceAvailable",
} as const;

/** The reason of every condition that is True. */
export const success = "AzureSuccess";

/**
 * What may be set by annotation on a HostedCluster, because its schema has no place for it.
 * It is copied to the HostedControlPlane with the other annotations.
 */
export const annotations = {
  /** `managed` (default), `existing` or `none`: who creates the zones. */
  zones: "postern.io/private-dns",
  /** With `existing`: the id of the zone of the internal names, and of that of the base domain. */
  internalZone: "postern.io/private-dns-zone-id",
  baseZone: "postern.io/base-domain-dns-zone-id",
  /** Further networks in which the names resolve: ids, separated by commas. */
  networks: "postern.io/private-dns-virtual-network-ids",
  /** `linked` (default) or `unlinked`: whether they resolve in the hosted cluster's own network too. */
  ownNetwork: "postern.io/private-dns-own-network",
  /** The subnet of the private endpoint, instead of that of the machines. */
  endpointSubnet: "postern.io/endpoint-subnet-id",
  /** `true`: the link service sends the PROXY protocol, which says by which endpoint a client came. */
  proxyProtocol: "postern.io/proxy-protocol",
  /** `name=value,name=value`: tags of what is created in the subscription of the hosted cluster. */
  tags: "postern.io/azure-tags",
  /** `disconnect` (default) or `refuse`: what a deletion does with endpoints of others. */
  foreignEndpoints: "postern.io/foreign-endpoints",
  /** `true`: abandon what is in the subscription of the hosted cluster, because no credential for it works any more. */
  abandon: "postern.io/abandon-guest-resources",
} as const;

/** The name of a link service: one for each link of a cluster. */
export function linkServiceName(link: string, clusterID: string): string {
  return link === privateRouter ? `pls-${clusterID}` : `pls-${link}-${clusterID}`;
}

/** The name of a link service whose usual name another cluster has taken: no other object has this uid. */
export function ownLinkServiceName(link: string, clusterID: string, uid: string): string {
  return `${linkServiceName(link, clusterID)}-${uid.slice(0, 8)}`;
}

/** The subnet of one cluster, as HyperShift names it. */
export function clusterNatSubnetName(infraID: string): string {
  return `${infraID}-pls-nat`;
}

/** Whether a subnet is one of a single cluster, by its name. Others are for whoever names them. */
export function isClusterNatSubnet(name: string): boolean {
  return name.toLowerCase().endsWith("-pls-nat");
}

/** The endpoint of a link. */
export function endpointName(link: string): string {
  return `${link}-pe`;
}

/** The zone of a cluster's internal names. */
export function internalZoneName(controlPlane: string): string {
  return `${controlPlane}.hypershift.local`;
}

/** The link of the internal zone to the network of the hosted cluster. */
export function internalZoneLinkName(link: string): string {
  return `${link}-vnet-link`;
}

/** The link of the base domain's zone to the network of the hosted cluster. */
export function baseZoneLinkName(link: string): string {
  return `${link}-basedomain-vnet-link`;
}

/** The namespace of a cluster's control plane, as HyperShift computes it. */
export function controlPlaneNamespace(namespace: string, name: string): string {
  return `${namespace}-${name.replaceAll(".", "-")}`;
}
