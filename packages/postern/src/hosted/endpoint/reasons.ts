/** Every reason of the conditions that this feature writes. `docs/reference/conditions.md` lists the same. */
export const reasons = {
  // HyperShift's.
  success: "AzureSuccess",
  endpointGetFailed: "PrivateEndpointGetFailed",
  endpointCreationFailed: "PrivateEndpointCreationFailed",
  endpointNotApproved: "PrivateEndpointConnectionNotApproved",
  zoneCreationFailed: "DNSZoneCreationFailed",
  linkCreationFailed: "VNetLinkCreationFailed",
  recordCreationFailed: "ARecordCreationFailed",
  baseZoneCreationFailed: "BaseDomainDNSZoneCreationFailed",
  baseLinkCreationFailed: "BaseDomainVNetLinkCreationFailed",
  baseRecordCreationFailed: "BaseDomainARecordCreationFailed",

  // Ours: pending.
  controlPlaneUnknown: "ControlPlaneUnknown",
  finalizerMissing: "ControlPlaneNotHeld",
  clusterIDMissing: "ClusterIDMissing",
  linkPending: "LinkServicePending",
  endpointCreating: "PrivateEndpointCreating",
  endpointReplacing: "PrivateEndpointReplacing",
  addressPending: "PrivateEndpointAddressPending",
  namesPending: "NamesPending",
  paused: "Paused",

  // Ours: somebody must act.
  endpointRejected: "PrivateEndpointConnectionRejected",
  endpointApprovalOverdue: "PrivateEndpointApprovalOverdue",
  unverified: "ControlPlaneNotVerified",
  notAllowed: "NotAllowedByPolicy",
  ownedByAnother: "OwnedByAnother",
  nameTooLong: "NameTooLong",
  invalidAnnotation: "InvalidAnnotation",
  zoneMissing: "ZoneMissing",
  zoneFull: "ZoneFull",
  baseDomainMissing: "BaseDomainMissing",
  zoneGivenUp: "ZoneGivenUp",
  apiServerNotBehindLink: "APIServerNotBehindLink",

  // Ours: deletion.
  deleting: "Deleting",
  cleanupFailed: "CleanupFailed",
  abandoned: "GuestResourcesAbandoned",
} as const;

/** One of them. */
export type Reason = (typeof reasons)[keyof typeof reasons];
