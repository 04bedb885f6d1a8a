import {
  type Attempt,
  account,
  annotations,
  binding,
  bindings,
  by,
  controlPlaneLabels,
  controlPlaneOperator,
  core,
  event,
  garbageCollector,
  grant,
  hypershift,
  labels,
  leases,
  link,
  links,
  namespaceBody,
  operator,
  patch,
  platformOperator,
  post,
  rbac,
  remove,
  routes,
  simpleRoute,
  simpleService,
} from "./attempts.ts";

/** A cluster-scoped owner that does not exist. */
const nobody = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  name: "nobody",
  uid: "00000000-0000-4000-8000-000000000000",
};

/** Every attack is refused by the policy that is named first. */
export const attacks: Record<string, [attack: string, attempt: Attempt][]> = {
  "postern-link-objects": [
    [
      "a tenant creates a link object in its own namespace",
      by("tenant", post(links("tenant"), link("tenant", "bare"))),
    ],
    [
      "a tenant creates a link object in a control-plane namespace",
      by("tenant", post(links("clusters-one"), link("clusters-one", "bare"))),
    ],
    [
      "a tenant lets another subscription connect to a link object",
      by(
        "tenant",
        patch(`${links("clusters-one")}/private-router`, {
          spec: { additionalAllowedSubscriptions: ["44444444-4444-4444-8444-444444444444"] },
        }),
      ),
    ],
    [
      "a tenant forges the status of a link object",
      by(
        "tenant",
        patch(`${links("clusters-one")}/private-router/status`, {
          status: { privateEndpointIP: "10.0.0.66" },
        }),
      ),
    ],
    [
      "a tenant deletes a link object",
      by("tenant", remove(`${links("clusters-one")}/private-router`)),
    ],
    [
      "a tenant deletes all link objects of a namespace",
      by("tenant", remove(links("clusters-one"))),
    ],
    [
      "a tenant removes the finalizers of a link object",
      by(
        "tenant",
        patch(`${links("clusters-one")}/private-router`, { metadata: { finalizers: null } }),
      ),
    ],
    [
      "a tenant's own service account control-plane-operator creates a link object",
      by(controlPlaneOperator("tenant"), post(links("tenant"), link("tenant", "bare"))),
    ],
    [
      "a control plane operator writes the link object of another control plane",
      by(
        controlPlaneOperator("clusters-two"),
        patch(`${links("clusters-one")}/private-router/status`, {
          status: { privateEndpointIP: "10.0.0.66" },
        }),
      ),
    ],
    [
      "the garbage collector's credential changes the spec of a link object",
      by(
        garbageCollector,
        patch(`${links("clusters-one")}/private-router`, {
          spec: { additionalAllowedSubscriptions: ["44444444-4444-4444-8444-444444444444"] },
        }),
      ),
    ],
  ],
  "postern-metadata": [
    [
      "a tenant annotates a HostedControlPlane",
      by(
        "tenant",
        patch(
          `${hypershift("clusters-one", "hostedcontrolplanes")}/one`,
          annotations({ "postern.io/abandon-guest-resources": "true" }),
        ),
      ),
    ],
    [
      "a tenant labels a HostedControlPlane",
      by(
        "tenant",
        patch(
          `${hypershift("clusters-one", "hostedcontrolplanes")}/one`,
          labels({ "postern.io/made-by": "topology" }),
        ),
      ),
    ],
    [
      "a tenant labels a Namespace so that the operator may delete it",
      by(
        "tenant",
        patch("/api/v1/namespaces/tenant", labels({ "postern.io/made-by": "topology" })),
      ),
    ],
    [
      "a tenant labels a Namespace by its subresource status",
      by(
        "tenant",
        patch("/api/v1/namespaces/tenant/status", labels({ "postern.io/made-by": "topology" })),
      ),
    ],
    [
      "a tenant labels a Namespace by its subresource finalize",
      {
        as: "tenant",
        method: "PUT",
        path: "/api/v1/namespaces/tenant/finalize",
        body: {
          ...namespaceBody("tenant", { "postern.io/made-by": "topology" }),
          spec: { finalizers: ["kubernetes"] },
        },
      },
    ],
    [
      "a tenant annotates a Namespace",
      by(
        "tenant",
        patch("/api/v1/namespaces/tenant", annotations({ "postern.io/cluster": "a/b" })),
      ),
    ],
    [
      "a tenant gives a Namespace to a HostedCluster",
      by(
        "tenant",
        patch(
          "/api/v1/namespaces/tenant",
          annotations({ "hypershift.openshift.io/cluster": "another/cluster" }),
        ),
      ),
    ],
    [
      "a tenant creates a Namespace that passes for a control plane's",
      by(
        "tenant",
        post(
          "/api/v1/namespaces",
          namespaceBody("forged", { "hypershift.openshift.io/hosted-control-plane": "true" }),
        ),
      ),
    ],
    [
      "a tenant labels its Namespace as a control plane's",
      by(
        "tenant",
        patch(
          "/api/v1/namespaces/tenant",
          labels({ "hypershift.openshift.io/hosted-control-plane": "true" }),
        ),
      ),
    ],
    [
      "a tenant removes the label of a control-plane namespace",
      by(
        "tenant",
        patch("/api/v1/namespaces/clusters-one", labels({ "postern.io/made-by": null })),
      ),
    ],
    [
      "a tenant opens the Secrets of its Namespace to the operator",
      by("tenant", patch("/api/v1/namespaces/tenant", labels({ "postern.io/secrets": "allowed" }))),
    ],
    [
      "a tenant labels a Service",
      by(
        "tenant",
        patch(`${core("tenant", "services")}/any`, labels({ "postern.io/made-by": "topology" })),
      ),
    ],
    [
      "a tenant labels a ServiceAccount",
      by(
        "tenant",
        patch(
          `${core("tenant", "serviceaccounts")}/any`,
          labels({ "postern.io/made-by": "topology" }),
        ),
      ),
    ],
    [
      "a tenant labels a Route",
      by("tenant", patch(`${routes("tenant")}/any`, labels({ "postern.io/made-by": "topology" }))),
    ],
    [
      "a tenant creates a Route that passes for one of Postern",
      by(
        "tenant",
        post(routes("tenant"), simpleRoute("forged", { "postern.io/made-by": "topology" })),
      ),
    ],
    [
      "a tenant labels a Service by its subresource status",
      by(
        "tenant",
        patch(
          `${core("tenant", "services")}/any/status`,
          labels({ "postern.io/made-by": "topology" }),
        ),
      ),
    ],
    [
      "a tenant creates a Service with an annotation of a subdomain",
      by(
        "tenant",
        post(core("tenant", "services"), {
          ...simpleService("forged"),
          metadata: { name: "forged", annotations: { "link.postern.io/id": "x" } },
        }),
      ),
    ],
    [
      "a tenant changes the value of a label on a Service of Postern",
      by(
        "tenant",
        patch(
          `${core("clusters-one", "services")}/private-router`,
          labels({ "postern.io/made-by": "me" }),
        ),
      ),
    ],
    [
      "a control plane operator labels a Namespace",
      by(
        controlPlaneOperator("clusters-one"),
        patch("/api/v1/namespaces/clusters-one", labels({ "postern.io/secrets": "allowed" })),
      ),
    ],
  ],
  "postern-operator-namespaces": [
    [
      "the operator deletes a Namespace that it did not create",
      by(operator, remove("/api/v1/namespaces/tenant")),
    ],
    [
      "the operator labels a Namespace in order to delete it",
      by(
        operator,
        patch("/api/v1/namespaces/tenant", labels({ "postern.io/made-by": "topology" })),
      ),
    ],
    [
      "the operator labels a Namespace in order to bind its role there",
      by(
        operator,
        patch(
          "/api/v1/namespaces/tenant",
          labels({ "hypershift.openshift.io/hosted-control-plane": "true" }),
        ),
      ),
    ],
    [
      "the operator opens the Secrets of a Namespace to itself",
      by(
        operator,
        post(
          "/api/v1/namespaces",
          namespaceBody("opened", { ...controlPlaneLabels, "postern.io/secrets": "allowed" }),
        ),
      ),
    ],
    [
      "the operator allows privileged Pods in a Namespace",
      by(
        operator,
        patch(
          "/api/v1/namespaces/clusters-one",
          labels({ "pod-security.kubernetes.io/enforce": "privileged" }),
        ),
      ),
    ],
    [
      "the operator allows privileged Pods by the subresource status",
      by(
        operator,
        patch(
          "/api/v1/namespaces/clusters-one/status",
          labels({ "pod-security.kubernetes.io/enforce": "privileged" }),
        ),
      ),
    ],
    [
      "the operator creates a Namespace with privileged Pods",
      by(
        operator,
        post(
          "/api/v1/namespaces",
          namespaceBody("privileged", {
            ...controlPlaneLabels,
            "pod-security.kubernetes.io/enforce": "privileged",
          }),
        ),
      ),
    ],
    [
      "the operator gives a Namespace to a HostedCluster",
      by(
        operator,
        patch(
          "/api/v1/namespaces/tenant",
          annotations({ "hypershift.openshift.io/cluster": "another/cluster" }),
        ),
      ),
    ],
    [
      "the operator changes somebody else's annotation of a Namespace",
      by(operator, patch("/api/v1/namespaces/tenant", annotations({ "example.com/owner": "me" }))),
    ],
    [
      "the operator has the garbage collector delete a Namespace, by an owner that does not exist",
      by(operator, patch("/api/v1/namespaces/tenant", { metadata: { ownerReferences: [nobody] } })),
    ],
    [
      "the operator keeps a Namespace from ever being deleted, by a finalizer",
      by(
        operator,
        patch("/api/v1/namespaces/tenant", { metadata: { finalizers: ["example.com/never"] } }),
      ),
    ],
  ],
  "postern-operator-owners": [
    [
      "the operator has the garbage collector delete a HostedCluster, by an owner that does not exist",
      by(
        operator,
        patch(`${hypershift("clusters", "hostedclusters")}/one`, {
          metadata: { ownerReferences: [nobody] },
        }),
      ),
    ],
    [
      "the operator has the garbage collector delete a link object, by an owner that does not exist",
      by(
        operator,
        patch(`${links("clusters-one")}/private-router`, {
          metadata: { ownerReferences: [nobody] },
        }),
      ),
    ],
  ],
  "postern-operator-role-bindings": [
    [
      "the operator binds its role in a tenant's namespace",
      by(operator, post(bindings("tenant"), binding(grant))),
    ],
    [
      "the operator binds another role",
      by(operator, post(bindings("clusters-one"), binding("cluster-admin", [account], grant))),
    ],
    [
      "the operator binds its role to somebody else",
      by(
        operator,
        post(bindings("clusters-one"), binding(grant, [{ ...account, namespace: "tenant" }])),
      ),
    ],
    [
      "the operator binds its role to somebody else beside itself",
      by(
        operator,
        post(
          bindings("clusters-one"),
          binding(grant, [account, { kind: "Group", name: "system:authenticated" }]),
        ),
      ),
    ],
    [
      "the operator binds its role under another name",
      by(operator, post(bindings("clusters-one"), binding(grant, [account], "another"))),
    ],
    [
      "the operator binds a role for the whole cluster",
      by(
        operator,
        post(`${rbac}/clusterrolebindings`, binding("cluster-admin", [account], "whole")),
      ),
    ],
    [
      "the operator gives an existing binding to somebody else",
      by(
        operator,
        patch(`${bindings("clusters-two")}/${grant}`, {
          subjects: [{ kind: "Group", name: "system:authenticated" }],
        }),
      ),
    ],
  ],
  "postern-operator-reserved-namespaces": [
    ...["kube-system", "openshift-ingress", "default"].map((namespace): [string, Attempt] => [
      `the operator creates a Service in ${namespace}`,
      by(operator, post(core(namespace, "services"), simpleService("router"))),
    ]),
    [
      "the operator takes the control plane namespace kube-system",
      by(
        operator,
        patch(
          "/api/v1/namespaces/kube-system",
          annotations({ "postern.io/cluster": "kube/system" }),
        ),
      ),
    ],
    [
      "the operator creates a Namespace with a reserved name",
      by(operator, post("/api/v1/namespaces", namespaceBody("kube-one", controlPlaneLabels))),
    ],
    [
      "the operator mints a token of a service account in kube-system",
      by(
        operator,
        post(`${core("kube-system", "serviceaccounts")}/control-plane-operator/token`, {
          spec: { audiences: ["any"] },
        }),
      ),
    ],
    [
      "the operator takes a Lease of another component",
      by(operator, post(leases("kube-system"), { metadata: { name: "kube-scheduler" } })),
    ],
    [
      "the operator writes an event into default",
      by(operator, post("/apis/events.k8s.io/v1/namespaces/default/events", event("default"))),
    ],
    [
      "an operator in a namespace of the platform creates a Service there",
      by(platformOperator, post(core("openshift-postern", "services"), simpleService("router"))),
    ],
  ],
  "postern-namespaced-roles": [
    [
      "somebody binds the role of control planes for the whole cluster",
      post(`${rbac}/clusterrolebindings`, binding(grant)),
    ],
    [
      "somebody binds the Secrets of Cluster API for the whole cluster",
      post(`${rbac}/clusterrolebindings`, binding("postern-cluster-api-secrets")),
    ],
    [
      "somebody binds the Secrets of Cluster API in a namespace without the label",
      post(bindings("tenant"), binding("postern-cluster-api-secrets")),
    ],
  ],
};
