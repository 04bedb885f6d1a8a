/** What a permission is for: by role, then by resource and verb. `read` stands for any of get, list and watch, but not for list alone. */
type Purposes = Record<string, string>;

const ownEvents: Purposes = {
  "events create": "record an event",
  "events patch": "count an event that happens again",
};

const events: Purposes = {
  "events list": "show the events of an object on the dashboard",
  ...ownEvents,
};

const management: Purposes = {
  "hostedclusters read": "reconcile HostedClusters, and verify the owner of a link object",
  "hostedclusters/status patch": "publish the conditions of the links on the HostedCluster",
  "hostedcontrolplanes read": "verify the owner of a link object",
  "azureprivatelinkservices read": "reconcile link objects",
  "azureprivatelinkservices patch": "add and remove the finalizer of the link service",
  "azureprivatelinkservices/status patch": "publish the link service, its alias and its conditions",
  "namespaces read":
    "find control-plane namespaces, and identify the management cluster by the uid of kube-system",
  "namespaces patch":
    "record NAT subnets on a control-plane namespace; admission policies reject other changes",
  "services read": "verify the address of a link object",
  "serviceaccounts read": "see whether the service account of a control plane exists",
  "routes read": "see which Routes of a control plane exist",
  "customresourcedefinitions read": "see whether HyperShift is installed",
  ...events,
};

const leases: Purposes = {
  "leases create": "create the Lease for leader election",
  "leases read": "see which replica leads",
  "leases update": "acquire and renew the Lease",
};

/** The purpose of every permission of `manifests/rbac`. */
export const purposes: Record<string, Purposes> = {
  operator: {
    ...management,
    "hostedcontrolplanes/status patch": "publish why a control plane is ignored",
    "nodepools read": "find the subnet of a cluster that does not specify one",
    "rolebindings create":
      "bind `postern-control-plane` to itself; admission limits it to control-plane namespaces",
    "rolebindings read": "see whether that RoleBinding is as it should be",
    "rolebindings patch": "repair that RoleBinding",
    "clusterroles bind": "be allowed to bind a role with permissions that it does not have itself",
  },
  management,
  topology: {
    "hostedclusters patch": "add and remove the finalizer, and set clusterID and infraID once",
    "hostedcontrolplanes read": "read an object that was just written, if the watch is behind",
    "hostedcontrolplanes create": "create the control plane of a HostedCluster",
    "hostedcontrolplanes patch": "copy changes of the HostedCluster",
    "hostedcontrolplanes delete": "delete it with its HostedCluster",
    "hostedcontrolplanes/status patch": "publish where its API server is reached",
    "hostedcontrolplanes/finalizers update":
      "make it the owner of Services and Routes, where the API server checks it, as OpenShift's does",
    "azureprivatelinkservices delete": "delete the link objects of a HostedCluster with it",
    "namespaces create": "create the control-plane namespace",
    "namespaces delete":
      "delete it with its HostedCluster; admission limits it to those with our label",
    "serviceaccounts read": "read an object that was just created, if the watch is behind",
    "serviceaccounts create": "create `control-plane-operator`, the identity of the control plane",
    "serviceaccounts delete": "delete it with its HostedCluster",
    "services read": "read an object that was just written, if the watch is behind",
    "services create": "create the Services of the topology",
    "services patch": "repair and change them",
    "services delete": "delete those that the topology does not have any more",
    "routes read": "read an object that was just written, if the watch is behind",
    "routes create": "create the Routes of the topology",
    "routes patch": "repair and change them",
    "routes delete": "delete those that the topology does not have any more",
    "routes/custom-host create": "create Routes with the hostnames of the HostedCluster",
    "routes/custom-host update": "change the hostname of a Route",
  },
  "control-plane": {
    "hostedclusters read":
      "`--role control-plane` watches them in its own namespace, where there are none",
    "nodepools read":
      "`--role control-plane` watches them in its own namespace, where there are none",
    "hostedcontrolplanes read": "reconcile the control plane",
    "hostedcontrolplanes patch": "add and remove the finalizer of its endpoints",
    "hostedcontrolplanes/status patch": "publish why it has no link object",
    "hostedcontrolplanes/finalizers update":
      "make it the owner of link objects, where the API server checks it, as OpenShift's does",
    "azureprivatelinkservices read": "reconcile link objects",
    "azureprivatelinkservices create": "create a link object for a Service with an address",
    "azureprivatelinkservices patch": "change it, and add and remove the finalizer of its endpoint",
    "azureprivatelinkservices delete": "delete one that is not needed any more",
    "azureprivatelinkservices/status patch": "publish the endpoint, its address and its conditions",
    "services read": "find the address of the router",
    "services create": "create the Services that external-dns publishes",
    "services patch": "repair and change them",
    "services delete": "delete them",
    "secrets read": "read a kubeconfig of the hosted cluster, for the token of its identity",
    "serviceaccounts/token create":
      "get the token of its identity from the management cluster, where the hosted cluster gives none",
    ...ownEvents,
    ...leases,
  },
  lease: leases,
  "cluster-api": {
    "azureclusters read": "reconcile AzureClusters",
    "azureclusters patch":
      "add finalizers, private endpoints and the annotations of their addresses",
    "azureclusters/status patch": "publish conditions",
    "azureclusteridentities read":
      "find the identity of a cluster, and which namespaces may use it",
    "azuremanagedcontrolplanes read": "find the API server of a cluster on AKS",
    "azureasomanagedcontrolplanes read": "find the API server of a cluster on AKS",
    "clusters read": "reconcile Clusters",
    "clusters patch": "add and remove finalizers",
    "kubeadmcontrolplanes read": "see whether a control plane is paused",
    "kubeadmcontrolplanes patch": "pause it until its gates are True",
    "azureasomanagedclusters read": "find a cluster on AKS",
    "azureasomanagedclusters patch": "add and remove the finalizer of its DNS records",
    "customresourcedefinitions read":
      "find the version of a kind of another provider by the contract labels of Cluster API",
    "vsphereclusters read": "find a cluster of another provider",
    "vsphereclusters patch": "add and remove the finalizer of its DNS records",
    "vsphereclusters/status patch": "publish conditions",
    "openstackclusters read": "find a cluster of another provider",
    "openstackclusters patch": "add and remove the finalizer of its DNS records",
    "openstackclusters/status patch": "publish conditions",
    "vcdclusters read": "find a cluster of another provider",
    "vcdclusters patch": "add and remove the finalizer of its DNS records",
    "vcdclusters/status patch": "publish conditions",
    "providerconfigs read": "reconcile ProviderConfigs",
    "providerconfigs create": "create the ProviderConfig of a Cluster",
    "providerconfigs patch": "repair and change it",
    "providerconfigs delete": "delete it with its Cluster",
    "namespaces read": "match the labels of namespaces that an identity allows",
    "services read":
      "find the load balancer of the Service that a private link of the management cluster names",
    ...events,
  },
  "token-review": {
    "tokenreviews create": "authenticate the token of a client of metrics or the dashboard",
    "subjectaccessreviews create": "check whether RBAC allows that client to read them",
  },
  "cluster-api-secrets": {
    "secrets read":
      "read the Secret of an AzureClusterIdentity or of Azure Service Operator, and the kubeconfig of a cluster of another provider",
  },
};
