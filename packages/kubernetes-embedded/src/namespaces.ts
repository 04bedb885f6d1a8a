import { qualified } from "./answers.ts";
import type { Resource, Stored } from "./resource.ts";

interface Condition {
  type: string;
  status: "True" | "False";
  lastTransitionTime: string;
  reason: string;
  message: string;
}

type NamespaceCondition = Omit<Condition, "lastTransitionTime">;

/** A terminating namespace with conditions about what remains in it; the same object where they are unchanged. */
export function withDeletionConditions(
  namespace: Stored,
  left: readonly { holder: Resource; object: Stored }[],
  now: number,
): Stored {
  const status = (namespace.status ?? {}) as { phase?: string; conditions?: Condition[] };
  const old = status.conditions ?? [];
  const time = `${new Date(now).toISOString().slice(0, 19)}Z`;
  const conditions = deletionConditions(left).map((next) => {
    const before = old.find(({ type }) => type === next.type);
    const unmoved = before?.status === next.status;
    return { ...next, lastTransitionTime: unmoved ? before.lastTransitionTime : time };
  });
  const unchanged =
    old.length === conditions.length &&
    conditions.every((each, i) => each.message === old[i]?.message);
  return unchanged ? namespace : { ...namespace, status: { ...status, conditions } };
}

function deletionConditions(
  left: readonly { holder: Resource; object: Stored }[],
): NamespaceCondition[] {
  const kinds = counted(left.map(({ holder }) => qualified(holder)));
  const finalizers = counted(left.flatMap(({ object }) => object.metadata.finalizers ?? []));
  return [
    {
      type: "NamespaceDeletionDiscoveryFailure",
      status: "False",
      reason: "ResourcesDiscovered",
      message: "All resources successfully discovered",
    },
    {
      type: "NamespaceDeletionGroupVersionParsingFailure",
      status: "False",
      reason: "ParsedGroupVersions",
      message: "All legacy kube types successfully parsed",
    },
    {
      type: "NamespaceDeletionContentFailure",
      status: "False",
      reason: "ContentDeleted",
      message: "All content successfully deleted, may be waiting on finalization",
    },
    kinds.length > 0
      ? {
          type: "NamespaceContentRemaining",
          status: "True",
          reason: "SomeResourcesRemain",
          message: `Some resources are remaining: ${kinds.map(([name, count]) => `${name} has ${count} resource instances`).join(", ")}`,
        }
      : {
          type: "NamespaceContentRemaining",
          status: "False",
          reason: "ContentRemoved",
          message: "All content successfully removed",
        },
    finalizers.length > 0
      ? {
          type: "NamespaceFinalizersRemaining",
          status: "True",
          reason: "SomeFinalizersRemain",
          message: `Some content in the namespace has finalizers remaining: ${finalizers.map(([name, count]) => `${name} in ${count} resource instances`).join(", ")}`,
        }
      : {
          type: "NamespaceFinalizersRemaining",
          status: "False",
          reason: "ContentHasNoFinalizers",
          message: "All content-preserving finalizers finished",
        },
  ];
}

function counted(names: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
}
