import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { CapiCluster } from "@postern/core/kinds/capi-cluster.ts";
import type { KubeadmControlPlane } from "@postern/core/kinds/kubeadm-control-plane.ts";
import { describe, expect, test } from "vitest";
import { annotations } from "../names.ts";
import { type GateFacts, gatesOf } from "./gates/gates.ts";
import { writersOf } from "./observe.ts";
import type { Gates, Pause } from "./observed.ts";
import { plan } from "./plan.ts";
import { reasons } from "./reasons.ts";

const owner = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", name: "wc", uid: "u" };

function controlPlane(over: Partial<KubeadmControlPlane> = {}): KubeadmControlPlane {
  const ownerReferences = [{ ...owner, controller: true }];
  return {
    metadata: { namespace: "org", name: "wc", ownerReferences },
    spec: {},
    ...over,
  } as KubeadmControlPlane;
}

function cluster(spec: object = {}): CapiCluster {
  const infrastructureRef = { apiGroup: "x", kind: "AzureCluster", name: "wc" };
  return {
    metadata: { namespace: "org", name: "wc" },
    spec: { infrastructureRef, ...spec },
  } as CapiCluster;
}

function azureCluster(
  conditions: [type: string, status: string][] = [],
  type: string | undefined = "Internal",
  uid = "wc",
): AzureCluster {
  return {
    metadata: { namespace: "org", name: uid, uid },
    spec: { location: "x", networkSpec: { apiServerLB: { type } } },
    status: { conditions: conditions.map(([of, status]) => ({ type: of, status })) },
  } as AzureCluster;
}

const facts = (over: Partial<GateFacts> = {}): GateFacts => ({
  controlPlane: controlPlane(),
  desired: ["A", "B"],
  management: azureCluster([], "Internal", "mc"),
  cluster: cluster(),
  azureCluster: azureCluster(),
  ...over,
});

const metadata = (over: object) => controlPlane({ metadata: { name: "wc", ...over } });

describe("a control plane waits", () => {
  test.each<[string, [string, string][], Gates]>([
    ["for conditions that are not there", [], { state: "waiting", unmet: ["A", "B"] }],
    [
      "for conditions that are not True",
      [
        ["A", "Unknown"],
        ["B", "False"],
      ],
      { state: "waiting", unmet: ["A", "B"] },
    ],
    ["for those only that are missing", [["A", "True"]], { state: "waiting", unmet: ["B"] }],
    [
      "by the first of two conditions of one type",
      [
        ["A", "False"],
        ["A", "True"],
        ["B", "True"],
      ],
      { state: "waiting", unmet: ["A"] },
    ],
    [
      "for nothing where all are True, whatever else is said",
      [
        ["A", "True"],
        ["Other", "False"],
        ["B", "True"],
      ],
      { state: "met" },
    ],
  ])("%s", (_name, conditions, desired) => {
    expect(gatesOf(facts({ azureCluster: azureCluster(conditions) }))).toEqual(desired);
  });
});

