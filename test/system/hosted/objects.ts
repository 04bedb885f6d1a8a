import { randomUUID } from "node:crypto";
import { clusterAnnotation, controlPlaneNamespace } from "postern/hosted/names.ts";
import { guestNetwork, guestSubnet, guestSubscription, location, tenant } from "./azure.ts";

/** The workload identity that the clusters of these tests share. */
export const clientID = "77777777-7777-4777-8777-777777777777";

/** What differs from a private cluster with all defaults. */
export interface ClusterShape {
  topology?: "Public" | "PublicAndPrivate" | "Private";
  baseDomain?: string;
  /** `spec.dns.baseDomain`; by default beside the domain of the hostnames. */
  domain?: string;
  clusterID?: string;
  infraID?: string;
  pausedUntil?: string;
  annotations?: Record<string, string>;
  /** More of `spec.platform.azure`. */
  azure?: Record<string, unknown>;
  /** `spec.services`; the shipped default publishes everything by Route. */
  services?: unknown[];
}

/** The spec that a HostedCluster and its HostedControlPlane share. */
export function clusterSpec(name: string, shape: ClusterShape = {}) {
  const topology = shape.topology ?? "Private";
  return {
    clusterID: shape.clusterID ?? randomUUID(),
    infraID: shape.infraID ?? `${name}-infra`,
    ...(shape.pausedUntil && { pausedUntil: shape.pausedUntil }),
    // Beside the domain of the hostnames, or each of them would get a zone of its own.
    dns: { baseDomain: shape.domain ?? "clusters.test" },
    services: shape.services ?? [
      route("APIServer", `api-${name}.${shape.baseDomain ?? `${name}.example.com`}`),
      route("OAuthServer", `oauth-${name}.${shape.baseDomain ?? `${name}.example.com`}`),
      route("Konnectivity"),
      route("Ignition"),
    ],
    platform: {
      type: "Azure",
      azure: {
        location,
        resourceGroup: "guest",
        vnetID: guestNetwork,
        subnetID: guestSubnet,
        subscriptionID: guestSubscription,
        tenantID: tenant,
        azureAuthenticationConfig: {
          azureAuthenticationConfigType: "WorkloadIdentities",
          workloadIdentities: { controlPlaneOperator: { clientID } },
        },
        topology,
        ...(topology !== "Public" && { private: { type: "PrivateLink" } }),
        ...shape.azure,
      },
    },
  };
}

/** A service that is published by a Route. */
export function route(service: string, hostname?: string) {
  const strategy = { type: "Route", ...(hostname && { route: { hostname } }) };
  return { service, servicePublishingStrategy: strategy };
}

/** A HostedCluster. */
export function hostedClusterObject(namespace: string, name: string, shape: ClusterShape = {}) {
  const { annotations } = shape;
  return {
    apiVersion: "hypershift.openshift.io/v1beta1",
    kind: "HostedCluster",
    metadata: { namespace, name, ...(annotations && { annotations }) },
    spec: clusterSpec(name, shape),
  };
}

/** The HostedControlPlane that HyperShift makes from a HostedCluster. */
export function controlPlaneObject(cluster: ReturnType<typeof hostedClusterObject>) {
  const { namespace, name } = cluster.metadata;
  const annotations = {
    ...cluster.metadata.annotations,
    [clusterAnnotation]: `${namespace}/${name}`,
  };
  return {
    apiVersion: "hypershift.openshift.io/v1beta1",
    kind: "HostedControlPlane",
    metadata: { namespace: controlPlaneNamespace(namespace, name), name, annotations },
    spec: cluster.spec,
  };
}

/** The Service of the router that HyperShift makes for a private control plane. */
export function routerService(
  controlPlane: { metadata: { namespace: string; name: string; uid: string } },
  name = "private-router",
) {
  const { namespace, name: owner, uid } = controlPlane.metadata;
  const apiVersion = "hypershift.openshift.io/v1beta1";
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      namespace,
      name,
      annotations: { "service.beta.kubernetes.io/azure-load-balancer-internal": "true" },
      ownerReferences: [{ apiVersion, kind: "HostedControlPlane", name: owner, uid }],
    },
    spec: {
      type: "LoadBalancer",
      ports: [{ name: "https", port: 443, targetPort: "https", protocol: "TCP" }],
      selector: { app: name },
    },
  };
}
