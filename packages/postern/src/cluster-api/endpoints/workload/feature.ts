import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import { type AzureCluster, azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { azureClusterIdentity } from "@postern/core/kinds/azure-cluster-identity.ts";
import { capiCluster } from "@postern/core/kinds/capi-cluster.ts";
import { staleReadsMs } from "../../../azure/read-cache.ts";
import { defineFeature } from "../../../kube/feature.ts";
import type { MakeFeature, Parts, WatchedKind } from "../../../kube/runtime.ts";
import { whenChanged } from "../../../kube/when-changed.ts";
import { clusterKeyOf, clusterPolicies, whenPauseChanges } from "../../azure-clusters.ts";
import { conditions, endpointsFinalizer, type ManagementLink } from "../../names.ts";
import { privateLinksOf } from "../../requested-links.ts";
import { groupKey } from "../claims/claims.ts";
import { type ClusterName, factsOf } from "../spec/facts.ts";
import { LastWrites } from "../spec/write.ts";
import { apply } from "./apply.ts";
import { changedEndpoints } from "./cluster/changed-endpoints.ts";
import { RemainingSince } from "./cluster/observe-delete.ts";
import { byGroup, byLink, observe, type Sources, type WorkloadArmClients } from "./observe.ts";
import { plan } from "./plan.ts";

export interface WorkloadEndpoints {
  management: ClusterName;
  /** The ways from a workload cluster to the management cluster; the first gives the address that is published. */
  managementLinks?: readonly ManagementLink[];
  clients: WorkloadArmClients & {
    /** What requeues the keys of a feature when an identity changes. */
    watch?(parts: Parts, keysOf: (cluster: KubeObject) => string[]): WatchedKind[];
  };
}

/** The endpoints of each workload cluster, their addresses, and whether they are connected. */
export function workloadEndpointsFeature(given: WorkloadEndpoints): MakeFeature {
  const { clients, managementLinks = ["gateway"] } = given;
  const managementKey = keyOf({ metadata: given.management });
  return (parts) => {
    const { caches, kube } = parts;
    const azureClusters = caches.of(azureCluster);
    azureClusters.index(byLink, (each) =>
      privateLinksOf(each).links.map(({ name }) => name.toLowerCase()),
    );
    azureClusters.index(byGroup, (each) => [groupKey(factsOf(each, undefined))]);
    const sources: Sources = {
      azureClusters,
      clusters: caches.of(capiCluster),
      identities: caches.of(azureClusterIdentity),
      writes: new LastWrites(kube),
      since: new RemainingSince(),
      kube,
      clients,
      managementKey,
      managementLinks,
      refusalOf: clients.refusalOf,
    };
    azureClusters.onChange(({ key, after }) => {
      if (after === undefined) sources.since.delete(key);
    });
    const feature = defineFeature({
      name: "workload-endpoints",
      kind: azureCluster,
      finalizer: endpointsFinalizer,
      staleReadsMs,
      conditions: [conditions.links],
      // The management cluster is left as it is, this too.
      conditionsOn: ({ metadata }: AzureCluster) =>
        keyOf({ metadata }) === managementKey ? [] : [conditions.links],
      observe: async (cluster, reconcile) => {
        const { arm, ...observed } = await observe(cluster, sources, reconcile);
        return {
          observed,
          context: { kube, writes: sources.writes, arm },
          policies: clusterPolicies(cluster, sources.clusters),
        };
      },
      plan,
      apply,
    });

    const workloadKeys = () =>
      azureClusters
        .list()
        .map(keyOf)
        .filter((key) => key !== managementKey);
    const isManagement = (each: KubeObject) => keyOf(each) === managementKey;
    const changed = changedEndpoints();
    const ofCluster = whenPauseChanges((cluster) =>
      azureClusters
        .list()
        .filter((each) => clusterKeyOf(each) === keyOf(cluster))
        .map(keyOf),
    );
    const watches: WatchedKind[] = [
      {
        kind: azureCluster,
        keys: whenChanged((each) => (isManagement(each) ? workloadKeys() : []), asManagement),
      },
      {
        kind: azureCluster,
        keys: (each) =>
          isManagement(each)
            ? changed(each as AzureCluster).flatMap((link) =>
                azureClusters.byIndex(byLink, link.toLowerCase()).map(keyOf),
              )
            : [],
      },
      {
        kind: capiCluster,
        // A pause of the management cluster holds up everybody's endpoints.
        keys: (each) => {
          const keys = ofCluster(each);
          return keys.includes(managementKey) ? workloadKeys() : keys;
        },
      },
      ...(clients.watch?.(parts, (each) => (isManagement(each) ? workloadKeys() : [keyOf(each)])) ??
        []),
    ];
    return { feature, watches };
  };

  /** What of the management cluster concerns everybody: all but its endpoints, which concern those they lead to. */
  function asManagement(each: KubeObject): unknown {
    if (keyOf(each) !== managementKey) return undefined;
    const {
      subnet,
      others: _o,
      linksReady: _,
      ...facts
    } = factsOf(each as AzureCluster, undefined);
    return [facts, subnet?.name, (each as AzureCluster).spec.identityRef];
  }
}
