import { expect, test } from "vitest";
import { ManualClock } from "../../../../../test/manual-clock.ts";
import type { ArmClient } from "../../azure/arm.ts";
import { ReadCache } from "../../azure/read-cache.ts";
import type { Reconcile } from "../../kube/reconcile.ts";
import { clusterAnnotation, controlPlaneFinalizer } from "../names.ts";
import { observe, type Parts } from "./observe.ts";
import { plan } from "./plan.ts";

const subscriptionID = "22222222-2222-4222-8222-222222222222";
const group = `/subscriptions/${subscriptionID}/resourceGroups/guest`;
const network = `${group}/providers/Microsoft.Network/virtualNetworks/guest`;

/** A control plane, a link of it without finalizer, and an Azure in which nothing is. */
function world(whenAsked: (controlPlane: { metadata: object }) => void) {
  const clock = new ManualClock(0);
  const controlPlane = {
    metadata: {
      namespace: "clusters-one",
      name: "one",
      uid: "plane",
      finalizers: [controlPlaneFinalizer],
      annotations: { [clusterAnnotation]: "clusters/one" },
    },
    spec: { clusterID: "11111111-1111-4111-8111-111111111111", platform: { type: "Azure" } },
  };
  const reference = { kind: "HostedControlPlane", apiVersion: "hypershift.openshift.io/v1beta1" };
  const link = {
    metadata: {
      namespace: "clusters-one",
      name: "private-router",
      uid: "link",
      ownerReferences: [{ ...reference, name: "one", uid: "plane", controller: true }],
    },
    spec: {
      subscriptionID,
      resourceGroupName: "guest",
      location: "westeurope",
      guestVNetID: network,
      guestSubnetID: `${network}/subnets/nodes`,
    },
  };
  const arm = {
    readCache: new ReadCache({ clock }),
    prove: async () => undefined,
    check: async () => undefined,
    request: async () => {
      whenAsked(controlPlane);
      return { status: 200, headers: {}, body: { value: [] } };
    },
  } as unknown as ArmClient;
  const parts = {
    sources: {
      links: { byIndex: () => [link] },
      controlPlanes: { get: () => controlPlane, byIndex: () => [controlPlane] },
      registered: { controlPlanes: { byIndex: () => [controlPlane] } },
      clusters: { get: () => undefined },
    },
    services: { get: async () => undefined },
    armClients: { hosted: () => arm },
  } as unknown as Parts;
  const now = () => new Date(clock.now());
  const reconcile = { priority: "change", now, date: now, failedReads: [] } as unknown as Reconcile;
  return () => observe(link as never, parts, reconcile);
}

test("the finalizer is added before anything is created", async () => {
  const planned = plan(await world(() => undefined)());
  expect(planned.finalizer).toBe("add");
  expect(planned.steps.map((step) => step.do)).toContain("create DNS zone");
});

test("nothing is begun for a control plane that began to go while Azure was asked", async () => {
  const planned = plan(
    await world(({ metadata }) => {
      Object.assign(metadata, { deletionTimestamp: "2026-01-01T00:00:00Z" });
    })(),
  );
  expect(planned).toMatchObject({ steps: [], finalizer: "remove" });
});
