import type { KubeObject } from "@postern/core/kind.ts";
import type { ObjectStep } from "../../kube/apply-object.ts";
import { withoutNulls } from "./desired/difference.ts";
import { topologyEvents } from "./reasons.ts";

/** The kinds that this feature writes. */
export type MadeKind =
  | "HostedCluster"
  | "Namespace"
  | "HostedControlPlane"
  | "ServiceAccount"
  | "Service"
  | "Route"
  | "AzurePrivateLinkService";

/** Everything that this feature does. */
export type TopologyStep = ObjectStep & { kind: MadeKind };

/** A cluster has many of these: they get no events. */
const quiet: readonly MadeKind[] = ["Service", "Route", "ServiceAccount"];

export function make(kind: MadeKind, object: KubeObject, why: string): TopologyStep {
  return {
    verb: "create",
    do: "make",
    kind,
    object: withoutNulls(object),
    why: `${kind} ${object.metadata.name}: ${why}`,
    ...(!quiet.includes(kind) && { event: topologyEvents.made }),
  };
}

/** Delete something because its cluster is being deleted. */
export function deleteWithCluster(kind: MadeKind, object: KubeObject): TopologyStep {
  const { event, ...step } = remove(kind, object, "the HostedCluster is being deleted");
  return { ...step, ...(event && !quiet.includes(kind) && { event }) };
}

export function change(
  kind: MadeKind,
  object: KubeObject,
  change: object,
  why: string,
): TopologyStep {
  const event = topologyEvents.changed;
  return {
    verb: "change",
    do: "change",
    kind,
    object,
    change,
    why: `${kind} ${object.metadata.name}: ${why}`,
    event,
  };
}

/** Change fields of a status that no condition reports. It gets no event: the conditions have their own. */
export function publish(
  kind: "HostedCluster" | "HostedControlPlane",
  object: KubeObject,
  status: object,
  why: string,
): TopologyStep {
  return {
    verb: "change",
    do: "change",
    kind,
    object,
    change: { status },
    subresource: "status",
    why: `${kind} ${object.metadata.name}: ${why}`,
  };
}

export function remove(kind: MadeKind, object: KubeObject, why: string): TopologyStep {
  const event = topologyEvents.deleted;
  return {
    verb: "delete",
    do: "delete",
    kind,
    object,
    why: `${kind} ${object.metadata.name}: ${why}`,
    event,
  };
}

export function isBeingDeleted({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}
