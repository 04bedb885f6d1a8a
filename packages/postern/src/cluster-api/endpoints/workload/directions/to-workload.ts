import { done, report, retry, waits } from "../../../../kube/part.ts";
import { idProblem } from "../../claims/claims.ts";
import { reasons } from "../../claims/reasons.ts";
import type { ClusterFacts } from "../../spec/facts.ts";
import type { Observed, ObservedClaim } from "../observed.ts";
import {
  blocked,
  type Direction,
  joinDirections,
  pending,
  unused,
  waitForChange,
} from "./direction.ts";
import { planEndpoint } from "./reach.ts";

/** From the management cluster to the API server of the workload cluster. */
export function planToWorkload(observed: Observed): Direction {
  const { cluster, management, claims, claimsFailed } = observed;
  const stop = (reason: string, message: string, address?: "keep") =>
    blocked(report({ reason, message }), address);
  if (cluster.balancer === "Public" || management === undefined) return unused;
  if (cluster.balancer === "missing")
    return stop(
      reasons.balancerMissing,
      "whether the API server is private is not known · spec.networkSpec.apiServerLB is missing · set it, with type Internal or Public",
      "keep",
    );
  if (cluster.balancer === "unknown")
    return stop(
      reasons.unknownBalancer,
      "whether the API server is private is not known · spec.networkSpec.apiServerLB.type is neither Internal nor Public · correct it",
      "keep",
    );
  if (cluster.linksProblem !== undefined)
    return stop(reasons.invalidLinks, cluster.linksProblem, "keep");
  if (cluster.links.length === 0) return withoutLinks;
  const invalid = idProblem(cluster) ?? idProblem(management);
  if (invalid !== undefined) return stop(reasons.idProblem, invalid);
  if (claims.length === 0)
    return stop(
      reasons.cannotConnect,
      `the management cluster cannot reach the API server · no private link admits its subscription ${management.subscription} · add it to allowedSubscriptions of one`,
    );
  if (management.subnet === undefined)
    return stop(
      reasons.subnetsNotSet,
      `the private endpoint cannot be added · AzureCluster ${management.key} has no subnets · add one to its spec.networkSpec.subnets`,
    );
  if (claimsFailed !== undefined)
    return blocked(retry(claimsFailed, { retryMs: waits.changeMs }), "keep");
  const all = claims.map((each) => planClaim(observed, each));
  const addresses = all.flatMap(({ address }) => address ?? []);
  // While one address is unknown, that of another link would only be published for a moment.
  return joinDirections(all, addresses.includes("keep") ? "keep" : addresses.at(-1));
}

/** Somebody chose this, so it blocks nothing. */
const withoutLinks: Direction = {
  ...done,
  address: undefined,
  ready: {
    reason: reasons.noLinks,
    message:
      "the API server is private and has no private links: the management cluster is taken to reach it by another way",
  },
  events: [
    {
      reason: reasons.noLinks,
      note: "the API server is private and has no private links · no endpoint is created for it · add one to apiServerLB.privateLinks if the management cluster has no other way",
    },
  ],
};

function planClaim(observed: Observed, { claim, state, observation }: ObservedClaim): Direction {
  const { endpoint, link } = claim;
  const { cluster, tenantsDiffer } = observed;
  const management = observed.management?.key ?? "";
  const published = observed.published.api;
  if (state.is === "exists")
    return planEndpoint({
      desired: endpoint,
      observation,
      cluster: management,
      tenantsDiffer,
      published,
    });
  if (state.is === "taken")
    return waitForChange({
      reason: reasons.nameTaken,
      message:
        state.by === undefined
          ? `no endpoint connects to private link ${link} · ${endpoint.name} in AzureCluster ${management} connects elsewhere and was not created by Postern · rename that one, or the link`
          : `no endpoint connects to private link ${link} · ${shownCluster(state.by, cluster)} has a link of the same name, and ${endpoint.name} belongs to that one · rename the link`,
    });
  if (!cluster.linksReady)
    return pending(reasons.linksNotReady, `private link ${link} is not ready yet`);
  if (observed.management?.paused)
    return waitForChange({
      reason: reasons.managementPaused,
      message: `the private endpoint ${endpoint.name} cannot be added · AzureCluster ${management} is paused · it is added when the pause ends`,
    });
  return pending(
    reasons.endpointPending,
    `the private endpoint ${endpoint.name} is being added to AzureCluster ${management}`,
  );
}

/** A cluster, for the condition of another one: one of another namespace is not named. */
function shownCluster(key: string, reader: ClusterFacts): string {
  const namespaceOf = (each: string) => each.split("/")[0];
  return namespaceOf(key) === namespaceOf(reader.key)
    ? `AzureCluster ${key}`
    : "an AzureCluster in another namespace";
}
