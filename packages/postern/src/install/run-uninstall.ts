import { type Kind, type KubeObject, keyOf } from "@postern/core/kind.ts";
import { azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { azurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import { capiCluster } from "@postern/core/kinds/capi-cluster.ts";
import { hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { CommandFailure } from "../cli/command-failure.ts";
import { clusterNameOf } from "../cluster-api/azure-clusters.ts";
import {
  dnsClusterFinalizer,
  dnsFinalizer,
  endpointsFinalizer,
  formerPrivateLinksFinalizer,
  privateLinksFinalizer,
} from "../cluster-api/names.ts";
import { clusterAnnotation, hostedClusterFinalizer } from "../hosted/names.ts";
import type { KubeClient } from "../kube/client.ts";
import { KubeError } from "../kube/errors.ts";
import { endpointsOf, linkServicesOf, zonesOf } from "../view/computed-names.ts";
import { nameOf, roleBinding } from "./kinds.ts";
import { deleteObjects } from "./live/apply.ts";
import { installedElsewhere } from "./live/elsewhere.ts";
import { withLock } from "./live/lock.ts";
import { ensureUnchanged, recordName } from "./live/record.ts";
import { type Surroundings, settingsBefore } from "./run-install.ts";
import { defaultSettings, mergeSettings, type Settings } from "./settings.ts";

/** A cluster that Postern serves, and what of it stays in Azure where nobody deletes it. */
interface Served {
  name: string;
  resources: string[];
}

/** What an uninstall deleted, what it kept in Kubernetes, and what remains in Azure. */
export interface Uninstalled {
  namespace: string;
  deleted: string[];
  kept: string[];
  remaining: Served[];
}

/** Remove an installation. While clusters exist it is refused, because nobody would delete what they have in Azure. */
export async function uninstall(
  { namespace, force }: { namespace: string; force: boolean },
  surroundings: Surroundings,
): Promise<Uninstalled> {
  const { kube, signal, print } = surroundings;
  const before = await settingsBefore(kube, namespace, signal);
  const elsewhere = await installedElsewhere(kube, before.objects, namespace, signal);
  // What is cluster-wide, and the clusters, are those of the other installation then.
  const objects =
    elsewhere === undefined
      ? before.objects
      : before.objects.filter((each) => each.namespace === namespace);
  const settings = mergeSettings(defaultSettings(), before.settings) as Settings;
  const served = elsewhere === undefined ? await servedClusters(kube, settings, signal) : [];
  for (const line of stays(served)) print(line);
  if (served.length > 0 && !force) {
    const named = served.slice(0, 5).map(({ name }) => name);
    const more = served.length - named.length;
    throw new CommandFailure(
      `nothing was deleted · ${served.length === 1 ? "1 cluster exists" : `${served.length} clusters exist`}: ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""} · delete them first (docs/guides/remove-it.md), or use --force, which leaves their Azure resources and finalizers in place`,
    );
  }
  const record = { kind: "ConfigMap", namespace, name: recordName };
  const deleted = await withLock(kube, namespace, surroundings, async (signal) => {
    const locked = { ...surroundings, signal };
    await ensureUnchanged(kube, namespace, before, signal);
    const bindings = elsewhere === undefined ? await ownBindings(kube, signal) : [];
    const leases = ["postern-operator", "postern-cluster-api"].map((name) => ({
      kind: "Lease",
      namespace,
      name,
    }));
    const all = await deleteObjects([...objects, ...bindings, ...leases], locked);
    // Last: a second run completes what this one could not delete.
    return [...all, ...(await deleteObjects([record], locked))];
  });
  if (elsewhere !== undefined)
    print(
      `Everything outside namespace ${namespace} is kept: it belongs to Postern in namespace ${elsewhere}.`,
    );
  const kinds = objects.filter(({ kind }) => kind === "CustomResourceDefinition");
  const kept = [`Namespace ${namespace}`, ...kinds.map(({ name }) => name)];
  print(
    `These are kept, because deleting them would delete everything in them: ${kept.join(", ")}.`,
  );
  return { namespace, deleted, kept, remaining: served };
}

/** The RoleBindings that the operator created in control-plane namespaces. */
async function ownBindings(kube: KubeClient, signal: AbortSignal) {
  const query = "fieldSelector=metadata.name%3Dpostern-control-plane";
  const found: { kind: string; namespace: string; name: string }[] = [];
  for await (const { items } of kube.list(roleBinding, { query, signal }))
    for (const { metadata } of items)
      found.push({ kind: "RoleBinding", namespace: metadata.namespace ?? "", name: metadata.name });
  return found;
}

/** The finalizers by which Postern serves AzureClusters; the first two it has in common with the operators whose place it takes. */
const azureClusterFinalizers = [
  endpointsFinalizer,
  dnsFinalizer,
  privateLinksFinalizer,
  formerPrivateLinksFinalizer,
];

/** Clusters with a link object, or with a finalizer that this installation puts there. */
async function servedClusters(
  kube: KubeClient,
  { clusterApi, hosted }: Settings,
  signal: AbortSignal,
): Promise<Served[]> {
  const all = <T extends KubeObject>(kind: Kind<T>) => listIfKnown<T>(kube, kind, signal);
  const [links, hostedClusters, azureClusters, capiClusters] = await Promise.all([
    all(azurePrivateLinkService),
    hosted.replaceHyperShift ? all(hostedCluster) : [],
    clusterApi.enabled ? all(azureCluster) : [],
    clusterApi.enabled ? all(capiCluster) : [],
  ]);
  const linked = new Set(links.map(({ metadata }) => metadata.annotations?.[clusterAnnotation]));
  return [
    ...links.map(({ metadata, status }) => ({
      name: nameOf({ kind: azurePrivateLinkService.kind, metadata }),
      resources: [
        status?.privateLinkServiceID,
        status?.privateEndpointID,
        status?.privateDNSZoneID,
        status?.baseDomainDNSZoneID,
      ].filter((id) => id !== undefined),
    })),
    ...hostedClusters
      .filter((each) => has(each, [hostedClusterFinalizer]) && !linked.has(keyOf(each)))
      .map((each) => ({
        name: nameOf({ ...each, kind: hostedCluster.kind }),
        resources: zonesOf(each),
      })),
    ...azureClusters
      .filter((each) => has(each, azureClusterFinalizers))
      .map((each) => ({
        name: nameOf({ ...each, kind: azureCluster.kind }),
        resources: [
          ...linkServicesOf(each),
          ...endpointsOf(each),
          ...(has(each, [dnsFinalizer])
            ? zoneNamed(clusterNameOf(each) ?? each.metadata.name, clusterApi)
            : []),
        ],
      })),
    ...capiClusters
      .filter((each) => has(each, [dnsClusterFinalizer]))
      .map((each) => ({
        name: nameOf({ ...each, kind: capiCluster.kind }),
        resources: zoneNamed(each.metadata.name, clusterApi),
      })),
  ];
}

function zoneNamed(cluster: string, { baseDomain }: Settings["clusterApi"]): string[] {
  return baseDomain === "" ? [] : [`DNS zone ${cluster}.${baseDomain}`];
}

function has({ metadata }: KubeObject, finalizers: readonly string[]): boolean {
  return (metadata.finalizers ?? []).some((each) => finalizers.includes(each));
}
async function listIfKnown<T extends KubeObject>(
  kube: KubeClient,
  kind: Parameters<KubeClient["list"]>[0],
  signal: AbortSignal,
): Promise<T[]> {
  const found: T[] = [];
  try {
    for await (const { items } of kube.list<T>(kind, { signal })) found.push(...items);
  } catch (error) {
    // The kind is not installed.
    if (!(error instanceof KubeError && error.status === 404)) throw error;
  }
  return found;
}

function stays(served: readonly Served[]): string[] {
  const resources = served.flatMap(({ name, resources: ids }) =>
    ids.map((id) => `  ${id} (${name})`),
  );
  if (resources.length === 0) return [];
  return [
    "These Azure resources remain, where they exist, until the clusters are deleted while an operator is running:",
    ...resources,
  ];
}
