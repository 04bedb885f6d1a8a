import type { Feature } from "../../../kube/feature.ts";
import type { Also, MakeFeature } from "../../../kube/runtime.ts";
import { whenItMatters } from "../../../kube/when-it-matters.ts";
import { keyOf } from "../../../model/kind.ts";
import { type AzureCluster, azureCluster } from "../../../model/kinds/azure-cluster.ts";
import { type CapiCluster, capiCluster } from "../../../model/kinds/capi-cluster.ts";
import { appliedElsewhere, writtenByOthers } from "../applied.ts";
import { type ClusterPlace, factsOf, ownerKey, type RefusalOf } from "../facts.ts";
import { hasOurName } from "../whose.ts";
import { LastWrites, writeEndpoints } from "../write.ts";
import { gatherMs, type ManagementStep, plan, type Seen } from "./plan.ts";

/** Of every other AzureCluster. */
const nothing: Seen = {
  management: undefined,
  clusters: [],
  applied: new Set(),
  sinceWriteMs: gatherMs,
};

/** The endpoints of the management cluster to the API servers of all workload clusters, in one write. */
export function managementEndpointsFeature(given: {
  management: ClusterPlace;
  views?: { refusalOf?: RefusalOf };
}): MakeFeature {
  const { views } = given;
  const key = keyOf({ metadata: given.management });
  return ({ caches, kube }) => {
    const azureClusters = caches.of(azureCluster);
    const clusters = caches.of(capiCluster);
    const facts = (each: AzureCluster) => factsOf(each, clusters.get(ownerKey(each) ?? ""));
    const writes = new LastWrites(kube);
    let writtenAt = Number.NEGATIVE_INFINITY;

    const feature: Feature<AzureCluster, Seen, ManagementStep> = {
      name: "management-endpoints",
      kind: azureCluster,
      conditions: [],
      see: async (cached, pass) => {
        if (keyOf(cached) !== key) return nothing;
        const management = facts(await writes.newest(cached, pass.signal));
        const others = azureClusters
          .list()
          .filter((each) => keyOf(each) !== key && views?.refusalOf?.(each) === undefined);
        const seen = {
          management,
          clusters: others.map(facts),
          applied: await appliedElsewhere(management, hasOurName, kube, pass.signal),
          sinceWriteMs: pass.now().getTime() - writtenAt,
        };
        if (plan(seen).steps.length === 0) return seen;
        // Only the API server knows who wrote what is to be changed.
        const { namespace, name } = cached.metadata;
        const place = { kind: azureCluster, namespace, name };
        const now = await kube.get<AzureCluster>(place, pass.signal);
        return now === undefined ? seen : { ...seen, foreign: writtenByOthers(now) };
      },
      plan,
      apply: async ({ target, write }, pass) => {
        writtenAt = pass.now().getTime();
        writes.wrote(target, await writeEndpoints(kube, target, write, pass.signal));
        return { state: "done" };
      },
    };

    const also: Also[] = [
      // Every other AzureCluster, when something about its links has changed; its own changes wake it anyway.
      {
        kind: azureCluster,
        keys: whenItMatters((each) => (keyOf(each) === key ? [] : [key]), asAsked),
      },
      {
        kind: capiCluster,
        keys: whenItMatters(
          () => [key],
          (each) => [(each as CapiCluster).spec?.paused, each.metadata.annotations],
        ),
      },
    ];
    return { feature: feature as unknown as Feature, also };
  };

  function asAsked(each: object): unknown {
    const {
      created: _,
      subnet: _s,
      others: _o,
      ...asked
    } = factsOf(each as AzureCluster, undefined);
    return [asked, ownerKey(each as AzureCluster)];
  }
}
