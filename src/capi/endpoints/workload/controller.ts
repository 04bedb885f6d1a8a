import type { ArmView } from "../../../azure/arm.ts";
import type { Feature } from "../../../kube/feature.ts";
import type { Pass } from "../../../kube/pass.ts";
import type { Also, MakeFeature, Parts } from "../../../kube/runtime.ts";
import { whenItMatters } from "../../../kube/when-it-matters.ts";
import { type KubeObject, keyOf } from "../../../model/kind.ts";
import { type AzureCluster, azureCluster } from "../../../model/kinds/azure-cluster.ts";
import { azureClusterIdentity } from "../../../model/kinds/azure-cluster-identity.ts";
import { type CapiCluster, capiCluster } from "../../../model/kinds/capi-cluster.ts";
import { conditions, endpointsFinalizer, type ManagementLink } from "../../names.ts";
import { privateLinksOf } from "../../private-links.ts";
import { type ClusterPlace, factsOf, ownerKey } from "../facts.ts";
import { groupKey } from "../whose.ts";
import { LastWrites } from "../write.ts";
import { apply } from "./apply.ts";
import { changedEndpoints } from "./changed-endpoints.ts";
import { plan } from "./plan.ts";
import { byGroup, byLink, type Sources, see, type Views } from "./see.ts";
import { LeavingSince } from "./see-leaving.ts";
import type { Seen, WorkloadStep } from "./seen.ts";

export interface WorkloadEndpoints {
  management: ClusterPlace;
  /** The ways from a workload cluster to the management cluster; the first gives the address that is published. */
  managementLinks?: readonly ManagementLink[];
  views: Views & {
    /** What wakes a feature when an identity changes. */
    watch?(parts: Parts, keysOf: (cluster: KubeObject) => string[]): Also[];
  };
}

/** The endpoints of each workload cluster, their addresses, and whether they are connected. */
export function workloadEndpointsFeature(given: WorkloadEndpoints): MakeFeature {
  const { views, managementLinks = ["gateway"] } = given;
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
      since: new LeavingSince(),
      kube,
      ...{ views, managementKey, managementLinks, refusalOf: views.refusalOf },
    };
    azureClusters.onChange(({ key, after }) => {
      if (after === undefined) sources.since.forget(key);
    });
    // The road on which a pass has looked is the one on which it writes.
    const roads = new WeakMap<Pass, ArmView>();

    const feature: Feature<AzureCluster, Seen, WorkloadStep> = {
      name: "workload-endpoints",
      kind: azureCluster,
      finalizer: endpointsFinalizer,
      conditions: [conditions.links],
      // The management cluster is left as it is, this too.
      conditionsOn: ({ metadata }) =>
        keyOf({ metadata }) === managementKey ? [] : [conditions.links],
      see: (cluster, pass) => see(cluster, pass, sources, (arm) => roads.set(pass, arm)),
      plan,
      apply: (step, pass) =>
        apply(step, pass, { kube, writes: sources.writes, management: roads.get(pass) }),
    };

    const everybody = () =>
      azureClusters
        .list()
        .map(keyOf)
        .filter((key) => key !== managementKey);
    const isManagement = (each: KubeObject) => keyOf(each) === managementKey;
    const changed = changedEndpoints();
    const ofCluster = whenItMatters(
      (cluster) =>
        azureClusters
          .list()
          .filter((each) => ownerKey(each) === keyOf(cluster))
          .map(keyOf),
      (each) => [(each as CapiCluster).spec?.paused, each.metadata.annotations],
    );
    const also: Also[] = [
      {
        kind: azureCluster,
        keys: whenItMatters((each) => (isManagement(each) ? everybody() : []), asManagement),
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
          return keys.includes(managementKey) ? everybody() : keys;
        },
      },
      ...(views.watch?.(parts, (each) => (isManagement(each) ? everybody() : [keyOf(each)])) ?? []),
    ];
    return { feature: feature as unknown as Feature, also };
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
