import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import type { RoleBinding } from "@postern/core/kinds/role-binding.ts";
import type { Plan } from "../../kube/feature.ts";
import { controlPlaneFinalizer } from "../names.ts";
import type { Account, Observed } from "./observed.ts";
import { grantReasons } from "./reasons.ts";
import type { GrantStep } from "./steps.ts";

/** The ClusterRole of `manifests/rbac/control-plane.yaml`, and the name of its RoleBinding. */
export const controlPlaneRole = "postern-control-plane";

/**
 * Which RoleBinding a control plane has.
 *
 *     control plane                            RoleBinding          →
 *     not verified, or no service account      any                  nothing
 *     being deleted, nothing left in Azure     any                  nothing: it is deleted with the namespace
 *     verified                                 absent               create
 *     verified                                 of another role      nothing, an event: a role cannot be exchanged
 *     verified                                 other subjects       repair
 *
 * It has no owner: links that outlive their control plane, because somebody removed its finalizer, still need it.
 */
export function plan(observed: Observed): Plan<GrantStep> {
  const { controlPlane, verified, account, binding } = observed;
  const { deletionTimestamp, finalizers = [] } = controlPlane.metadata;
  const isOver = deletionTimestamp !== undefined && !finalizers.includes(controlPlaneFinalizer);
  if (!verified || account === undefined || isOver) return { ...nothing, requeue: "never" };
  const desired = desiredBinding(controlPlane, account);
  if (binding === undefined) return { ...nothing, steps: [create(desired)] };
  const { kind, name } = binding.roleRef;
  if (kind !== desired.roleRef.kind || name !== desired.roleRef.name) {
    const note = `RoleBinding ${controlPlaneRole} in namespace ${controlPlane.metadata.namespace} grants nothing to Postern · it refers to ${kind} ${name}, which cannot be changed · delete it; Postern recreates it`;
    return { ...nothing, events: [{ type: "Warning", reason: grantReasons.anotherRole, note }] };
  }
  return isSame(binding, desired) ? nothing : { ...nothing, steps: [repair(binding, desired)] };
}

const nothing: Plan<GrantStep> = { steps: [], conditions: [], requeue: "drift" };

function desiredBinding(controlPlane: HostedControlPlane, account: Account): RoleBinding {
  const { namespace = "" } = controlPlane.metadata;
  return {
    metadata: {
      namespace,
      name: controlPlaneRole,
    },
    roleRef: {
      apiGroup: "rbac.authorization.k8s.io",
      kind: "ClusterRole",
      name: controlPlaneRole,
    },
    subjects: [{ kind: "ServiceAccount", ...account }],
  };
}

function create(binding: RoleBinding): GrantStep {
  return {
    do: "create RoleBinding",
    name: controlPlaneRole,
    binding,
    why: `Postern has no permissions in namespace ${binding.metadata.namespace} yet`,
    event: true,
    failsAs: grantReasons.failed,
  };
}

function repair(binding: RoleBinding, { metadata, subjects }: RoleBinding): GrantStep {
  return {
    do: "update RoleBinding",
    name: controlPlaneRole,
    binding,
    change: { subjects },
    why: `it was changed in namespace ${metadata.namespace}`,
    event: true,
    failsAs: grantReasons.failed,
  };
}

function isSame(binding: RoleBinding, desired: RoleBinding): boolean {
  const [subject, ...more] = binding.subjects ?? [];
  const [account] = desired.subjects ?? [];
  return (
    more.length === 0 &&
    subject?.kind === account?.kind &&
    subject?.namespace === account?.namespace &&
    subject?.name === account?.name
  );
}
