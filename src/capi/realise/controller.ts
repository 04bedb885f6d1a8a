import type { Feature } from "../../kube/feature.ts";
import type { Also, MakeFeature } from "../../kube/runtime.ts";
import { keyOf } from "../../model/kind.ts";
import { type AzureCluster, azureCluster } from "../../model/kinds/azure-cluster.ts";
import { type CapiCluster, capiCluster } from "../../model/kinds/capi-cluster.ts";
import { conditions, realiseFinalizer } from "../names.ts";
import { apply } from "./apply.ts";
import { Known } from "./known.ts";
import type { RealiseOptions, RealiseParts } from "./parts.ts";
import { clusterNameOf } from "./place.ts";
import { plan } from "./plan.ts";
import { reasons } from "./reasons.ts";
import { see } from "./see.ts";
import type { Seen } from "./seen.ts";
import { conditionOfSide, sidesOf } from "./sides.ts";
import type { RealiseStep } from "./steps.ts";

export type { RealiseOptions };

const byCluster = "realise: cluster";

/** What an AzureCluster asks for in private links and private endpoints, in Azure, where nobody else makes it. */
export function realiseFeature(options: RealiseOptions): MakeFeature {
  return (given) => {
    const objects = given.caches.of(azureCluster);
    const clusters = given.caches.of(capiCluster);
    objects.index(byCluster, (object) => [
      keyOf({ metadata: { ...object.metadata, name: clusterNameOf(object) } }),
    ]);
    const known = new Known();
    objects.onChange(({ key, after }) => {
      if (after === undefined) known.forget(key);
    });
    const parts: RealiseParts = { ...options, objects, clusters, known };
    const feature: Feature<AzureCluster, Seen, RealiseStep> = {
      name: "realise",
      kind: azureCluster,
      finalizer: realiseFinalizer,
      conditions: [conditions.privateLinks, conditions.privateEndpoints],
      conditionsOn: (object) => sidesOf(object).map((side) => conditionOfSide[side]),
      failsAs: reasons.notRealised,
      see: (object, pass) => see(object, pass, parts),
      plan,
      apply: (step, pass) => apply(step, pass, parts),
    };
    const also: Also[] = [
      {
        kind: capiCluster,
        keys: (cluster) => objects.byIndex(byCluster, keyOf(cluster as CapiCluster)).map(keyOf),
      },
      ...(options.views.watch?.(given) ?? []),
    ];
    return { feature: feature as Feature, also };
  };
}
