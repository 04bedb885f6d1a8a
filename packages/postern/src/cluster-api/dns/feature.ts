import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import { type AzureCluster, azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { capiCluster } from "@postern/core/kinds/capi-cluster.ts";
import { staleReadsMs } from "../../azure/read-cache.ts";
import { defineFeature } from "../../kube/feature.ts";
import type { MakeFeature, WatchedKind } from "../../kube/runtime.ts";
import { whenChanged } from "../../kube/when-changed.ts";
import { conditions, dnsClusterFinalizer } from "../names.ts";
import { apply } from "./apply.ts";
import { type DnsOptions, dnsDependencies } from "./objects/dependencies.ts";
import { plan } from "./plan.ts";

export type { DnsOptions };

/** The names of clusters in DNS: zones, delegation, links and records. */
export function dnsFeature(options: DnsOptions): MakeFeature {
  return (parts) => {
    const names = dnsDependencies(options, parts);
    names.clusters.onChange(({ key, after }) => {
      if (after === undefined) options.metrics?.delete(key);
    });
    const feature = defineFeature({
      name: "dns",
      kind: capiCluster,
      finalizer: dnsClusterFinalizer,
      staleReadsMs,
      conditions: [conditions.dnsZone],
      reportsOn: ({ objects, infrastructure }) => objects.statusOf(infrastructure),
      observe: names.observe,
      plan,
      apply,
    });
    const users = (object: KubeObject) => names.users(object).map(keyOf);
    const watches: WatchedKind[] = [
      { kind: azureCluster, keys: whenChanged(users, matters) },
      ...(options.clients.watch?.(parts, users) ?? []),
    ];
    return { feature, watches };
  };
}

/** What of an AzureCluster decides anything here; the rest of its status changes all the time. */
function matters(object: KubeObject): unknown {
  const { metadata, spec, status } = object as AzureCluster;
  const { annotations, finalizers, uid } = metadata;
  const loadBalancers = status?.conditions?.some(({ type }) => type === conditions.loadBalancers);
  return [annotations, finalizers, uid, spec, loadBalancers];
}
