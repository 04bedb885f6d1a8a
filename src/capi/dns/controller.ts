import type { Feature } from "../../kube/feature.ts";
import type { Also, MakeFeature } from "../../kube/runtime.ts";
import { whenItMatters } from "../../kube/when-it-matters.ts";
import { type KubeObject, keyOf } from "../../model/kind.ts";
import { type AzureCluster, azureCluster } from "../../model/kinds/azure-cluster.ts";
import { type CapiCluster, capiCluster } from "../../model/kinds/capi-cluster.ts";
import { conditions, dnsClusterFinalizer } from "../names.ts";
import { plan } from "./plan.ts";
import type { Seen } from "./seen.ts";
import type { DnsStep } from "./steps.ts";
import { type DnsOptions, working } from "./working.ts";

export type { DnsOptions };

/** The names of clusters in DNS: zones, delegation, links and records. */
export function dnsFeature(options: DnsOptions): MakeFeature {
  return (parts) => {
    const names = working(options, parts);
    names.clusters.onChange(({ key, after }) => {
      if (after === undefined) options.metrics?.forget(key);
    });
    const feature: Feature<CapiCluster, Seen, DnsStep> = {
      name: "dns",
      kind: capiCluster,
      finalizer: dnsClusterFinalizer,
      conditions: [],
      see: names.see,
      plan,
      apply: names.apply,
    };
    const users = (object: KubeObject) => names.users(object).map(keyOf);
    const also: Also[] = [
      { kind: azureCluster, keys: whenItMatters(users, matters) },
      ...(options.views.watch?.(parts, users) ?? []),
    ];
    return { feature: feature as unknown as Feature, also };
  };
}

/** What of an AzureCluster decides anything here; the rest of its status changes all the time. */
function matters(object: KubeObject): unknown {
  const { metadata, spec, status } = object as AzureCluster;
  const { annotations, finalizers, uid } = metadata;
  const loadBalancers = status?.conditions?.some(({ type }) => type === conditions.loadBalancers);
  return [annotations, finalizers, uid, spec, loadBalancers];
}
