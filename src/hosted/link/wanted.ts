import type { WantedService } from "./link-service.ts";
import type { Up } from "./seen.ts";

/** The link service as it should be. Without a load balancer nothing is known of where it stands. */
export function wantedOf(
  { known, subject, allowed, frontend }: Pick<Up, "known" | "subject" | "allowed" | "frontend">,
  natSubnet: string | undefined,
): WantedService {
  const found = frontend.is === "found" ? frontend.frontend : undefined;
  return {
    hostedCluster: known.hostedCluster,
    owner: { clusterID: known.clusterID, uid: subject.uid },
    installation: subject.installation,
    // The region of the load balancer: that of the cluster may be another.
    location: found?.location ?? "",
    frontend: found?.id ?? "",
    natSubnet,
    allowed,
  };
}
