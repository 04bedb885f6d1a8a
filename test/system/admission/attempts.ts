/** The operator, under the default name of its ServiceAccount. */
export const operator = "system:serviceaccount:postern:postern-operator";
/** HyperShift's operator, under the default name of its ServiceAccount. */
export const hyperShift = "system:serviceaccount:hypershift:operator";
/** The garbage collector of Kubernetes. */
export const garbageCollector = "system:serviceaccount:kube-system:generic-garbage-collector";
/** The controller that empties namespaces which are being deleted. */
export const namespaceController = "system:serviceaccount:kube-system:namespace-controller";
/** HyperShift's operator of one control plane. */
export const controlPlaneOperator = (namespace: string) =>
  `system:serviceaccount:${namespace}:control-plane-operator`;
/** An operator that was installed into a namespace of the platform. */
export const platformOperator = "system:serviceaccount:openshift-postern:operator";

/** The collection of a kind of HyperShift in a namespace. */
export const hypershift = (namespace: string, plural: string) =>
  `/apis/hypershift.openshift.io/v1beta1/namespaces/${namespace}/${plural}`;
/** The link objects of a namespace. */
export const links = (namespace: string) => hypershift(namespace, "azureprivatelinkservices");
/** The collection of a core kind in a namespace. */
export const core = (namespace: string, plural: string) =>
  `/api/v1/namespaces/${namespace}/${plural}`;
/** The Routes of a namespace. */
export const routes = (namespace: string) =>
  `/apis/route.openshift.io/v1/namespaces/${namespace}/routes`;
/** The Leases of a namespace. */
export const leases = (namespace: string) =>
  `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
/** The root of the RBAC API. */
export const rbac = "/apis/rbac.authorization.k8s.io/v1";
/** The RoleBindings of a namespace. */
export const bindings = (namespace: string) => `${rbac}/namespaces/${namespace}/rolebindings`;

/** One request, and who sends it; an administrator where nobody is named. */
export interface Attempt {
  as?: string;
  method: "POST" | "PATCH" | "PUT" | "DELETE";
  path: string;
  body?: object;
}

/** The same request, by somebody. */
export const by = (as: string, attempt: Attempt): Attempt => ({ ...attempt, as });
/** A merge patch. */
export const patch = (path: string, body: object): Attempt => ({ method: "PATCH", path, body });
/** A creation. */
export const post = (path: string, body: object): Attempt => ({ method: "POST", path, body });
/** A deletion. */
export const remove = (path: string): Attempt => ({ method: "DELETE", path });
/** A change of labels; null removes one. */
export const labels = (marks: Record<string, string | null>) => ({ metadata: { labels: marks } });
/** A change of annotations; null removes one. */
export const annotations = (marks: Record<string, string | null>) => ({
  metadata: { annotations: marks },
});

/** A valid link object. */
export const link = (namespace: string, name: string) => ({
  apiVersion: "hypershift.openshift.io/v1beta1",
  kind: "AzurePrivateLinkService",
  metadata: { namespace, name, finalizers: ["example.com/kept"] },
  spec: {
    loadBalancerIP: "10.0.0.9",
    subscriptionID: "33333333-3333-4333-8333-333333333333",
    resourceGroupName: "guest",
    location: "westeurope",
    guestSubnetID:
      "/subscriptions/33333333-3333-4333-8333-333333333333/resourceGroups/guest/providers/Microsoft.Network/virtualNetworks/guest/subnets/workers",
    guestVNetID:
      "/subscriptions/33333333-3333-4333-8333-333333333333/resourceGroups/guest/providers/Microsoft.Network/virtualNetworks/guest",
  },
});
/** A valid Service. */
export const simpleService = (name: string, marks = {}) => ({
  metadata: { name, labels: marks },
  spec: { ports: [{ port: 443 }] },
});
/** A valid Route. */
export const simpleRoute = (name: string, marks = {}) => ({
  apiVersion: "route.openshift.io/v1",
  kind: "Route",
  metadata: { name, labels: marks },
  spec: { to: { kind: "Service", name: "any" } },
});
/** A Namespace with labels. */
export const namespaceBody = (name: string, marks = {}) => ({ metadata: { name, labels: marks } });
/** The labels of a control-plane namespace that Postern created. */
export const controlPlaneLabels = {
  "postern.io/made-by": "topology",
  "hypershift.openshift.io/hosted-control-plane": "true",
};
/** The operator as the subject of a binding. */
export const account = { kind: "ServiceAccount", namespace: "postern", name: "postern-operator" };
/** A binding of a ClusterRole. */
export const binding = (role: string, subjects: object[] = [account], name = role) => ({
  metadata: { name },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
  subjects,
});
/** The role of control planes, and the name of its binding. */
export const grant = "postern-control-plane";
/** A valid event. */
export const event = (namespace: string) => ({
  metadata: { namespace, name: "an-event" },
  eventTime: "2026-01-01T00:00:00.000000Z",
  reportingController: "postern.io/link",
  reportingInstance: "one",
  type: "Normal",
  reason: "Reason",
  action: "Action",
  regarding: { kind: "Service", namespace, name: "any" },
});
