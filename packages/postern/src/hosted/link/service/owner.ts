import { installationTag, isOrphaned, ownerIn, ownership } from "@postern/core/ownership.ts";
import { lastSegment, type ResourceId, sameId } from "@postern/core/resource-id.ts";
import { tagOf } from "@postern/core/tags.ts";
import type { PrivateLinkService } from "../../../azure/gateways/private-link-services.ts";
import { isFrontendOf } from "../../../private-link/link-service/frontends.ts";
import type { Ownership } from "../../../private-link/policy.ts";
import type { LinkParts } from "../cluster/dependencies.ts";
import type { Belonging } from "../cluster/verified-cluster.ts";
import type { Subject } from "../observed.ts";

/** What an object can show for a link service under one of its names. */
export interface Claimant {
  uid: string;
  /** Of its verified HostedCluster; absent where that does not exist any more. */
  clusterID: string | undefined;
  hostedCluster: string | undefined;
  /** Another HostedCluster says that it has the same clusterID: names alone prove nothing then. */
  sharesClusterID: boolean;
  namedByStatus: boolean;
  /** Whether a load balancer frontend was created for the object's own Service. */
  isOwnFrontend: (id: string) => boolean;
  /** Whether an object with this uid exists in this management cluster. */
  exists: (uid: string) => boolean;
  installation: string;
}

/**
 * Whether a link service under a name of the object is the object's own:
 *
 *   its owner tag     proof beside the name                                            →
 *   ours                                                                               ours
 *   same cluster      the object with that uid does not exist; clusterID not shared;   left: taken over
 *                     tag of this installation, or in front of our own frontend
 *   another's                                                                          another's
 *   none              it is in front of a load balancer frontend of our Service        ours: the tag was removed
 *   none              our status names it, clusterID not shared, no other cluster's    ours: the tag was removed, or
 *                     tag on it                                                        HyperShift created it
 *   none              nothing                                                          another's
 *
 * Without the cluster, which may not exist any more at a deletion, the uid in the tag decides alone: no other object has it.
 */
export function ownershipOf(found: PrivateLinkService, claimant: Claimant): Ownership {
  const { tags } = found;
  const owner = ownerIn(tags);
  const { uid, clusterID = owner?.clusterID ?? "", sharesClusterID } = claimant;
  const is = ownership(tags, { clusterID, uid });
  if (is.is === "ours") return { is: "ours" };
  if (is.is === "another") {
    const left =
      !sharesClusterID &&
      claimant.clusterID !== undefined &&
      isOrphaned(tags, claimant, claimant.exists);
    return left && isOfInstallation(found, claimant)
      ? { is: "left" }
      : { is: "another", described: is.described };
  }
  if (isInFront(found, claimant)) return { is: "ours" };
  const othersTag = is.hostedCluster !== undefined && is.hostedCluster !== claimant.hostedCluster;
  if (claimant.namedByStatus && claimant.clusterID !== undefined && !sharesClusterID && !othersTag)
    return { is: "ours" };
  return {
    is: "another",
    described:
      is.hostedCluster === undefined ? "an unknown owner" : "another hosted cluster of HyperShift",
  };
}

/** Several management clusters may have one management group, and the objects of another are not known here. */
function isOfInstallation(found: PrivateLinkService, claimant: Claimant): boolean {
  const installation = tagOf(found.tags, installationTag);
  return installation === undefined
    ? isInFront(found, claimant)
    : installation === claimant.installation;
}

function isInFront({ properties }: PrivateLinkService, claimant: Claimant): boolean {
  const frontends = properties.loadBalancerFrontendIpConfigurations ?? [];
  return frontends.some(({ id }) => id !== undefined && claimant.isOwnFrontend(id));
}

/** What an object can show for a link service under one of its names. */
export function claimantOf(
  { uid, fields }: Subject,
  { cluster, service, sharesClusterID }: Belonging,
  id: ResourceId,
  { exists, installation }: Pick<LinkParts, "exists" | "installation">,
): Claimant {
  return {
    uid,
    clusterID: cluster?.spec.clusterID,
    hostedCluster: cluster?.metadata.name,
    sharesClusterID,
    namedByStatus: sameId(fields.privateLinkServiceID ?? "", id),
    isOwnFrontend: (frontend) =>
      isFrontendOf({ name: lastSegment(frontend) }, service?.metadata.uid ?? ""),
    exists,
    installation,
  };
}
