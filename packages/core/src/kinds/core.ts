import type { Kind, KubeObject } from "../kind.ts";

/** The part of a Service that Postern reads and writes. */
export interface Service extends KubeObject {
  spec?: {
    type?: string;
    externalName?: string;
    clusterIP?: string;
    selector?: Record<string, string>;
    ports?: ServicePort[];
    loadBalancerSourceRanges?: string[];
    loadBalancerClass?: string;
    externalTrafficPolicy?: string;
  };
  status?: { loadBalancer?: { ingress?: { ip?: string; hostname?: string }[] } };
}

export interface ServicePort {
  name?: string;
  protocol?: string;
  port: number;
  targetPort?: number | string;
  nodePort?: number;
}

/** The kind `Service` of Kubernetes itself. */
export const service: Kind<Service> = {
  group: "",
  version: "v1",
  kind: "Service",
  plural: "services",
  namespaced: true,
};

/** The part of a Namespace that Postern reads. */
export interface Namespace extends KubeObject {
  spec?: { finalizers?: string[] };
  status?: { phase?: string };
}

/** The kind `Namespace` of Kubernetes itself. */
export const namespace: Kind<Namespace> = {
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
};

/** The kind `ServiceAccount` of Kubernetes itself. Only its metadata are read. */
export const serviceAccount: Kind = {
  group: "",
  version: "v1",
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  namespaced: true,
};

/** The part of a ClusterRoleBinding that Postern reads. */
export interface ClusterRoleBinding extends KubeObject {
  subjects?: { kind: string; namespace?: string; name: string }[];
}

/** The kind `ClusterRoleBinding` of Kubernetes itself. */
export const clusterRoleBinding: Kind<ClusterRoleBinding> = {
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  namespaced: false,
};

/** The kind that makes other kinds known. Only its metadata are read. */
export const customResourceDefinition: Kind = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
};
