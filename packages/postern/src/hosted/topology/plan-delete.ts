import type { KubeObject } from "@postern/core/kind.ts";
import type { Plan } from "../../kube/feature.ts";
import { hostedClusterFinalizer } from "../names.ts";
import { isAnothers, isMade, isOf, isOwn } from "./desired/labels.ts";
import { sides } from "./desired/objects.ts";
import type { Observed } from "./observed.ts";
import { topologyApplied, topologyReasons } from "./reasons.ts";
import type { MadeKind, TopologyStep } from "./steps.ts";
import { end, isBeingDeleted } from "./steps.ts";

/**
 * How a cluster goes, one row after the other. A row begins when nothing of those before it is left.
 *
 *     HostedControlPlane        it is asked to go first, or its links would be made anew; it waits for their guest side
 *     its links                 they are asked to go once it is going, and are waited for: the load balancers behind
 *                               them cannot go before
 *     Services and Routes       those that we made
 *     namespace                 if we made it. It is not waited for: the cluster's own controller empties it, and where
 *                               there is none it would stay for ever
 *     the HostedCluster's hold
 *
 * A cluster that was refused because another has its namespace had nothing there, and goes at once.
 */
export function planDown(seen: Observed): Plan<TopologyStep> {
  const { cluster, controlPlane, links, namespace } = seen;
  if (!cluster.metadata.finalizers?.includes(hostedClusterFinalizer))
    return { steps: [], conditions: [], requeue: "never" };
  if (isTaken(seen)) return { steps: [], conditions: [], finalizer: "remove", requeue: "never" };
  const plane = controlPlane && isOwn(controlPlane, cluster) ? controlPlane : undefined;
  if (plane && !isBeingDeleted(plane)) return going([["HostedControlPlane", plane]]);
  const ownLinks = links.filter((link) => !isAnothers(link, cluster));
  const first: Going[] = [
    ...(plane ? [["HostedControlPlane", plane] as const] : []),
    ...ownLinks.map((link) => ["AzurePrivateLinkService", link] as const),
  ];
  if (first.length > 0) return going(first);
  const network: Going[] = [
    ...seen.services.map((one) => ["Service", one] as const),
    ...(seen.routes ?? []).map((one) => ["Route", one] as const),
  ].filter(([kind, { metadata }]) => metadata.name in sides[kind as "Service" | "Route"]);
  if (seen.account) network.push(["ServiceAccount", seen.account]);
  const ours = network.filter(([, object]) => isMade(object));
  if (ours.length > 0) return going(ours);
  if (namespace && isMade(namespace) && isOf(namespace, cluster) && !isBeingDeleted(namespace))
    return going([["Namespace", namespace]]);
  return { steps: [], conditions: [], finalizer: "remove", requeue: "never" };
}

type Going = readonly [MadeKind, KubeObject];

/** Whether nothing in the namespace is this cluster's: it was never created for it, or is another's. */
function isTaken({ cluster, namespace, controlPlane }: Observed): boolean {
  if ([namespace, controlPlane].some((each) => each && isAnothers(each, cluster))) return true;
  const ownPlane = controlPlane !== undefined && isOwn(controlPlane, cluster);
  return namespace !== undefined && !isOf(namespace, cluster) && !ownPlane;
}

/** Ask them to go, and wait until they have. */
function going(all: readonly Going[]): Plan<TopologyStep> {
  const steps = all
    .filter(([, object]) => !isBeingDeleted(object))
    .map(([kind, object]) => end(kind, object));
  const names = all.map(([kind, { metadata }]) => {
    const held = metadata.finalizers ?? [];
    return `${kind} ${metadata.name}${held.length > 0 ? ` (held by ${held.join(", ")})` : ""}`;
  });
  const message = `the cluster is being deleted · it waits for ${names.join(", ")} · see their conditions and events if this takes long`;
  return {
    steps,
    conditions: [
      { type: topologyApplied, status: "False", reason: topologyReasons.deleting, message },
    ],
    requeue: "drift",
  };
}
