import { installationTag, ownedTags } from "@postern/core/ownership.ts";
import { sameId } from "@postern/core/resource-id.ts";
import type { DesiredLinkService } from "../../../private-link/link-service/desired.ts";
import type { LinkServicePolicy } from "../../../private-link/link-service/policy.ts";
import { commonMessages, describeAll } from "../../../private-link/policy.ts";
import { annotations } from "../../names.ts";
import type { Subject, Up } from "../observed.ts";
import { reasons } from "../reasons.ts";

/** The name of the one address that a link service translates to. */
const natConfiguration = "pls-nat-ip";

/** The link service as it should be. Without a load balancer its region and frontend are not known. */
export function desiredOf(
  given: Pick<Up, "id" | "known" | "subject" | "allowed" | "frontend">,
  natSubnet: string | undefined,
): DesiredLinkService {
  const { id, known, subject, allowed, frontend } = given;
  const found = frontend.is === "found" ? frontend.frontend : undefined;
  const owner = { clusterID: known.clusterID, uid: subject.uid };
  return {
    id,
    // The region of the load balancer: that of the cluster may be another.
    location: found?.location ?? "",
    tags: {
      ...ownedTags(known.hostedCluster, "private-link-service", owner),
      [installationTag]: subject.installation,
    },
    userTags: subject.azureTags,
    frontends: [found?.id ?? ""],
    nat: [{ name: natConfiguration, subnet: natSubnet }],
    allowed,
    autoApproved: allowed,
    proxyProtocol: subject.proxyProtocol,
  };
}

/** How the link service of a hosted cluster is called and reported. */
export function linkServicePolicy(subject: Subject, endpointGraceMs = 0): LinkServicePolicy {
  return {
    messages: commonMessages({
      noun: "link service",
      created: "written",
      replaced: "is recreated",
    }),
    steps: {
      create: "create link service",
      change: "update link service",
      delete: "delete link service",
    },
    reasons: {
      create: reasons.creating,
      change: reasons.updating,
      replace: reasons.replacing,
      delete: reasons.deleting,
      failed: {
        create: reasons.creationFailed,
        change: reasons.updateFailed,
        delete: reasons.deletionFailed,
      },
    },
    describe: describeAll({
      frontends: "its load balancer frontend differs",
      region: "it is in another region than its load balancer",
      natSubnet: "its NAT subnet differs",
      natAddresses: "its NAT addresses were changed",
      visibility: "its visible subscriptions differ",
      autoApproval: "its auto-approved subscriptions differ",
      speaksProxyProtocol: "it speaks the proxy protocol",
      lacksProxyProtocol: "it does not speak the proxy protocol",
      tags: "its tags were changed",
    }),
    whyReplaced: (differences) => differences,
    deletion: {
      policy: subject.foreignEndpoints,
      isOwn: (endpoint) => subject.ownEndpoints.some((own) => sameId(own, endpoint)),
      tenantMs: endpointGraceMs,
      refused: reasons.foreignEndpoints,
      refusal: (name, connected) =>
        `endpoints of others are connected to link service ${name}: ${connected.join(", ")} · the annotation ${annotations.foreignEndpoints} does not allow disconnecting them · ask their owners to delete them, or set it to disconnect`,
      message: () => "the link service is being deleted, and its NAT subnet unless another uses it",
    },
  };
}

/** Who may see a link service: the hosted cluster, and whoever else the object names; nobody twice. */
export function allowedSubscriptions(own: string, additional: readonly string[]): string[] {
  const observed = new Set<string>();
  return [own, ...additional].filter((each) => {
    const key = each.toLowerCase();
    return !observed.has(key) && observed.add(key);
  });
}
