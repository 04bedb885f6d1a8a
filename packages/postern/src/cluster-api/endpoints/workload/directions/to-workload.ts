import { idProblem } from "../../claims/claims.ts";
import { reasons } from "../../claims/reasons.ts";
import type { ClusterFacts } from "../../spec/facts.ts";
import { minuteMs, type Observed, type ObservedClaim, type Side } from "../observed.ts";
import { isFalse, sideOf } from "./reach.ts";

/**
 * From the management cluster to the API server of the workload cluster:
 *
 *   load balancer  links            admit the management cluster  →
 *   Public                                                        nothing is asked for
 *   not known                                                     say so; what is there stays
 *   Internal       cannot be read                                 say so; what is there stays
 *   Internal       none                                           on purpose: said once, holds up nothing
 *   Internal       some             none                          say so
 *   Internal       some             some                          each is taken on; the last that is connected gives the address
 */
export function planApiSide(observed: Observed): Side {
  const { cluster, management, claims } = observed;
  const say = (reason: string, message: string, address?: "keep"): Side => ({
    verdict: isFalse(reason, message),
    address,
  });
  if (cluster.balancer === "Public" || management === undefined) return none;
  if (cluster.balancer === "missing")
    return say(
      reasons.balancerMissing,
      "whether the API server is private is not known · spec.networkSpec.apiServerLB is missing · set it, with type Internal or Public",
      "keep",
    );
  if (cluster.balancer === "unknown")
    return say(
      reasons.unknownBalancer,
      "whether the API server is private is not known · spec.networkSpec.apiServerLB.type is neither Internal nor Public · correct it",
      "keep",
    );
  if (cluster.linksProblem !== undefined)
    return say(reasons.invalidLinks, cluster.linksProblem, "keep");
  if (cluster.links.length === 0) return withoutLinks;
  const wrong = idProblem(cluster) ?? idProblem(management);
  if (wrong !== undefined) return say(reasons.idProblem, wrong);
  if (claims.length === 0)
    return say(
      reasons.cannotConnect,
      `the management cluster cannot reach the API server · no private link admits its subscription ${management.subscription} · add it to allowedSubscriptions of one`,
    );
  if (management.subnet === undefined)
    return say(
      reasons.subnetsNotSet,
      `the private endpoint cannot be added · AzureCluster ${management.key} has no subnets · add one to its spec.networkSpec.subnets`,
    );
  if (observed.claimsFailed !== undefined) {
    const { reason, message, requeueAfterMs } = observed.claimsFailed;
    return { ...say(reason, message, "keep"), waitMs: requeueAfterMs ?? minuteMs };
  }
  return joined(claims.map((each) => planClaim(observed, each)));
}

const none: Side = { verdict: undefined, address: undefined };

const withoutLinks: Side = {
  verdict: {
    status: "True",
    reason: reasons.noLinks,
    message:
      "the API server is private and has no private links: the management cluster is taken to reach it by another way",
  },
  address: undefined,
  events: [
    {
      reason: reasons.noLinks,
      note: "the API server is private and has no private links · no endpoint is made for it · add one to apiServerLB.privateLinks if the management cluster has no other way",
    },
  ],
};

function planClaim(observed: Observed, { claim, state, look }: ObservedClaim): Side {
  const { endpoint, link } = claim;
  const management = observed.management?.key ?? "";
  const wait = (reason: string, message: string): Side => ({
    verdict: isFalse(reason, message),
    address: undefined,
    waitMs: minuteMs,
  });
  const { tenantsDiffer } = observed;
  const published = observed.published.api;
  if (state.is === "there")
    return sideOf({ desired: endpoint, look, cluster: management, tenantsDiffer, published });
  if (state.is === "taken")
    return wait(
      reasons.nameTaken,
      state.by === undefined
        ? `no endpoint leads to private link ${link} · ${endpoint.name} in AzureCluster ${management} leads elsewhere and is not ours · rename that one, or the link`
        : `no endpoint leads to private link ${link} · ${shownCluster(state.by, observed.cluster)} has a link of the same name, and ${endpoint.name} is that one's · rename the link`,
    );
  if (!observed.cluster.linksReady)
    return wait(reasons.linksNotReady, `private link ${link} is not ready yet`);
  if (observed.management?.paused)
    return wait(
      reasons.managementPaused,
      `the private endpoint ${endpoint.name} cannot be added · AzureCluster ${management} is paused · it is added when the pause ends`,
    );
  return wait(
    reasons.endpointPending,
    `the private endpoint ${endpoint.name} is being added to AzureCluster ${management}`,
  );
}

/** Several links: all must be connected, and the address is that of the last, as it was before us. */
function joined(sides: readonly Side[]): Side {
  const wrong = sides.find(({ verdict }) => verdict?.status !== "True");
  const addresses = sides.flatMap(({ address }) => address ?? []);
  const waits = sides.flatMap(({ waitMs }) => waitMs ?? []);
  return {
    verdict: (wrong ?? sides.at(-1))?.verdict,
    // Not known of one is not known of all: another's address would only come and go.
    address: addresses.includes("keep") ? "keep" : addresses.at(-1),
    ...(waits.length > 0 && { waitMs: Math.min(...waits) }),
  };
}

/** A cluster in words for whoever reads the condition of another one: that of another namespace is not named. */
function shownCluster(key: string, reader: ClusterFacts): string {
  const namespaceOf = (each: string) => each.split("/")[0];
  return namespaceOf(key) === namespaceOf(reader.key)
    ? `AzureCluster ${key}`
    : "an AzureCluster in another namespace";
}
