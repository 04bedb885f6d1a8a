import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { type RoleBinding, roleBinding } from "@postern/core/kinds/role-binding.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { Reconcile } from "../../kube/reconcile.ts";
import { type Registered, whyUnverified } from "../tenancy.ts";
import type { Account, Observed } from "./observed.ts";
import { controlPlaneRole } from "./plan.ts";

/** Where the observed state comes from. */
export interface Sources {
  kube: KubeClient;
  /** The service account of this process. */
  account(signal: AbortSignal): Promise<Account | undefined>;
  registered: Registered;
}

/**
 * Observe the RoleBinding of a control plane. It is read by name and not from a cache, because to watch it the operator
 * would have to be allowed to list all RoleBindings.
 */
export async function observe(
  controlPlane: HostedControlPlane,
  { kube, account, registered }: Sources,
  { signal }: Reconcile,
): Promise<Observed> {
  const { namespace = "" } = controlPlane.metadata;
  const verified = whyUnverified(controlPlane, registered) === undefined;
  const own = verified ? await account(signal) : undefined;
  const binding = own
    ? await kube.get<RoleBinding>({ kind: roleBinding, namespace, name: controlPlaneRole }, signal)
    : undefined;
  return { controlPlane, verified, account: own, binding };
}
