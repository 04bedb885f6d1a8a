import { lastSegment, type ResourceId, sameId } from "../../model/resource-id.ts";
import type { Belonging } from "./belonging.ts";
import { isFrontendOf } from "./frontends.ts";
import type { Claimant } from "./link-service.ts";
import type { LinkParts } from "./parts.ts";
import type { Subject } from "./seen.ts";

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
