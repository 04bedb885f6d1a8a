import { success } from "../names.ts";

/** Every reason that the conditions of this feature can have. */
export const reasons = {
  // As HyperShift has them.
  success,
  error: "AzureError",
  loadBalancerLookupFailed: "ILBLookupFailed",
  natSubnetFailed: "NATSubnetCreationFailed",
  creationFailed: "PLSCreationFailed",
  updateFailed: "PLSUpdateFailed",
  // Nothing can be done before somebody changes an object.
  clusterAnnotation: "InvalidClusterAnnotation",
  clusterNotFound: "HostedClusterNotFound",
  clusterID: "ClusterIDMissing",
  invalidSubnet: "InvalidGuestSubnet",
  nameTooLong: "NameTooLong",
  paused: "Paused",
  addressMissing: "LoadBalancerIPMissing",
  unverified: "ControlPlaneNotVerified",
  addressUnverified: "LoadBalancerIPNotVerified",
  notAllowed: "NotAllowedByPolicy",
  // Nothing can be done before somebody changes something in Azure.
  loadBalancerNotFound: "ILBNotFound",
  loadBalancerFailed: "ILBFailed",
  loadBalancerUnsupported: "ILBUnsupported",
  loadBalancerForeign: "ILBOfAnotherService",
  loadBalancerFull: "ILBFull",
  natSubnetUnfit: "NATSubnetUnfit",
  ownedByAnother: "OwnedByAnother",
  // It is under way.
  natSubnetCreating: "NATSubnetCreating",
  creating: "PLSCreating",
  updating: "PLSUpdating",
  replacing: "PLSReplacing",
  serviceDeleting: "ServiceDeleting",
  // Deletion.
  deleting: "PLSDeleting",
  deletionFailed: "PLSDeletionFailed",
  foreignEndpoints: "ForeignEndpointsConnected",
  natSubnetDeletionFailed: "NATSubnetDeletionFailed",
} as const;
