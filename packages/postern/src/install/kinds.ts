import type { Kind, KubeObject } from "@postern/core/kind.ts";
import {
  clusterRoleBinding,
  customResourceDefinition,
  namespace,
  service,
  serviceAccount,
} from "@postern/core/kinds/core.ts";
import { leaseKind } from "../kube/lease.ts";

const rbac = { group: "rbac.authorization.k8s.io", version: "v1" };
const admission = { group: "admissionregistration.k8s.io", version: "v1", namespaced: false };
const prometheus = { group: "monitoring.coreos.com", version: "v1", namespaced: true };

export const configMap: Kind<KubeObject & { data?: Record<string, string> }> = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
};

export const roleBinding: Kind = {
  ...rbac,
  kind: "RoleBinding",
  plural: "rolebindings",
  namespaced: true,
};

const pod: Kind = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true };

/** Every kind of which an installation has objects. */
const kinds: readonly Kind[] = [
  namespace,
  customResourceDefinition,
  serviceAccount,
  service,
  configMap,
  leaseKind,
  roleBinding,
  pod,
  { group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true },
  { ...rbac, kind: "Role", plural: "roles", namespaced: true },
  { ...rbac, kind: "ClusterRole", plural: "clusterroles", namespaced: false },
  clusterRoleBinding,
  { ...admission, kind: "ValidatingAdmissionPolicy", plural: "validatingadmissionpolicies" },
  {
    ...admission,
    kind: "ValidatingAdmissionPolicyBinding",
    plural: "validatingadmissionpolicybindings",
  },
  { group: "apps", version: "v1", kind: "Deployment", plural: "deployments", namespaced: true },
  {
    group: "policy",
    version: "v1",
    kind: "PodDisruptionBudget",
    plural: "poddisruptionbudgets",
    namespaced: true,
  },
  {
    group: "networking.k8s.io",
    version: "v1",
    kind: "NetworkPolicy",
    plural: "networkpolicies",
    namespaced: true,
  },
  { ...prometheus, kind: "ServiceMonitor", plural: "servicemonitors" },
  { ...prometheus, kind: "PodMonitor", plural: "podmonitors" },
  { ...prometheus, kind: "PrometheusRule", plural: "prometheusrules" },
];

/** The kind of that name. */
export function kindNamed(name: string): Kind {
  const found = kinds.find((each) => each.kind === name);
  if (found === undefined) throw new Error(`an installation has no objects of kind ${name}`);
  return found;
}

/** Whether a kind is none of Kubernetes' own, and no kind that Postern brings: another project has to install it first. */
export function isOfAnother({ kind = "" }: Pick<KubeObject, "kind">): boolean {
  return kindNamed(kind).group === prometheus.group;
}

/** Where an object is. */
export function placeOf({ kind = "", metadata }: KubeObject) {
  return { kind: kindNamed(kind), namespace: metadata.namespace, name: metadata.name };
}

/** An object in words, such as `Deployment postern/postern-operator`. */
export function nameOf({ kind, metadata }: Pick<KubeObject, "kind" | "metadata">): string {
  const { namespace: within, name } = metadata;
  return `${kind} ${within === undefined ? name : `${within}/${name}`}`;
}
