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
  garbageCollector,
  grant,
  hyperShift,
  hypershift,
  labels,
  leases,
  link,
  links,
  namespaceBody,
  namespaceController,
  operator,
  patch,
  platformOperator,
  post,
  remove,
  simpleService,
} from "./attempts.ts";

/** What must go on working, in this order. */
export const legitimate: [string, Attempt][] = [
  [
    "the operator creates a link object",
    by(operator, post(links("clusters-one"), link("clusters-one", "a"))),
  ],
  [
    "HyperShift creates a link object",
    by(hyperShift, post(links("clusters-one"), link("clusters-one", "b"))),
  ],
  [
    "a control plane operator creates a link object in its own namespace",
    by(
      controlPlaneOperator("clusters-one"),
      post(links("clusters-one"), link("clusters-one", "c")),
    ),
  ],
  [
    "the operator writes the status of a link object",
    by(
      operator,
      patch(`${links("clusters-one")}/a/status`, { status: { privateEndpointIP: "10.0.0.7" } }),
    ),
  ],
  [
    "the operator annotates a link object",
    by(operator, patch(`${links("clusters-one")}/a`, annotations({ "postern.io/x": "x" }))),
  ],
  [
    "the garbage collector deletes a link object",
    by(garbageCollector, remove(`${links("clusters-one")}/a`)),
  ],
  [
    "the garbage collector removes a finalizer of a link object",
    by(garbageCollector, patch(`${links("clusters-one")}/a`, { metadata: { finalizers: null } })),
  ],
  [
    "the namespace controller deletes the link objects of a namespace",
    by(namespaceController, remove(`${links("clusters-one")}/b`)),
  ],
  [
    "an administrator removes the finalizers of a link object",
    patch(`${links("clusters-one")}/b`, { metadata: { finalizers: null } }),
  ],
  [
    "a user sets an annotation of Postern on a HostedCluster",
    by(
      "tenant",
      patch(
        `${hypershift("clusters", "hostedclusters")}/one`,
        annotations({ "postern.io/foreign-endpoints": "refuse" }),
      ),
    ),
  ],
  [
    "a user changes another label of a Service of Postern",
    by(
      "tenant",
      patch(`${core("clusters-one", "services")}/private-router`, labels({ team: "blue" })),
    ),
  ],
  [
    "a user sets a label of a domain that only ends alike",
    by("tenant", patch(`${core("tenant", "services")}/any`, labels({ "notpostern.io/x": "y" }))),
  ],
  [
    "the status of a Service of Postern is written by the cloud provider",
    by(
      "system:serviceaccount:kube-system:cloud-controller-manager",
      patch(`${core("clusters-one", "services")}/private-router/status`, {
        status: { loadBalancer: { ingress: [{ ip: "10.0.0.8" }] } },
      }),
    ),
  ],
  [
    "HyperShift copies an annotation of Postern to a HostedControlPlane",
    by(
      hyperShift,
      patch(
        `${hypershift("clusters-one", "hostedcontrolplanes")}/one`,
        annotations({ "postern.io/foreign-endpoints": "refuse" }),
      ),
    ),
  ],
  [
    "a control plane operator labels a Service in its own namespace",
    by(
      controlPlaneOperator("clusters-one"),
      patch(`${core("clusters-one", "services")}/private-router`, labels({ "postern.io/x": "y" })),
    ),
  ],
  ["a user creates a Namespace", by("tenant", post("/api/v1/namespaces", namespaceBody("plain")))],
  [
    "HyperShift creates a control-plane namespace",
    by(
      hyperShift,
      post(
        "/api/v1/namespaces",
        namespaceBody("clusters-theirs", {
          "hypershift.openshift.io/hosted-control-plane": "true",
        }),
      ),
    ),
  ],
  [
    "the operator creates a control-plane namespace",
    by(operator, post("/api/v1/namespaces", namespaceBody("clusters-three", controlPlaneLabels))),
  ],
  [
    "the operator annotates a control-plane namespace",
    by(
      operator,
      patch(
        "/api/v1/namespaces/clusters-theirs",
        annotations({ "nat-subnet.postern.io/private-router": "x" }),
      ),
    ),
  ],
  [
    "the operator binds its role in a control-plane namespace to itself",
    by(operator, post(bindings("clusters-three"), binding(grant))),
  ],
  [
    "the operator repairs that binding",
    by(operator, patch(`${bindings("clusters-two")}/${grant}`, { subjects: [account] })),
  ],
  [
    "the operator deletes a namespace that it created",
    by(operator, remove("/api/v1/namespaces/clusters-three")),
  ],
  [
    "the operator creates a Service in a control-plane namespace",
    by(
      operator,
      post(
        core("clusters-one", "services"),
        simpleService("router", { "postern.io/made-by": "topology" }),
      ),
    ),
  ],
  [
    "the operator renews its Lease in its own namespace",
    by(operator, post(leases("postern"), { metadata: { name: "postern-operator" } })),
  ],
  [
    "an operator in a namespace of the platform renews its Lease there",
    by(
      platformOperator,
      post(leases("openshift-postern"), { metadata: { name: "postern-operator" } }),
    ),
  ],
  [
    "an administrator gives a Namespace to a HostedCluster",
    patch("/api/v1/namespaces/org", annotations({ "hypershift.openshift.io/cluster": "a/b" })),
  ],
  [
    "an administrator opens the Secrets of a namespace to Cluster API",
    patch("/api/v1/namespaces/org", labels({ "postern.io/secrets": "allowed" })),
  ],
  [
    "an administrator binds the Secrets of Cluster API in that namespace",
    post(bindings("org"), binding("postern-cluster-api-secrets")),
  ],
];
