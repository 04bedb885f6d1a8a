import { roleBinding } from "@postern/core/kinds/role-binding.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { Applied } from "../../kube/feature.ts";
import type { Reconcile } from "../../kube/reconcile.ts";
import type { GrantStep } from "./steps.ts";

/** Carry out one step. */
export async function apply(
  step: GrantStep,
  kube: KubeClient,
  { signal }: Reconcile,
): Promise<Applied> {
  switch (step.do) {
    case "create RoleBinding":
      await kube.create(roleBinding, step.binding, signal);
      break;
    case "update RoleBinding": {
      const { namespace, name, resourceVersion } = step.binding.metadata;
      const { metadata, ...rest } = step.change as { metadata: object };
      // With the version the API server refuses the change where somebody else has just changed it.
      const change = { metadata: { ...metadata, resourceVersion }, ...rest };
      const options = { fieldManager: "postern-grant", signal };
      await kube.patch({ kind: roleBinding, namespace, name }, "merge", change, options);
      break;
    }
  }
  return { state: "done" };
}
