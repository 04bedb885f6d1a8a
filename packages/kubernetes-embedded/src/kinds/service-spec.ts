import type { Stored } from "../resource.ts";

/** The part of a Service that its rules read. */
export type Service = Stored & { spec?: ServiceSpec; status?: ServiceStatus };

export interface ServiceSpec {
  type?: string;
  clusterIP?: string;
  clusterIPs?: string[];
  externalIPs?: string[];
  externalName?: string;
  externalTrafficPolicy?: string;
  internalTrafficPolicy?: string;
  healthCheckNodePort?: number;
  allocateLoadBalancerNodePorts?: boolean;
  ipFamilies?: string[];
  ipFamilyPolicy?: string;
  loadBalancerClass?: string;
  loadBalancerSourceRanges?: string[];
  ports?: ServicePort[];
  publishNotReadyAddresses?: boolean;
  selector?: Record<string, string>;
  sessionAffinity?: string;
  sessionAffinityConfig?: { clientIP?: { timeoutSeconds?: number } };
}

export interface ServicePort {
  name?: string;
  port: number;
  protocol?: string;
  targetPort?: number | string;
  nodePort?: number;
}

export interface ServiceStatus {
  loadBalancer?: { ingress?: { ip?: string; hostname?: string; ipMode?: string }[] };
}

/** Whether a Service of this type has an address in the cluster, or None for one. */
export function needsAddress({ type }: ServiceSpec): boolean {
  return type !== "ExternalName";
}

/** Whether its ports may be open on every node too. */
export function mayHaveNodePorts({ type }: ServiceSpec): boolean {
  return type === "NodePort" || type === "LoadBalancer";
}

/** Whether its ports have to be open on every node. */
export function needsNodePorts(spec: ServiceSpec): boolean {
  const { type, allocateLoadBalancerNodePorts } = spec;
  if (type === "LoadBalancer" && allocateLoadBalancerNodePorts === false) return false;
  return mayHaveNodePorts(spec);
}

/** Whether it has a port on which nodes say that they have endpoints. */
export function needsHealthPort({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === "LoadBalancer" && externalTrafficPolicy === "Local";
}

/** Whether traffic from outside the cluster may reach it. */
export function isReachedFromOutside({ type, externalIPs = [] }: ServiceSpec): boolean {
  if (type === "ClusterIP") return externalIPs.length > 0;
  return type === "LoadBalancer" || type === "NodePort";
}

/** Without address and selector it leads to whatever somebody writes down for it, of any family. */
export function standsForAnything({ clusterIP, selector = {} }: ServiceSpec): boolean {
  return clusterIP === "None" && Object.keys(selector).length === 0;
}
