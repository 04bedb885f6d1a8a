/** Why the names of a cluster are, or are not, as they should be. */
export const reasons = {
  /** Every zone and name is there. The word is that of the operator before us. */
  created: "GSDNSZonesCreated",
  /** Private names wait for the endpoint that they are to lead to. */
  privateNamesPending: "PrivateNamesPending",
  /** The last write to a zone or a link failed in Azure. */
  resourceFailed: "ResourceFailed",
  /** A zone, a link or a record set that stands in the way is somebody else's. */
  ownedByAnother: "OwnedByAnother",
  /** No cluster may have this name in the base zone. */
  nameReserved: "NameReserved",
  /** Another cluster, or somebody else, has this name in the base zone. */
  nameTaken: "NameTaken",
  notAllowed: "NotAllowedByPolicy",
  /** The zone in which clusters are delegated does not exist. */
  baseZoneMissing: "BaseZoneMissing",
  /** The API server is reached by a name, for which there can be no address record. */
  endpointNotAnAddress: "EndpointNotAnAddress",
  /** An annotation says something that cannot be done. */
  invalidAnnotation: "InvalidAnnotation",
  /** It is not known in which subscription or region the cluster's zone belongs. */
  placeUnknown: "PlaceUnknown",
  /** More clusters share a zone than Azure has room for tags. */
  zoneFull: "ZoneFull",
  /** A zone that clusters of one resource group share leads another one's network elsewhere than ours has to go. */
  zoneOfAnotherNetwork: "ZoneOfAnotherNetwork",
  /** The AzureCluster of the management cluster, in whose group a zone of a cluster that is being deleted may be, does not exist. */
  managementNotFound: "ManagementClusterNotFound",
  /** The resource group that was created for a cluster stays after its deletion. */
  groupLeft: "ResourceGroupLeft",
  /** No version of the API group has the kind of the infrastructure object. */
  kindNotServed: "InfrastructureKindNotServed",
  /** Something of a cluster that is being deleted cannot be removed. */
  cleanupFailed: "CleanupFailed",
} as const;
