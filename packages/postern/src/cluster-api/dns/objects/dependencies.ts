import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import { type AzureCluster, azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { azureClusterIdentity } from "@postern/core/kinds/azure-cluster-identity.ts";
import { type CapiCluster, capiCluster } from "@postern/core/kinds/capi-cluster.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import { allowsName } from "@postern/core/tenant-policy.ts";
import type { WatchCache } from "../../../kube/cache.ts";
import type { Observation } from "../../../kube/feature.ts";
import type { Reconcile } from "../../../kube/reconcile.ts";
import type { Parts } from "../../../kube/runtime.ts";
import { policiesOf } from "../../../kube/step-policy.ts";
import { azureClusterKeyOf } from "../../azure-clusters.ts";
import { identityOf } from "../../identities.ts";
import type { ManagementLink } from "../../names.ts";
import { ageOf } from "../../tenancy.ts";
import type { DnsContext } from "../apply.ts";
import { type DnsArmClients, openArmClients } from "../azure/arm-clients.ts";
import type { DnsMetrics } from "../azure/metrics.ts";
import { observe } from "../observe.ts";
import type { Observed } from "../observed.ts";
import { reasons } from "../reasons.ts";
import { factsOf, managementOf, type Objects } from "./facts.ts";
import { InfrastructureObjects } from "./infrastructure.ts";
import { type ClusterSettings, groupsOf } from "./resource-groups.ts";

export interface DnsOptions {
  management: { namespace: string; name: string };
  baseDomain: string;
  /** The resource group of the zone of the base domain. */
  baseZoneGroup: ResourceId;
  /** By which names workload clusters reach the management cluster. */
  managementLinks: readonly ManagementLink[];
  clients: DnsArmClients;
  /** `CLUSTER_AZURE_*`, for clusters that are not of CAPZ. */
  settings?: ClusterSettings;
  metrics?: DnsMetrics;
}

/** How the DNS records of one cluster are observed. */
export interface DnsDependencies {
  clusters: WatchCache<CapiCluster>;
  /** The Clusters that name an AzureCluster. */
  users(infrastructure: KubeObject): CapiCluster[];
  observe(cluster: CapiCluster, reconcile: Reconcile): Promise<Observation<Observed, DnsContext>>;
  /** The same, without what is in Azure. */
  observeObjects(
    cluster: CapiCluster,
    reconcile: Reconcile,
  ): Promise<Observation<Observed, DnsContext>>;
}

const byReference = "dns-infrastructure";
const byName = "dns-name";

/** What the DNS features share. */
export function dnsDependencies(options: DnsOptions, { caches, kube }: Parts): DnsDependencies {
  const { clients, metrics } = options;
  const observeOptions = { settings: {}, ...options, policy: clients.policy };
  const clusters = caches.of(capiCluster);
  const azureClusters = caches.of(azureCluster);
  clusters.index(byReference, (cluster) =>
    [azureClusterKeyOf(cluster)].filter((key) => key !== undefined),
  );
  clusters.index(byName, ({ metadata }) => [metadata.name.toLowerCase()]);
  const managementKey = keyOf({ metadata: options.management });
  /** Whether the policy lets a cluster have its name. */
  const mayHaveName = ({ metadata: { namespace = "", name } }: CapiCluster): boolean =>
    allowsName(clients.policy?.rulesOf(namespace) ?? {}, `${name}.${options.baseDomain}`);
  /** Whoever has the name of a cluster by right: the management cluster, or the oldest of those that have it. */
  const namesakeOf = (cluster: CapiCluster): Objects["namesake"] => {
    const name = cluster.metadata.name.toLowerCase();
    if (name === options.management.name.toLowerCase())
      return keyOf(cluster) === managementKey ? undefined : "management";
    const older = clusters
      .byIndex(byName, name)
      .filter(mayHaveName)
      .some((each) => keyOf(each) !== keyOf(cluster) && ageOf(each) < ageOf(cluster));
    return older ? "older" : undefined;
  };
  const objects = new InfrastructureObjects(kube, azureClusters);
  const identities = caches.of(azureClusterIdentity);
  const tenantOf = (cluster: AzureCluster | undefined) => {
    const named = cluster && identityOf(cluster);
    return named && identities.get(keyOf({ metadata: named }))?.spec.tenantID;
  };

  const open = async (cluster: CapiCluster, reconcile: Reconcile) => {
    const { itself, ...found } = managementOf(cluster, options, { clusters, azureClusters });
    const infrastructure = await objects.of(cluster, reconcile.now(), reconcile.signal);
    const management = itself ? undefined : found.management;
    const { publicGroup } = groupsOf(cluster, infrastructure, management, observeOptions.settings);
    const refusal = (
      infrastructure?.is === "azure"
        ? clients.refusalOf?.(infrastructure.object as AzureCluster)
        : infrastructure && clients.referenceRefusalOf?.(infrastructure.object, publicGroup)
    )?.explain();
    const namesake = namesakeOf(cluster);
    const mayNot = !itself && !mayHaveName(cluster);
    const nameRefused = {
      reason: reasons.notAllowed,
      message: `no DNS records are written for ${cluster.metadata.name}.${options.baseDomain} · the tenant policy does not allow this name for namespace ${cluster.metadata.namespace} · give the cluster another name, or add the name to domains in the file of --tenant-policy`,
    };
    const all: Objects = {
      ...found,
      cluster,
      infrastructure,
      management,
      itself,
      namesake,
      refused: refusal
        ? { reason: refusal.reason, message: refusal.message }
        : mayNot
          ? nameRefused
          : undefined,
    };
    const armClients = openArmClients(all, clients, reconcile, metrics, publicGroup);
    const policies = policiesOf(cluster, infrastructure?.object);
    return { all, context: { armClients, infrastructure, objects }, policies };
  };
  return {
    clusters,
    users: (object) => clusters.byIndex(byReference, keyOf(object)),
    async observe(cluster, reconcile) {
      const { all, context, policies } = await open(cluster, reconcile);
      const observed = await observe(
        all,
        { armClients: context.armClients, kube, options: observeOptions },
        reconcile,
      );
      const isDeleted =
        cluster.metadata.deletionTimestamp !== undefined && observed.zones.length === 0;
      if (isDeleted) metrics?.delete(keyOf(cluster));
      else if (observed.zones.length > 0) {
        const { infrastructure, management } = all;
        const own = infrastructure?.is === "azure" ? infrastructure.object : undefined;
        metrics?.show(keyOf(cluster), observed, {
          cluster: tenantOf(own as AzureCluster | undefined),
          management: tenantOf(management),
        });
      }
      return { observed, context, policies };
    },
    async observeObjects(cluster, reconcile) {
      const { all, context, policies } = await open(cluster, reconcile);
      return { observed: factsOf(all, options), context, policies };
    },
  };
}
