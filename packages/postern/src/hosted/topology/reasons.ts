/** The condition of a HostedCluster that says whether its Services and Routes are as its topology wants them. */
export const topologyApplied = "TopologyApplied";

/** The reasons of that condition, beside those of `privateAccess` and of a failed write. */
export const topologyReasons = {
  // What contradicts itself, and what only its owner can put right.
  azureMissing: "AzureBlockMissing",
  privateForbidden: "PrivateWithPublicTopology",
  privateMismatch: "PrivateTypeMismatch",
  identityMissing: "IdentityMissing",
  strategy: "PublishingStrategyNotSupported",
  apiServer: "APIServerNotBehindLink",
  cloudNotSupported: "CloudNotSupported",
  another: "OwnedByAnother",
  reserved: "NamespaceReserved",
  hostnameTaken: "HostnameTaken",
  notAllowed: "NotAllowedByPolicy",
  nameUnusable: "NameUnusable",
  noRoutes: "RoutesNotServed",
  // Progress.
  applying: "Applying",
  terminating: "NamespaceTerminating",
  controlPlaneDeleting: "ControlPlaneDeleting",
  waitingForPrivate: "WaitingForPrivateLink",
  waitingForPublic: "WaitingForPublicAddress",
  deleting: "Deleting",
} as const;

/** The reason of a collected condition that not every link has, or not yet for its present generation. */
export const statusUnknown = "StatusUnknown";
