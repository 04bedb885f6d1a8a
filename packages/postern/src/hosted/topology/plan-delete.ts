import type { KubeObject } from "@postern/core/kind.ts";
import type { Plan } from "../../kube/feature.ts";
import { hostedClusterFinalizer } from "../names.ts";
import { isAnothers, isMade, isOf, isOwn } from "./desired/labels.ts";
import { exposures } from "./desired/objects.ts";
import type { Observed } from "./observed.ts";
import { topologyApplied, topologyReasons } from "./reasons.ts";
import type { MadeKind, TopologyStep } from "./steps.ts";
import { deleteWithCluster, isBeingDeleted } from "./steps.ts";

/**
 * Delete in this order, each when nothing of those before it is left: the control plane, or its links would be created again; its
 * links, because their load balancers cannot be deleted before; the Services and Routes; the namespace, for which nobody waits,
 * because without the cluster's own controller nobody would delete it. A cluster whose namespace is another's has nothing to delete.
 */
export function planDelete(observed: Observed): Plan<TopologyStep> {
  const { cluster, controlPlane, links, namespace } = observed;
  if (!cluster.metadata.finalizers?.includes(hostedClusterFinalizer))
    return { steps: [], conditions: [], requeue: "never" };
  if (isTaken(observed))
    return { steps: [], conditions: [], finalizer: "remove", requeue: "never" };
  const plane = controlPlane && isOwn(controlPlane, cluster) ? controlPlane : undefined;
  if (plane && !isBeingDeleted(plane)) return deleteAndWait([["HostedControlPlane", plane]]);
  const ownLinks = links.filter((link) => !isAnothers(link, cluster));
  const first: Deletion[] = [
    ...(plane ? [["HostedControlPlane", plane] as const] : []),
    ...ownLinks.map((link) => ["AzurePrivateLinkService", link] as const),
  ];
  if (first.length > 0) return deleteAndWait(first);
  const network: Deletion[] = [
    ...observed.services.map((one) => ["Service", one] as const),
    ...(observed.routes ?? []).map((one) => ["Route", one] as const),
  ].filter(([kind, { metadata }]) => metadata.name in exposures[kind as "Service" | "Route"]);
  if (observed.account) network.push(["ServiceAccount", observed.account]);
  const created = network.filter(([, object]) => isMade(object));
  if (created.length > 0) return deleteAndWait(created);
  if (namespace && isMade(namespace) && isOf(namespace, cluster) && !isBeingDeleted(namespace))
    return deleteAndWait([["Namespace", namespace]]);
  return { steps: [], conditions: [], finalizer: "remove", requeue: "never" };
}

type Deletion = readonly [MadeKind, KubeObject];

/** Whether nothing in the namespace is this cluster's: it was never created for it, or is another's. */
function isTaken({ cluster, namespace, controlPlane }: Observed): boolean {
  if ([namespace, controlPlane].some((each) => each && isAnothers(each, cluster))) return true;
  const ownPlane = controlPlane !== undefined && isOwn(controlPlane, cluster);
  return namespace !== undefined && !isOf(namespace, cluster) && !ownPlane;
}

/** Delete them, and wait until they do not exist any more. */
function deleteAndWait(all: readonly Deletion[]): Plan<TopologyStep> {
  const steps = all
    .filter(([, object]) => !isBeingDeleted(object))
    .map(([kind, object]) => deleteWithCluster(kind, object));
  const names = all.map(([kind, { metadata }]) => {
    const finalizers = metadata.finalizers ?? [];
    return `${kind} ${metadata.name}${finalizers.length > 0 ? ` (finalizers: ${finalizers.join(", ")})` : ""}`;
  });
  const message = `the cluster is being deleted · waiting for ${names.join(", ")} · see their conditions and events if this takes long`;
  return {
    steps,
    conditions: [
      { type: topologyApplied, status: "False", reason: topologyReasons.deleting, message },
    ],
    requeue: "drift",
  };
}
