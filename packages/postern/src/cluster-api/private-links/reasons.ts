/**
 * Why a condition of this feature is as it is. By its reason a condition is known for ours, so none of these is one that
 * Cluster API Provider Azure writes: it has Creating, Updating, Deleting, Deleted, DeletionFailed, Failed, or none at all.
 */
export const reasons = {
  /** Everything is in Azure as it is desired, and every connection is approved. */
  ready: "Realised",
  /** Something is being created. */
  creating: "BeingMade",
  /** Something is being updated in place. */
  changing: "BeingChanged",
  /** Something is being recreated, because Azure never changes what differs. */
  replacing: "BeingReplaced",
  /** Something that is not desired any more, or whose cluster is being deleted, is being removed. */
  removing: "BeingRemoved",
  /** Azure refused to create, change or remove something. */
  notMade: "NotMade",
  notChanged: "NotChanged",
  notRemoved: "NotRemoved",
  /** Azure could not be read, or something unforeseen happened. */
  notReady: "NotRealised",
  /** The request is invalid. */
  invalid: "InvalidRequest",
  /** The annotation with private links cannot be read, or is over a limit. */
  invalidAnnotation: "InvalidAnnotation",
  /** Something of this name is somebody else's. */
  ownedByAnother: "OwnedByAnother",
  /** The load balancer of the API server, or its frontend, is not there yet. */
  noLoadBalancer: "LoadBalancerMissing",
  /** The load balancer has as many link services as Azure allows. */
  loadBalancerFull: "ILBFull",
  /** The subnet for NAT addresses is not there, or is another's and cannot be used as it is. */
  subnetUnfit: "NATSubnetUnfit",
  /** The subnet for NAT addresses is being opened for link services, or Azure refused that. */
  subnetChanging: "NATSubnetBeingChanged",
  subnetNotChanged: "NATSubnetNotChanged",
  /** The owner of a link service has not decided on a connection, or decided against it. */
  approvalPending: "ApprovalPending",
  rejected: "ConnectionRejected",
  /** Endpoints of others are connected, and must not be cut off. */
  foreignEndpoints: "ForeignEndpointsConnected",
} as const;

const ownReasons: ReadonlySet<string> = new Set(Object.values(reasons));

/** Whether a condition with this reason was written by us. */
export function isOurReason(reason: string | undefined): boolean {
  return reason !== undefined && ownReasons.has(reason);
}
