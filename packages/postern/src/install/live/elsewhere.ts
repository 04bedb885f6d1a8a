import {
  type ClusterRoleBinding,
  clusterRoleBinding,
  serviceAccount,
} from "@postern/core/kinds/core.ts";
import type { KubeClient } from "../../kube/client.ts";
import { KubeError } from "../../kube/errors.ts";
import type { Component } from "../objects/names.ts";

/** The processes that run in the namespace of the installation. */
const central: readonly Component[] = ["postern-operator", "postern-cluster-api"];

/**
 * The other namespace in which Postern is installed; undefined where there is none. What is cluster-wide, such as these
 * bindings, can be of one installation only. A binding whose ServiceAccount is gone was left behind, and counts for nothing.
 */
export async function installedElsewhere(
  kube: KubeClient,
  objects: readonly { kind?: string; name: string }[],
  namespace: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const kind = clusterRoleBinding;
  for (const { name } of objects.filter((each) => each.kind === kind.kind)) {
    const binding = await kube
      .get<ClusterRoleBinding>({ kind, name }, signal)
      .catch(unlessForbidden);
    for (const { kind: subject, namespace: place = "", name: account } of binding?.subjects ?? []) {
      if (subject !== serviceAccount.kind || place === namespace) continue;
      if (!central.some((each) => each === account)) continue;
      const at = { kind: serviceAccount, namespace: place, name: account };
      if (await kube.getMetadata(at, signal).catch(unlessForbidden)) return place;
    }
  }
  return undefined;
}

/** Whoever may not read them may not write them either: the plan says so. */
function unlessForbidden(error: unknown): undefined {
  if (!(error instanceof KubeError && error.status === 403)) throw error;
}
