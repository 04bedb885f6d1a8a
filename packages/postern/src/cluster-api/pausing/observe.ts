import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { CapiCluster } from "@postern/core/kinds/capi-cluster.ts";
import {
  type KubeadmControlPlane,
  kubeadmControlPlane,
} from "@postern/core/kinds/kubeadm-control-plane.ts";
import type { WatchCache } from "../../kube/cache.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { OwnObjects } from "../../kube/own-objects.ts";
import type { Reconcile } from "../../kube/reconcile.ts";
import { azureClusterKeyOf } from "../azure-clusters.ts";
import { annotations, predecessor } from "../names.ts";
import { gatesOf, ownerOf } from "./gates/gates.ts";
import type { Gates, Observed, Pause } from "./observed.ts";

/** Where everything that is observed comes from. */
export interface Sources {
  kube: KubeClient;
  controlPlanes: OwnObjects<KubeadmControlPlane>;
  clusters: WatchCache<CapiCluster>;
  azureClusters: WatchCache<AzureCluster>;
  /** The key of the management AzureCluster. */
  management: string;
  gates: readonly string[];
}

/** Read everything once. */
export async function observe(
  cached: KubeadmControlPlane,
  { kube, controlPlanes, clusters, azureClusters, management, gates: desired }: Sources,
  reconcile: Reconcile,
): Promise<Observed> {
  // The cache may not have heard of what we wrote a moment ago.
  const controlPlane = (await controlPlanes.get(cached.metadata, reconcile.signal)) ?? cached;
  const owner = ownerOf(controlPlane);
  const cluster = owner && clusters.get(`${controlPlane.metadata.namespace}/${owner.name}`);
  const key = cluster && azureClusterKeyOf(cluster);
  const gates = gatesOf({
    controlPlane,
    desired,
    management: azureClusters.get(management),
    cluster,
    azureCluster: key === undefined ? undefined : azureClusters.get(key),
  });
  return { controlPlane, gates, pause: await pauseOf(controlPlane, gates, kube, reconcile.signal) };
}

/** Any value of the annotation is a pause, as Cluster API has it. */
async function pauseOf(
  controlPlane: KubeadmControlPlane,
  gates: Gates,
  kube: KubeClient,
  signal: AbortSignal,
): Promise<Pause> {
  const { namespace, name, annotations: present = {} } = controlPlane.metadata;
  if (present[annotations.paused] === undefined) return { by: "nobody" };
  const note = present[annotations.pausedFor];
  if (note !== undefined) return { by: "us", note };
  // Who wrote it matters only where it could be taken off, and caches do not hold it.
  if (gates.state !== "met") return { by: "another" };
  const now = await kube.get({ kind: kubeadmControlPlane, namespace, name }, signal);
  const writers = writersOf(now?.metadata.managedFields, annotations.paused);
  const byPredecessor = writers.length > 0 && writers.every((each) => each === predecessor);
  return byPredecessor ? { by: "us", note: "" } : { by: "another" };
}

/** The managers that have set an annotation. */
export function writersOf(managedFields: unknown, annotation: string): string[] {
  interface Entry {
    manager?: string;
    fieldsV1?: { "f:metadata"?: { "f:annotations"?: Record<string, unknown> } };
  }
  const entries: Entry[] = Array.isArray(managedFields) ? managedFields : [];
  return entries
    .filter(({ fieldsV1 }) =>
      Object.hasOwn(fieldsV1?.["f:metadata"]?.["f:annotations"] ?? {}, `f:${annotation}`),
    )
    .map(({ manager = "" }) => manager);
}
