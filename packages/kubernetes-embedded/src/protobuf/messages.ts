/**
 * The messages that Go's typed clients send, as `number name form` for each field. The form is `text` where none is
 * said. `?` marks a field that is sent only when it was set: without it a zero, an empty text or a false was not said
 * by anybody. `[]` is a list, `{}` a map by name. What is not listed is skipped.
 *
 * The numbers are those of the protobuf tags in k8s.io/api and k8s.io/apimachinery v0.36.
 */
export const messages: Readonly<Record<string, string>> = {
  AttachedVolume: "1 name, 2 devicePath",
  BoundObjectReference: "1 kind, 2 apiVersion, 3 name, 4 uid",
  ClientIPConfig: "1 timeoutSeconds int?",
  Condition:
    "1 type, 2 status, 3 observedGeneration int, 4 lastTransitionTime Time, 5 reason, " +
    "6 message",
  ConfigMap: "1 metadata ObjectMeta, 2 data text{}, 3 binaryData bytes{}, 4 immutable flag?",
  ContainerImage: "1 names text[], 2 sizeBytes int",
  DaemonEndpoint: "1 Port int",
  DeleteOptions:
    "1 gracePeriodSeconds int?, 2 preconditions Preconditions, 3 orphanDependents flag?, " +
    "4 propagationPolicy text?, 5 dryRun text[], " +
    "6 ignoreStoreReadErrorWithClusterBreakingPotential flag?",
  Endpoint:
    "1 addresses text[], 2 conditions EndpointConditions, 3 hostname text?, " +
    "4 targetRef ObjectReference, 5 deprecatedTopology text{}, 6 nodeName text?, " +
    "7 zone text?, 8 hints EndpointHints",
  EndpointConditions: "1 ready flag?, 2 serving flag?, 3 terminating flag?",
  EndpointHints: "1 forZones ForZone[], 2 forNodes ForNode[]",
  EndpointSlice:
    "1 metadata ObjectMeta, 2 endpoints Endpoint[], 3 ports SlicePort[], 4 addressType",
  Event:
    "1 metadata ObjectMeta, 2 involvedObject ObjectReference, 3 reason, 4 message, " +
    "5 source EventSource, 6 firstTimestamp Time, 7 lastTimestamp Time, 8 count int, 9 type, " +
    "10 eventTime MicroTime, 11 series EventSeries, 12 action, 13 related ObjectReference, " +
    "14 reportingComponent, 15 reportingInstance",
  EventSeries: "1 count int, 2 lastObservedTime MicroTime",
  EventSource: "1 component, 2 host",
  ForNode: "1 name",
  ForZone: "1 name",
  Lease: "1 metadata ObjectMeta, 2 spec LeaseSpec",
  LeaseSpec:
    "1 holderIdentity text?, 2 leaseDurationSeconds int?, 3 acquireTime MicroTime, " +
    "4 renewTime MicroTime, 5 leaseTransitions int?, 6 strategy text?, " +
    "7 preferredHolder text?",
  LoadBalancerIngress: "1 ip, 2 hostname, 3 ipMode text?, 4 ports PortStatus[]",
  LoadBalancerStatus: "1 ingress LoadBalancerIngress[]",
  LocalObjectReference: "1 name",
  LocalSubjectAccessReview: "1 metadata ObjectMeta, 2 spec SubjectAccessReviewSpec",
  ManagedFieldsEntry:
    "1 manager, 2 operation, 3 apiVersion, 4 time Time, 6 fieldsType, 7 fieldsV1 FieldsV1, " +
    "8 subresource",
  Namespace: "1 metadata ObjectMeta, 2 spec NamespaceSpec, 3 status NamespaceStatus",
  NamespaceCondition: "1 type, 2 status, 4 lastTransitionTime Time, 5 reason, 6 message",
  NamespaceSpec: "1 finalizers text[]",
  NamespaceStatus: "1 phase, 2 conditions NamespaceCondition[]",
  NewEvent:
    "1 metadata ObjectMeta, 2 eventTime MicroTime, 3 series NewEventSeries, " +
    "4 reportingController, 5 reportingInstance, 6 action, 7 reason, " +
    "8 regarding ObjectReference, 9 related ObjectReference, 10 note, 11 type, " +
    "12 deprecatedSource EventSource, 13 deprecatedFirstTimestamp Time, " +
    "14 deprecatedLastTimestamp Time, 15 deprecatedCount int",
  NewEventSeries: "1 count int, 2 lastObservedTime MicroTime",
  Node: "1 metadata ObjectMeta, 2 spec NodeSpec, 3 status NodeStatus",
  NodeAddress: "1 type, 2 address",
  NodeCondition:
    "1 type, 2 status, 3 lastHeartbeatTime Time, 4 lastTransitionTime Time, 5 reason, " +
    "6 message",
  NodeDaemonEndpoints: "1 kubeletEndpoint DaemonEndpoint",
  NodeFeatures: "1 supplementalGroupsPolicy flag?",
  NodeRuntimeHandler: "1 name, 2 features NodeRuntimeHandlerFeatures",
  NodeRuntimeHandlerFeatures: "1 recursiveReadOnlyMounts flag?, 2 userNamespaces flag?",
  NodeSpec:
    "1 podCIDR, 2 externalID, 3 providerID, 4 unschedulable flag, 5 taints Taint[], " +
    "7 podCIDRs text[]",
  NodeStatus:
    "1 capacity Quantity{}, 2 allocatable Quantity{}, 3 phase, 4 conditions NodeCondition[], " +
    "5 addresses NodeAddress[], 6 daemonEndpoints NodeDaemonEndpoints, " +
    "7 nodeInfo NodeSystemInfo, 8 images ContainerImage[], 9 volumesInUse text[], " +
    "10 volumesAttached AttachedVolume[], 12 runtimeHandlers NodeRuntimeHandler[], " +
    "13 features NodeFeatures, 14 declaredFeatures text[]",
  NodeSwapStatus: "1 capacity int?",
  NodeSystemInfo:
    "1 machineID, 2 systemUUID, 3 bootID, 4 kernelVersion, 5 osImage, " +
    "6 containerRuntimeVersion, 7 kubeletVersion, 8 kubeProxyVersion, 9 operatingSystem, " +
    "10 architecture, 11 swap NodeSwapStatus",
  NonResourceAttributes: "1 path, 2 verb",
  ObjectMeta:
    "1 name, 2 generateName, 3 namespace, 4 selfLink, 5 uid, 6 resourceVersion, " +
    "7 generation int, 8 creationTimestamp Time, 9 deletionTimestamp Time, " +
    "10 deletionGracePeriodSeconds int?, 11 labels text{}, 12 annotations text{}, " +
    "13 ownerReferences OwnerReference[], 14 finalizers text[], " +
    "17 managedFields ManagedFieldsEntry[]",
  ObjectReference:
    "1 kind, 2 namespace, 3 name, 4 uid, 5 apiVersion, 6 resourceVersion, 7 fieldPath",
  OwnerReference:
    "1 kind, 3 name, 4 uid, 5 apiVersion, 6 controller flag?, 7 blockOwnerDeletion flag?",
  PortStatus: "1 port int, 2 protocol, 3 error text?",
  Preconditions: "1 uid text?, 2 resourceVersion text?",
  ResourceAttributes: "1 namespace, 2 verb, 3 group, 4 version, 5 resource, 6 subresource, 7 name",
  Secret: "1 metadata ObjectMeta, 2 data bytes{}, 3 type, 4 stringData text{}, 5 immutable flag?",
  SelfSubjectAccessReview: "1 metadata ObjectMeta, 2 spec SelfSubjectAccessReviewSpec",
  SelfSubjectAccessReviewSpec:
    "1 resourceAttributes ResourceAttributes, 2 nonResourceAttributes NonResourceAttributes",
  SelfSubjectReview: "1 metadata ObjectMeta",
  SelfSubjectRulesReview: "1 metadata ObjectMeta, 2 spec SelfSubjectRulesReviewSpec",
  SelfSubjectRulesReviewSpec: "1 namespace",
  Service: "1 metadata ObjectMeta, 2 spec ServiceSpec, 3 status ServiceStatus",
  ServiceAccount:
    "1 metadata ObjectMeta, 2 secrets ObjectReference[], " +
    "3 imagePullSecrets LocalObjectReference[], 4 automountServiceAccountToken flag?",
  ServicePort:
    "1 name, 2 protocol, 3 port int, 4 targetPort IntOrString, 5 nodePort int, " +
    "6 appProtocol text?",
  ServiceSpec:
    "1 ports ServicePort[], 2 selector text{}, 3 clusterIP, 4 type, 5 externalIPs text[], " +
    "7 sessionAffinity, 8 loadBalancerIP, 9 loadBalancerSourceRanges text[], 10 externalName, " +
    "11 externalTrafficPolicy, 12 healthCheckNodePort int, 13 publishNotReadyAddresses flag, " +
    "14 sessionAffinityConfig SessionAffinityConfig, 17 ipFamilyPolicy text?, " +
    "18 clusterIPs text[], 19 ipFamilies text[], 20 allocateLoadBalancerNodePorts flag?, " +
    "21 loadBalancerClass text?, 22 internalTrafficPolicy text?, 23 trafficDistribution text?",
  ServiceStatus: "1 loadBalancer LoadBalancerStatus, 2 conditions Condition[]",
  SessionAffinityConfig: "1 clientIP ClientIPConfig",
  SlicePort: "1 name text?, 2 protocol text?, 3 port int?, 4 appProtocol text?",
  SubjectAccessReview: "1 metadata ObjectMeta, 2 spec SubjectAccessReviewSpec",
  SubjectAccessReviewSpec:
    "1 resourceAttributes ResourceAttributes, 2 nonResourceAttributes NonResourceAttributes, " +
    "3 user, 4 groups text[], 6 uid",
  Taint: "1 key, 2 value, 3 effect, 4 timeAdded Time",
  TokenRequest: "1 metadata ObjectMeta, 2 spec TokenRequestSpec",
  TokenRequestSpec:
    "1 audiences text[], 3 boundObjectRef BoundObjectReference, 4 expirationSeconds int?",
  TokenReview: "1 metadata ObjectMeta, 2 spec TokenReviewSpec",
  TokenReviewSpec: "1 token, 2 audiences text[]",
};
