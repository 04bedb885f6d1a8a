import { keyOf } from "@postern/core/kind.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { defaultPolicy, openPolicy, type TenantPolicy } from "@postern/core/tenant-policy.ts";
import { type HostnameSources, hostnameOwner, hostnamesOf } from "../../hostnames.ts";
import { controlPlaneNamespace } from "../../names.ts";
import { whyNotAllowed } from "../../policy.ts";
import { topologyReasons } from "../reasons.ts";
import type { Problem } from "./check.ts";

/**
 * What a cluster asks for and may not have. Hostnames are published by the operator's own permission for custom hosts, so
 * without a policy none is allowed; where HyperShift publishes them, that is left to HyperShift.
 */
export function forbiddenOf(
  cluster: HostedCluster,
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
      resources: [azure.vnetID, azure.subnetID].filter((each) => each !== undefined),
    }),
    ...(clientID && { identities: [clientID] }),
  });
  if (message !== undefined) return { reason: topologyReasons.notAllowed, message };
  const home = controlPlaneNamespace(namespace, cluster.metadata.name);
  const tenant = policy?.reservedFor(home, namespace);
  if (tenant !== undefined)
    return {
      reason: topologyReasons.reserved,
      message: `the control plane cannot be created · its namespace would be ${home}, which is reserved for clusters of another namespace · create the cluster in another namespace`,
    };
  return undefined;
}

/** The hostnames of a cluster that another cluster has. */
export function takenFrom(
  cluster: HostedCluster,
  sources: HostnameSources,
  policy: TenantPolicy | undefined,
): string[] {
  const isAnothers = (holder: HostedCluster | undefined) =>
    holder !== undefined && keyOf(holder) !== keyOf(cluster);
  return hostnamesOf(cluster).filter((each) => isAnothers(hostnameOwner(each, sources, policy)));
}

/** The problem of a hostname that another cluster has. */
export function hostnameTaken(hostname: string): Problem {
  return {
    reason: topologyReasons.hostnameTaken,
    message: `hostname ${hostname} is not published · another HostedCluster has it · create the cluster with another hostname`,
  };
}