describe("there is nothing to wait for", () => {
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  const another = { apiVersion: "example.com/v1", kind: "Fleet", name: "wc", uid: "u" };
  const initialization = { controlPlaneInitialized: true };
  test.each<[string, Partial<GateFacts>]>([
    ["without gates", { desired: [] }],
    ["where the management cluster is public", { management: azureCluster([], "Public", "mc") }],
    [
      "where the management cluster has no load balancer",
      {
        management: {
          ...azureCluster([], "", "mc"),
          spec: { location: "x", networkSpec: { apiServerLB: null } },
        } as unknown as AzureCluster,
      },
    ],
    ["once it has answered", { controlPlane: controlPlane({ status: { initialization } }) }],
    [
      "while it is being deleted",
      {
        controlPlane: metadata({
          deletionTimestamp,
          ownerReferences: [{ ...owner, controller: true }],
        }),
      },
    ],
    ["without an owner", { controlPlane: metadata({}), cluster: undefined }],
    [
      "with an owner that does not control it",
      { controlPlane: metadata({ ownerReferences: [owner] }), cluster: undefined },
    ],
    [
      "where its owner is of Cluster API and not a Cluster",
      {
        controlPlane: metadata({
          ownerReferences: [{ ...owner, kind: "MachinePool", controller: true }],
        }),
        cluster: undefined,
      },
    ],
    [
      "where its owner is a Cluster of somebody else's",
      {
        controlPlane: metadata({
          ownerReferences: [{ ...another, kind: "Cluster", controller: true }],
        }),
        cluster: undefined,
      },
    ],
    [
      "where its owner is not a Cluster",
      {
        controlPlane: metadata({ ownerReferences: [{ ...another, controller: true }] }),
        cluster: undefined,
      },
    ],
    [
      "where its Cluster has no infrastructure",
      { cluster: cluster({ infrastructureRef: undefined }) },
    ],
    [
      "where its infrastructure is not of Azure",
      { cluster: cluster({ infrastructureRef: { kind: "VSphereCluster", name: "wc" } }) },
    ],
    ["for the management cluster itself", { azureCluster: azureCluster([], "Internal", "mc") }],
  ])("%s", (_name, over) => {
    expect(gatesOf(facts(over)).state).toBe("off");
  });
});

describe("nothing is decided", () => {
  test.each<[string, Partial<GateFacts>]>([
    ["while the Cluster is paused", { cluster: cluster({ paused: true }) }],
    ["while there is no management cluster", { management: undefined }],
    ["before the Cluster is there", { cluster: undefined }],
    ["before the AzureCluster is there", { azureCluster: undefined }],
  ])("%s", (_name, over) => {
    expect(gatesOf(facts(over))).toEqual({ state: "unknown" });
  });
});

describe("the pause", () => {
  const waiting: Gates = { state: "waiting", unmet: ["A", "B"] };
  const met: Gates = { state: "met" };
  const off: Gates = { state: "off", why: "no" };
  const nobody: Pause = { by: "nobody" };
  const ownPause: Pause = { by: "us", note: "A,B" };
  const another: Pause = { by: "another" };
  test.each<[string, Gates, Pause, string[], string[]]>([
    ["is put on while a gate is not met", waiting, nobody, ["pause control plane"], []],
    ["is left alone when it is on", waiting, ownPause, [], []],
    [
      "gets a new note when it waits for less",
      waiting,
      { by: "us", note: "A,B,C" },
      ["pause control plane"],
      [],
    ],
    ["of another is enough", waiting, another, [], []],
    ["goes when every gate is met", met, ownPause, ["resume control plane"], []],
    ["of another stays, and that is told", met, another, [], [reasons.pausedByAnother]],
    ["is not put on when every gate is met", met, nobody, [], []],
    ["goes when there is nothing to wait for", off, ownPause, ["resume control plane"], []],
    ["of another stays when there is nothing to wait for", off, another, [], []],
    ["is left as it is while nothing can be decided", { state: "unknown" }, ownPause, [], []],
  ])("%s", (_name, gates, pause, steps, events) => {
    const planned = plan({ controlPlane: controlPlane(), gates, pause });
    expect(planned.steps.map((step) => step.do)).toEqual(steps);
    expect((planned.events ?? []).map(({ reason }) => reason)).toEqual(events);
  });
});

test("who has set an annotation is read from the managed fields", () => {
  const fields = (annotation: string) => ({
    "f:metadata": { "f:annotations": { ".": {}, [`f:${annotation}`]: {} } },
  });
  const managed = [
    { manager: "manager", operation: "Update", fieldsV1: fields(annotations.paused) },
    { manager: "kubectl-annotate", operation: "Update", fieldsV1: fields("other") },
    { manager: "helm", operation: "Apply", fieldsV1: { "f:spec": {} } },
  ];
  expect(writersOf(managed, annotations.paused)).toEqual(["manager"]);
  expect(writersOf(undefined, annotations.paused)).toEqual([]);
});
