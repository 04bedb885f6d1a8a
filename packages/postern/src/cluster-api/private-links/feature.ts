import { keyOf } from "@postern/core/kind.ts";
import { azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { type CapiCluster, capiCluster } from "@postern/core/kinds/capi-cluster.ts";
import { staleReadsMs } from "../../azure/read-cache.ts";
import { defineFeature } from "../../kube/feature.ts";
import type { MakeFeature, WatchedKind } from "../../kube/runtime.ts";
import { clusterNameOf, clusterPolicies } from "../azure-clusters.ts";
import { conditions, formerPrivateLinksFinalizer, privateLinksFinalizer } from "../names.ts";
import { apply } from "./apply.ts";
import { CreatedIds } from "./azure/created-ids.ts";
import type { PrivateLinkOptions, PrivateLinkParts } from "./azure/dependencies.ts";
import { observe } from "./observe.ts";
import { plan } from "./plan.ts";
import { reasons } from "./reasons.ts";
import { conditionOfScope, managedScopes } from "./spec/managed.ts";

export type { PrivateLinkOptions };

const byCluster = "private links: cluster";

/** What an AzureCluster requests in private links and private endpoints, in Azure, where nobody else creates it. */
export function privateLinksFeature(options: PrivateLinkOptions): MakeFeature {
  return (given) => {
    const objects = given.caches.of(azureCluster);
    const clusters = given.caches.of(capiCluster);
    objects.index(byCluster, (object) => [
      keyOf({
        metadata: { ...object.metadata, name: clusterNameOf(object) ?? object.metadata.name },
      }),
    ]);
    const created = new CreatedIds();
    objects.onChange(({ key, after }) => {
      if (after === undefined) created.delete(key);
    });
    const parts: PrivateLinkParts = { ...options, objects, clusters, created, kube: given.kube };
    const feature = defineFeature({
      name: "private-links",
      kind: azureCluster,
      finalizer: privateLinksFinalizer,
      formerFinalizer: formerPrivateLinksFinalizer,
      staleReadsMs,
      conditions: [conditions.privateLinks, conditions.privateEndpoints],
      conditionsOn: (object) => managedScopes(object).map((scope) => conditionOfScope[scope]),
      failsAs: reasons.notReady,
      observe: async (object, reconcile) => ({
        observed: await observe(object, parts, reconcile),
        context: parts,
        policies: clusterPolicies(object, clusters),
      }),
      plan,
      apply,
    });
    const watches: WatchedKind[] = [
      {
        kind: capiCluster,
        keys: (cluster) => objects.byIndex(byCluster, keyOf(cluster as CapiCluster)).map(keyOf),
      },
      ...(options.clients.watch?.(given) ?? []),
    ];
    return { feature, watches };
  };
}
