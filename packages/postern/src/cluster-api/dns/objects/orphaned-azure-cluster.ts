import { keyOf } from "@postern/core/kind.ts";
import { type AzureCluster, azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { type CapiCluster, capiCluster } from "@postern/core/kinds/capi-cluster.ts";
import { staleReadsMs } from "../../../azure/read-cache.ts";
import { defineFeature, type Observation, type Plan } from "../../../kube/feature.ts";
import { waits } from "../../../kube/part.ts";
import type { Reconcile } from "../../../kube/reconcile.ts";
import type { MakeFeature, WatchedKind } from "../../../kube/runtime.ts";
import { azureClusterKeyOf } from "../../azure-clusters.ts";
import { conditions, dnsFinalizer } from "../../names.ts";
import { apply, type DnsContext } from "../apply.ts";
import type { Observed } from "../observed.ts";
import { plan } from "../plan.ts";
import type { DnsStep } from "../steps.ts";
import { type DnsOptions, dnsDependencies } from "./dependencies.ts";

/**
 * The DNS records of an AzureCluster whose Cluster was deleted first, and whose finalizer nobody would remove:
 *
 *   being deleted and held by us  a Cluster names it  a Cluster has the name of its own  →
 *   no                                                                                   nothing
 *   yes                           yes                                                    nothing: that one's turn
 *   yes                           no                  yes                                let go: the names are that one's now
 *   yes                           no                  no                                 as if its Cluster were being deleted
 */
export function orphanedDnsFeature({ metrics: _, ...options }: DnsOptions): MakeFeature {
  return (parts) => {
    const names = dnsDependencies(options, parts);
    const observe = async (
      object: AzureCluster,
      reconcile: Reconcile,
    ): Promise<OrphanObservation> => {
      const cluster = clusterOfOrphan(object);
      if (cluster === undefined || names.users(object).length > 0)
        return { observed: { is: "not orphaned" }, context: undefined };
      const { namespace, name } = cluster.metadata;
      // Not from the cache, which may not have heard of it yet: what is deleted here would be that one's.
      const place = { kind: capiCluster, namespace, name };
      const now = await parts.kube.get<CapiCluster>(place, reconcile.signal);
      if (now !== undefined && azureClusterKeyOf(now) === keyOf(object))
        return { observed: { is: "found" }, context: undefined };
      const { observed, ...rest } = await (now === undefined
        ? names.observe(cluster, reconcile)
        : names.observeObjects(cluster, reconcile));
      return { observed: { is: "orphaned", observed }, ...rest };
    };
    const feature = defineFeature({
      name: "dns-orphaned",
      kind: azureCluster,
      staleReadsMs,
      conditions: [conditions.dnsZone],
      reportsOn: (context) => context?.objects.statusOf(context.infrastructure),
      observe,
      plan: planOrphan,
      apply: async (step, context, reconcile) => {
        if (context === undefined) throw new Error("a step of a reconcile that did not observe");
        return apply(step, context, reconcile);
      },
    });
    const watches: WatchedKind[] = [
      {
        kind: capiCluster,
        keys: (cluster) => {
          const key = azureClusterKeyOf(cluster as CapiCluster);
          return cluster.metadata.deletionTimestamp && key !== undefined ? [key] : [];
        },
      },
      ...(options.clients.watch?.(parts, (cluster) => [keyOf(cluster)]) ?? []),
    ];
    return { feature, watches };
  };
}

type OrphanObservation = Observation<Orphan, DnsContext | undefined>;

type Orphan = { is: "not orphaned" | "found" } | { is: "orphaned"; observed: Observed };

function planOrphan(orphan: Orphan): Plan<DnsStep> {
  if (orphan.is === "orphaned") return plan(orphan.observed);
  return {
    steps: [],
    conditions: [],
    requeue: orphan.is === "found" ? { afterMs: waits.changeMs } : "never",
  };
}

/** The Cluster that an AzureCluster belonged to, as it would be now; undefined where nothing is to be deleted. */
function clusterOfOrphan({ metadata }: AzureCluster): CapiCluster | undefined {
  const { namespace, name, deletionTimestamp, finalizers, labels } = metadata;
  if (deletionTimestamp === undefined || !finalizers?.includes(dnsFinalizer)) return undefined;
  const owner = metadata.ownerReferences?.find(({ kind }) => kind === capiCluster.kind);
  const { group: apiGroup, kind } = azureCluster;
  return {
    metadata: {
      ...(namespace !== undefined && { namespace }),
      name: owner?.name ?? labels?.["cluster.x-k8s.io/cluster-name"] ?? name,
      ...(owner && { uid: owner.uid }),
      deletionTimestamp,
    },
    spec: { infrastructureRef: { apiGroup, kind, name } },
  };
}
