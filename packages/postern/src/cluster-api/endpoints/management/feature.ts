import { keyOf } from "@postern/core/kind.ts";
import { type AzureCluster, azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { capiCluster } from "@postern/core/kinds/capi-cluster.ts";
import { defineFeature } from "../../../kube/feature.ts";
import type { MakeFeature, WatchedKind } from "../../../kube/runtime.ts";
import { whenChanged } from "../../../kube/when-changed.ts";
import { clusterKeyOf, clusterPolicies, whenPauseChanges } from "../../azure-clusters.ts";
import { type ClusterName, factsOf, type RefusalOf } from "../spec/facts.ts";
import { LastWrites } from "../spec/write.ts";
import { apply } from "./apply.ts";
import { type ManagementSources, observe } from "./observe.ts";
import { plan } from "./plan.ts";

/** The endpoints of the management cluster to the API servers of all workload clusters, in one write. */
export function managementEndpointsFeature(given: {
  management: ClusterName;
  clients?: { refusalOf?: RefusalOf };
}): MakeFeature {
  const { clients } = given;
  const key = keyOf({ metadata: given.management });
  return ({ caches, kube }) => {
    const sources: ManagementSources = {
      key,
      azureClusters: caches.of(azureCluster),
      clusters: caches.of(capiCluster),
      refusalOf: clients?.refusalOf,
      kube,
      writes: new LastWrites(kube),
      lastWrite: { at: Number.NEGATIVE_INFINITY },
    };
    const feature = defineFeature({
      name: "management-endpoints",
      kind: azureCluster,
      conditions: [],
      observe: async (cluster, reconcile) => ({
        observed: await observe(cluster, sources, reconcile),
        context: sources,
        policies: clusterPolicies(cluster, sources.clusters),
      }),
      plan,
      apply,
    });

    const watches: WatchedKind[] = [
      // Every other AzureCluster, when something about its links has changed; its own changes wake it anyway.
      {
        kind: azureCluster,
        keys: whenChanged((each) => (keyOf(each) === key ? [] : [key]), requestOf),
      },
      {
        kind: capiCluster,
        keys: whenPauseChanges(() => [key]),
      },
    ];
    return { feature, watches };
  };

  function requestOf(each: object): unknown {
    const {
      created: _,
      subnet: _s,
      others: _o,
      ...facts
    } = factsOf(each as AzureCluster, undefined);
    return [facts, clusterKeyOf(each as AzureCluster)];
  }
}
