import type { WatchCache } from "../../kube/cache.ts";
import { byAge, keyOf } from "../../model/kind.ts";
import type { HostedCluster } from "../../model/kinds/hosted-cluster.ts";
import {
  allowsHost,
  defaultPolicy,
  openPolicy,
  plainHost,
  type TenantPolicy,
} from "../../model/tenant-policy.ts";
import { controlPlaneNamespace } from "../names.ts";
import { whyNotAllowed } from "../policy.ts";
import type { Problem } from "./check.ts";
import { topologyReasons } from "./reasons.ts";

/** The index of HostedClusters by the hostnames that they publish. */
export const byHostname = "topology: hostname";

/** Every hostname that a cluster publishes, in lower case. */
export function hostnamesOf({ spec }: HostedCluster): string[] {
  const all = (spec.services ?? []).flatMap(({ servicePublishingStrategy: by }) => [
    by.route?.hostname ?? "",
    by.loadBalancer?.hostname ?? "",
  ]);
  return [...new Set(all.filter((each) => each !== "").map(plainHost))];
}

/**
 * What a cluster asks for and may not have. Hostnames are published by the operator's own permission for custom hosts, so
 * without a policy none is allowed; where HyperShift publishes them, that is left to HyperShift.
 */
export function forbiddenOf(
  cluster: HostedCluster,
  clusters: Pick<WatchCache<HostedCluster>, "byIndex">,
  { policy, hyperShift }: { policy: TenantPolicy | undefined; hyperShift: boolean },
): Problem | undefined {
  const { namespace = "" } = cluster.metadata;
  const { azure } = cluster.spec.platform;
  const hostnames = hostnamesOf(cluster);
  const clientID =
    azure?.azureAuthenticationConfig?.workloadIdentities?.controlPlaneOperator?.clientID;
  const rules = (policy ?? (hyperShift ? openPolicy : defaultPolicy)).rulesOf(namespace);
  const message = whyNotAllowed(rules, namespace, {
    hostnames,
    ...(azure && {
      subscriptions: [azure.subscriptionID],
      resourceGroups: [
        `/subscriptions/${azure.subscriptionID}/resourceGroups/${azure.resourceGroup}`,
      ],
    }),
    ...(clientID && { identities: [clientID] }),
  });
  if (message !== undefined) return { reason: topologyReasons.notAllowed, message };
  const home = controlPlaneNamespace(namespace, cluster.metadata.name);
  const tenant = policy?.reservedFor(home, namespace);
  if (tenant !== undefined)
    return {
      reason: topologyReasons.reserved,
      message: `the control plane cannot be created · its namespace would be ${home}, which is reserved for clusters of namespace ${tenant} · create the cluster in another namespace`,
    };
  // Whom the policy forbids a hostname keeps nobody else from having it.
  const mayHave = (hostname: string) => (other: HostedCluster) =>
    allowsHost((policy ?? openPolicy).rulesOf(other.metadata.namespace ?? ""), hostname);
  for (const hostname of hostnames) {
    const [first] = clusters.byIndex(byHostname, hostname).filter(mayHave(hostname)).sort(byAge);
    if (first === undefined || keyOf(first) === keyOf(cluster)) continue;
    return {
      reason: topologyReasons.hostnameTaken,
      message: `hostname ${hostname} is not published · an older HostedCluster has it · create the cluster with another hostname`,
    };
  }
  return undefined;
}
