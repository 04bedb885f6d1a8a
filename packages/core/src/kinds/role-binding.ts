import type { Kind, KubeObject } from "../kind.ts";

/** Who is bound to a role. */
export interface Subject {
  kind: string;
  name: string;
  namespace?: string;
  apiGroup?: string;
}

/** A role, given to subjects in one namespace. */
export interface RoleBinding extends KubeObject {
  /** It cannot be changed once set. */
  roleRef: { apiGroup: string; kind: string; name: string };
  subjects?: Subject[];
}

/** The kind `RoleBinding` of Kubernetes itself. */
export const roleBinding: Kind<RoleBinding> = {
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "RoleBinding",
  plural: "rolebindings",
  namespaced: true,
};
