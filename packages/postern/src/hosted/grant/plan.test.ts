import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import type { RoleBinding } from "@postern/core/kinds/role-binding.ts";
import { expect, test } from "vitest";
import { controlPlaneFinalizer } from "../names.ts";
import type { Observed } from "./observed.ts";
import { plan } from "./plan.ts";

const controlPlane = {
  metadata: { namespace: "clusters-one", name: "one", uid: "uid-1" },
  spec: { platform: { type: "Azure" } },
} as HostedControlPlane;
const account = { namespace: "postern", name: "postern-operator" };

function observed(over: Partial<Observed> = {}): Observed {
  return { controlPlane, verified: true, account, binding: undefined, ...over };
}

/** The RoleBinding that is created for a control plane. */
function created(over: Partial<Observed> = {}): RoleBinding {
  const [step] = plan(observed(over)).steps;
  if (step?.do !== "create RoleBinding") throw new Error("nothing is created");
  return step.binding;
}

test("a verified control plane gets a RoleBinding to this service account alone", () => {
  expect(created()).toMatchObject({
    metadata: {
      namespace: "clusters-one",
      name: "postern-control-plane",
    },
    roleRef: { kind: "ClusterRole", name: "postern-control-plane" },
    subjects: [{ kind: "ServiceAccount", namespace: "postern", name: "postern-operator" }],
  });
});

test("the RoleBinding as it was created is left alone", () => {
  expect(plan(observed({ binding: created() })).steps).toEqual([]);
});

test.each<[string, Partial<RoleBinding>]>([
  ["has no subject", { subjects: [] }],
  ["is another's too", { subjects: [...(created().subjects ?? []), { kind: "User", name: "x" }] }],
  ["is another's", { subjects: [{ kind: "ServiceAccount", namespace: "other", name: "x" }] }],
])("a RoleBinding that %s is repaired", (_, over) => {
  const { steps } = plan(observed({ binding: { ...created(), ...over } }));
  expect(steps).toMatchObject([{ do: "update RoleBinding" }]);
});

test("a RoleBinding of another role is left alone, and an event says what to do", () => {
  const binding = { ...created(), roleRef: { ...created().roleRef, name: "cluster-admin" } };
  const { steps, events } = plan(observed({ binding }));
  expect(steps).toEqual([]);
  expect(events).toMatchObject([
    { reason: "RoleBindingOfAnotherRole", note: expect.stringMatching(/ · .* · delete it/) },
  ]);
});

test.each<[string, Partial<Observed>]>([
  ["a control plane that is not verified", { verified: false }],
  ["a process that is no service account", { account: undefined }],
])("nothing is granted for %s", (_, over) => {
  expect(plan(observed(over))).toMatchObject({ steps: [], requeue: "never" });
});

test("a control plane that is being deleted keeps it for as long as its credential is needed", () => {
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  const deleting = (finalizers: string[]) => ({
    ...controlPlane,
    metadata: { ...controlPlane.metadata, deletionTimestamp, finalizers },
  });
  const needed = observed({ controlPlane: deleting([controlPlaneFinalizer]) });
  expect(plan(needed).steps).toHaveLength(1);
  expect(plan(observed({ controlPlane: deleting(["another"]) })).steps).toEqual([]);
});
