import type { Feature } from "../../kube/feature.ts";
import type { Pass } from "../../kube/pass.ts";
import type { Also, MakeFeature } from "../../kube/runtime.ts";
import { whenItMatters } from "../../kube/when-it-matters.ts";
import { type KubeObject, keyOf } from "../../model/kind.ts";
import { type AzureCluster, azureCluster } from "../../model/kinds/azure-cluster.ts";
import { type CapiCluster, capiCluster } from "../../model/kinds/capi-cluster.ts";
import type { ResourceId } from "../../model/resource-id.ts";
import { conditions, type ManagementLink } from "../names.ts";
import { apply, type Opened } from "./apply.ts";
import { managementOf } from "./facts.ts";
import { Failures } from "./failures.ts";
import { InfrastructureObjects } from "./infrastructure.ts";
import type { DnsMetrics } from "./metrics.ts";
import type { ClusterSettings } from "./places.ts";
import { plan } from "./plan.ts";
import { type DnsViews, openRoads } from "./roads.ts";
import { see } from "./see.ts";
import type { Seen } from "./seen.ts";
import type { DnsStep } from "./steps.ts";

export interface DnsOptions {
  management: { namespace: string; name: string };
  baseDomain: string;
  /** The resource group of the zone of the base domain. */
  baseZoneGroup: ResourceId;
  /** By which names workload clusters reach the management cluster. */
  managementLinks: readonly ManagementLink[];
  views: DnsViews;
  /** `CLUSTER_AZURE_*`, for clusters that are not of CAPZ. */
  settings?: ClusterSettings;
  /** Another operator writes the annotations with the addresses of endpoints. */
  trustAnnotations?: boolean;
  metrics?: DnsMetrics;
}

/** The names of clusters in DNS: zones, delegation, links and records. */
export function dnsFeature(options: DnsOptions): MakeFeature {
  const { views, metrics } = options;
  const seeing = { trustAnnotations: false, settings: {}, ...options };
  return (parts) => {
    const { caches, kube } = parts;
    const clusters = caches.of(capiCluster);
    const azureClusters = caches.of(azureCluster);
    const byReference = "dns-infrastructure";
    clusters.index(byReference, (cluster) => {
      const { kind, name } = cluster.spec.infrastructureRef ?? {};
      return kind === azureCluster.kind ? [`${cluster.metadata.namespace}/${name}`] : [];
    });
    const objects = new InfrastructureObjects(kube, azureClusters);
    const failures = new Failures();
    // The roads on which a pass has looked are those on which it writes.
    const opened = new WeakMap<Pass, Opened>();

    const feature: Feature<CapiCluster, Seen, DnsStep> = {
      name: "dns",
      kind: capiCluster,
      conditions: [],
      async see(cluster, pass) {
        const { itself, ...found } = managementOf(cluster, options, { clusters, azureClusters });
        const infrastructure = await objects.of(cluster, pass.now(), pass.signal);
        const management = itself ? undefined : found.management;
        const all = { cluster, infrastructure, ...found, management };
        const roads = openRoads(all, views, pass, metrics);
        opened.set(pass, { roads, infrastructure });
        const seen = await see(all, roads, pass, kube, seeing);
        const gone = cluster.metadata.deletionTimestamp !== undefined && seen.zones.length === 0;
        if (gone) metrics?.forget(pass.key);
        else if (seen.zones.length > 0) metrics?.saw(pass.key, seen);
        return { ...seen, failures: failures.take(pass.key) };
      },
      plan,
      async apply(step, pass) {
        const given = opened.get(pass);
        if (given === undefined) throw new Error("a step of a pass that has not looked");
        try {
          return await apply(step, pass, given, objects);
        } catch (error) {
          throw pass.signal.aborted ? error : failures.note(pass.key, error);
        }
      },
    };

    const users = ({ metadata }: KubeObject) =>
      clusters.byIndex(byReference, `${metadata.namespace}/${metadata.name}`).map(keyOf);
    const also: Also[] = [
      { kind: azureCluster, keys: whenItMatters(users, matters) },
      ...(views.watch?.(parts, users) ?? []),
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
