import { keyOf } from "@postern/core/kind.ts";
import { type AzureCluster, azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { CapiCluster } from "@postern/core/kinds/capi-cluster.ts";
import type { WatchCache } from "../../../kube/cache.ts";
import type { KubeClient } from "../../../kube/client.ts";
import type { Reconcile } from "../../../kube/reconcile.ts";
import { clusterKeyOf } from "../../azure-clusters.ts";
import { hasOurName } from "../claims/claims.ts";
import { appliedElsewhere, ownedByOthers } from "../spec/applied.ts";
import { factsOf, type RefusalOf } from "../spec/facts.ts";
import type { LastWrites } from "../spec/write.ts";
import type { Observed } from "./observed.ts";
import { gatherMs, plan } from "./plan.ts";

/** What `observe` reads from, and `apply` writes to. */
export interface ManagementSources {
  /** The key of the management cluster's AzureCluster. */
  key: string;
  azureClusters: WatchCache<AzureCluster>;
  clusters: WatchCache<CapiCluster>;
  refusalOf: RefusalOf | undefined;
  kube: KubeClient;
  writes: LastWrites;
  /** When the management cluster was last written, by the clock of the reconcile. */
  lastWrite: { at: number };
}

/** Of every other AzureCluster. */
const nothing: Observed = {
  management: undefined,
  clusters: [],
  applied: new Set(),
  sinceWriteMs: gatherMs,
};

/** The management cluster, every workload cluster, and who owns the endpoints in its spec. */
export async function observe(
  cached: AzureCluster,
  sources: ManagementSources,
  reconcile: Reconcile,
): Promise<Observed> {
  const { key, azureClusters, clusters, refusalOf, kube, writes, lastWrite } = sources;
  if (keyOf(cached) !== key) return nothing;
  const facts = (each: AzureCluster) => factsOf(each, clusters.get(clusterKeyOf(each) ?? ""));
  const management = facts(await writes.newest(cached, reconcile.signal));
  const otherClusters = azureClusters
    .list()
    .filter((each) => keyOf(each) !== key && refusalOf?.(each) === undefined);
  const observed = {
    management,
    clusters: otherClusters.map(facts),
    applied: await appliedElsewhere(management, hasOurName, kube, reconcile.signal),
    sinceWriteMs: reconcile.now().getTime() - lastWrite.at,
  };
  if (plan(observed).steps.length === 0) return observed;
  // Only the API server knows who wrote what is to be changed.
  const { namespace, name } = cached.metadata;
  const now = await kube.get<AzureCluster>(
    { kind: azureCluster, namespace, name },
    reconcile.signal,
  );
  return now === undefined ? observed : { ...observed, foreign: ownedByOthers(now) };
}
