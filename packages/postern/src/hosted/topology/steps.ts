import type { KubeObject } from "@postern/core/kind.ts";
import type { ObjectStep } from "../../kube/apply-object.ts";
import { withoutNulls } from "./desired/difference.ts";

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

export function create(kind: MadeKind, object: KubeObject, why: string): TopologyStep {
  return {
    verb: "create",
    do: `create ${kind}`,
    name: object.metadata.name,
    kind,
    object: withoutNulls(object),
    why,
    ...(!quiet.includes(kind) && { event: true }),
  };
}

/** Delete something because its cluster is being deleted. */
export function deleteWithCluster(kind: MadeKind, object: KubeObject): TopologyStep {
  const { event, ...step } = deleteObject(kind, object, "the HostedCluster is being deleted");
  return { ...step, ...(event && !quiet.includes(kind) && { event }) };
}

export function update(
  kind: MadeKind,
  object: KubeObject,
  change: object,
  why: string,
): TopologyStep {
  return {
    verb: "change",
    do: `update ${kind}`,
    name: object.metadata.name,
    kind,
    object,
    change,
    why,
    event: true,
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
    do: `update ${kind}`,
    name: object.metadata.name,
    kind,
    object,
    change: { status },
    subresource: "status",
    why,
  };
}

export function deleteObject(kind: MadeKind, object: KubeObject, why: string): TopologyStep {
  return {
    verb: "delete",
    do: `delete ${kind}`,
    name: object.metadata.name,
    kind,
    object,
    why,
    event: true,
  };
}

export function isBeingDeleted({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}
