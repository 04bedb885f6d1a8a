import { keyOf } from "@postern/core/kind.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { type ResourceId, resourceGroupId } from "@postern/core/resource-id.ts";
import type { ClusterSettings } from "../cluster-api/dns/objects/resource-groups.ts";
import type { ManagementLink } from "../cluster-api/names.ts";
import { subscriptionIn } from "./management-group.ts";

/** The flags of Cluster API, as they are given. */
export interface ClusterApiFlags {
  managementClusterName?: string;
  managementClusterNamespace?: string;
  azureClusterGates?: readonly string[];
  managementLink?: ManagementLink | "both";
  baseDomain?: string;
  baseDomainResourceGroup?: string;
  azureIdentityRefName?: string;
  azureIdentityRefNamespace?: string;
  allowCrossNamespaceSecrets?: boolean;
  certificateDirectory?: string;
}

/** What the controllers of Cluster API go by. */
export interface ClusterApiSettings {
  managementCluster: { namespace: string; name: string };
  /** The condition types of an AzureCluster that its control plane waits for. */
  gates: readonly string[];
  /** By which names workload clusters reach the management cluster. */
  managementLinks: readonly ManagementLink[];
  /** Absent: there is no DNS to look after. */
  dns?: { baseDomain: string; baseZoneGroup: ResourceId };
  /** The identity for clusters that are no AzureClusters. */
  identityRef?: { namespace: string; name: string };
  /** Whether AzureClusterIdentities may use Secrets and certificate files of other namespaces. */
  acrossNamespaces?: boolean;
  /** Where the files of `spec.certPath` are. */
  certificateDirectory?: string;
  /** Where such clusters are in Azure, by `CLUSTER_AZURE_*`. */
  others: ClusterSettings;
}

/** What the flags say together; undefined where Cluster API is not enabled. Flags that contradict each other are a `UsageError`. */
export async function clusterApiSettings(
  flags: ClusterApiFlags,
  { role, namespace }: { role: string; namespace?: string },
  env: NodeJS.ProcessEnv,
): Promise<ClusterApiSettings | undefined> {
  const { managementClusterName: name, managementClusterNamespace: within } = flags;
  if (!name) {
    if (role === "cluster-api")
      throw refuse(
        "--role cluster-api requires --management-cluster-name and --management-cluster-namespace",
      );
    const idle = Object.entries(names).find(([key]) => isGiven(Reflect.get(flags, key)));
    if (idle) throw refuse(`${idle[1]} requires --management-cluster-name`);
    return undefined;
  }
  if (!within) throw refuse("--management-cluster-name requires --management-cluster-namespace");
  if (role !== "all" && role !== "cluster-api")
    throw refuse(
      `--management-cluster-name requires --role all or --role cluster-api, not --role ${role}`,
    );
  if (namespace !== undefined)
    throw refuse("--management-cluster-name applies to all namespaces: omit --namespace");
  const dns = await dnsIn(flags, env);
  const identityRef = identityIn(flags);
  const { managementLink = "gateway" } = flags;
  return {
    managementCluster: { namespace: within, name },
    gates: flags.azureClusterGates ?? [],
    managementLinks: managementLink === "both" ? ["gateway", "ingress"] : [managementLink],
    ...(dns && { dns }),
    ...(identityRef && { identityRef }),
    ...(flags.allowCrossNamespaceSecrets && { acrossNamespaces: true }),
    ...(flags.certificateDirectory && { certificateDirectory: flags.certificateDirectory }),
    others: {
      subscription: env.CLUSTER_AZURE_SUBSCRIPTION_ID || undefined,
      tenant: env.CLUSTER_AZURE_TENANT_ID || undefined,
      client: env.CLUSTER_AZURE_CLIENT_ID || undefined,
      location: env.CLUSTER_AZURE_LOCATION || undefined,
    },
  };
}

/** Charts write flags without a value where there is none. */
function isGiven(flag: string | readonly string[] | boolean | undefined): boolean {
  return typeof flag === "boolean" ? flag : flag !== undefined && flag.length > 0;
}

/** The AzureCluster of the management cluster that flags name, as namespace/name. */
export function managementKey(flags: ClusterApiFlags | undefined): string | undefined {
  const { managementClusterName: name, managementClusterNamespace: namespace } = flags ?? {};
  return name && namespace && keyOf({ metadata: { name, namespace } });
}

/** The flags that mean nothing without a management cluster. */
const names: Record<keyof Omit<ClusterApiFlags, "managementClusterName">, string> = {
  managementClusterNamespace: "--management-cluster-namespace",
  azureClusterGates: "--azure-cluster-gates",
  managementLink: "--management-link",
  baseDomain: "--base-domain",
  baseDomainResourceGroup: "--base-domain-resource-group",
  azureIdentityRefName: "--azure-identity-ref-name",
  azureIdentityRefNamespace: "--azure-identity-ref-namespace",
  allowCrossNamespaceSecrets: "--allow-cross-namespace-secrets",
  certificateDirectory: "--certificate-directory",
};

async function dnsIn(
  { baseDomain, baseDomainResourceGroup: group }: ClusterApiFlags,
  env: NodeJS.ProcessEnv,
): Promise<ClusterApiSettings["dns"]> {
  if (!baseDomain && !group) return undefined;
  if (!baseDomain || !group)
    throw refuse(
      "the base domain and the resource group of its zone are both required: set --base-domain and --base-domain-resource-group",
    );
  const subscription = await subscriptionIn(env);
  if (!subscription)
    throw refuse(
      "the subscription of the base domain's zone is unknown: set AZURE_SUBSCRIPTION_ID",
    );
  const plain = baseDomain.toLowerCase().replace(/\.+$/, "");
  return { baseDomain: plain, baseZoneGroup: resourceGroupId(subscription, group) };
}

function identityIn(flags: ClusterApiFlags): ClusterApiSettings["identityRef"] {
  const { azureIdentityRefName: name, azureIdentityRefNamespace: namespace } = flags;
  if (!name && !namespace) return undefined;
  if (name && namespace) return { namespace, name };
  throw refuse(
    "an identity needs a name and a namespace: set --azure-identity-ref-name and --azure-identity-ref-namespace",
  );
}

function refuse(what: string): UsageError {
  return new UsageError(`${what} (see postern operator --help)`);
}
