import { annotations } from "postern/cluster-api/names.ts";
import { pausingFeature } from "postern/cluster-api/pausing/feature.ts";
import { expect, test } from "vitest";
import { testOnReal } from "../../setup/differences.ts";
import { describeHosted, type HostedWorld, type Thing } from "../hosted/world.ts";
import {
  azureClusterObject,
  clusterObject,
  conditionsOf,
  controlPlaneObject,
  management,
  namespaces,
} from "./objects.ts";

const gates = ["GSPrivateLinksReady", "GSDNSZoneReady"];

describeHosted("the pause of control planes", (startWorld) => {
  async function start(given: { gates?: string[]; type?: string } = {}) {
    const world = await startWorld({
      features: () => [
        pausingFeature({ managementCluster: management, gates: given.gates ?? gates }),
      ],
    });
    await namespaces(world, "org-mc", "org");
    const networkSpec = { apiServerLB: { type: given.type ?? "Internal" } };
    await world.make(azureClusterObject("org-mc", "mc", { networkSpec }));
    return world;
  }

  /** A workload cluster whose control plane is about to be built. */
  async function workload(world: HostedWorld, name = "wc", spec: object = {}) {
    const cluster = await world.make(clusterObject("org", name, spec));
    const azure = await world.make(azureClusterObject("org", name));
    const controlPlane = await world.make(controlPlaneObject(cluster));
    await world.settled();
    return { cluster, azure, controlPlane };
  }

  const now = async (world: HostedWorld, name = "wc") =>
    (await world.get("KubeadmControlPlane", "org", name))?.metadata.annotations ?? {};
  const paused = async (world: HostedWorld, name?: string) =>
    (await now(world, name))[annotations.paused];
  const ready = (world: HostedWorld, azure: Thing, ...types: string[]) =>
    world.patch(
      azure,
      conditionsOf(Object.fromEntries(types.map((type) => [type, "True"]))),
      "status",
    );
  const reported = async (world: HostedWorld) =>
    (await world.list("Event", "org")).map(
      (event) => (event as unknown as { reason: string }).reason,
    );

  test("is put on until every gate is met, says what is waited for, and goes then", async () => {
    const world = await start();
    const { azure } = await workload(world);
    expect(await now(world)).toMatchObject({
      "cluster.x-k8s.io/paused": "true",
      "postern.io/paused-for": "GSPrivateLinksReady,GSDNSZoneReady",
    });
    await ready(world, azure, "GSPrivateLinksReady");
    await world.settled();
    expect(await now(world)).toMatchObject({
      "cluster.x-k8s.io/paused": "true",
      "postern.io/paused-for": "GSDNSZoneReady",
    });
    await ready(world, azure, ...gates);
    await world.settled();
    expect(await now(world)).toEqual({});
    await world.advance(5_000);
    expect(await reported(world)).toEqual(expect.arrayContaining(["Paused", "Resumed"]));
  });

  test("writes nothing at rest", async () => {
    const world = await start();
    await workload(world);
    await world.mark();
    await world.advance(30 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);
  });

  test.each([
    ["without gates", { gates: [] }],
    ["where the management cluster is public", { type: "Public" }],
  ])("is not put on %s", async (_name, given) => {
    const world = await start(given);
    await workload(world);
    expect(await paused(world)).toBeUndefined();
  });

  test("of a person stays when every gate is met, and that is reported", async () => {
    const world = await start();
    const cluster = await world.make(clusterObject("org", "wc"));
    const azure = await world.make(azureClusterObject("org", "wc"));
    await ready(world, azure, ...gates);
    await world.make(controlPlaneObject(cluster, { annotations: { [annotations.paused]: "" } }));
    await world.settled();
    expect(await paused(world)).toBe("");
    await world.advance(5_000);
    expect(await reported(world)).toContain("PausedByAnother");
  });

  test("that the operator before us left goes when every gate is met", async () => {
    const world = await start();
    const cluster = await world.make(clusterObject("org", "wc"));
    const azure = await world.make(azureClusterObject("org", "wc"));
    await world.make(controlPlaneObject(cluster));
    await world.stop();
    const controlPlane = await world.get("KubeadmControlPlane", "org", "wc");
    const path = `/apis/controlplane.cluster.x-k8s.io/v1beta2/namespaces/org/kubeadmcontrolplanes/wc`;
    const before = { [annotations.paused]: null, [annotations.pausedFor]: null };
    await world.patch(controlPlane as Thing, { metadata: { annotations: before } });
    const theirs = { metadata: { annotations: { [annotations.paused]: "true" } } };
    await world.cluster.request("PATCH", `${path}?fieldManager=manager`, theirs, {
      contentType: "application/merge-patch+json",
    });
    await ready(world, azure, ...gates);
    await world.start();
    await world.settled();
    expect(await paused(world)).toBeUndefined();
  });

  test("goes when the control plane is to be deleted, which it would hold up for ever", async () => {
    const world = await start();
    const { controlPlane } = await workload(world);
    const finalizers = ["kubeadm.controlplane.cluster.x-k8s.io"];
    await world.patch(controlPlane, { metadata: { finalizers } });
    await world.settled();
    expect(await paused(world)).toBe("true");
    await world.remove(controlPlane);
    await world.settled();
    expect(await paused(world)).toBeUndefined();
  });

  test("stays as it is while the Cluster is paused", async () => {
    const world = await start();
    const { azure, cluster } = await workload(world);
    await world.patch(cluster, { spec: { paused: true } });
    await ready(world, azure, ...gates);
    await world.settled();
    expect(await paused(world)).toBe("true");
    await world.patch(cluster, { spec: { paused: false } });
    await world.settled();
    expect(await paused(world)).toBeUndefined();
  });

  test("is not put on what has no Cluster for an owner, and the others are not held up", async () => {
    const world = await start();
    const owner = {
      apiVersion: "example.com/v1",
      kind: "Fleet",
      name: "f",
      uid: "u",
      controller: true,
    };
    const bare = { metadata: { namespace: "org", name: "x", uid: "u" } } as Thing;
    await world.make(controlPlaneObject(bare, { ownerReferences: [owner] }));
    await world.make(
      controlPlaneObject({ metadata: { ...bare.metadata, name: "y" } } as Thing, {
        ownerReferences: [],
      }),
    );
    await world.make(azureClusterObject("org", "alone"));
    await workload(world);
    expect(await paused(world, "x")).toBeUndefined();
    expect(await paused(world, "y")).toBeUndefined();
    expect(await paused(world)).toBe("true");
  });

  testOnReal("no-admission", "is tried again when the API server refuses it", async () => {
    const world = await start();
    const policy = await refuseAnnotations(world);
    await workload(world);
    expect(await paused(world)).toBeUndefined();
    await policy.remove();
    await world.until("it is paused", async () => (await paused(world)) === "true", 10);
  });
});

/** Have the API server refuse every pause, as a policy of the cluster can. */
async function refuseAnnotations(world: HostedWorld) {
  const base = "/apis/admissionregistration.k8s.io/v1";
  const name = "no-pause";
  const rule = {
    apiGroups: ["controlplane.cluster.x-k8s.io"],
    apiVersions: ["*"],
    operations: ["UPDATE"],
    resources: ["kubeadmcontrolplanes"],
  };
  await world.cluster.request("POST", `${base}/validatingadmissionpolicies`, {
    metadata: { name },
    spec: {
      failurePolicy: "Fail",
      matchConstraints: { resourceRules: [rule] },
      validations: [
        {
          expression:
            "!has(object.metadata.annotations) || !('cluster.x-k8s.io/paused' in object.metadata.annotations)",
          message: "not today",
        },
      ],
    },
  });
  await world.cluster.request("POST", `${base}/validatingadmissionpolicybindings`, {
    metadata: { name },
    spec: { policyName: name, validationActions: ["Deny"] },
  });
  // The API server takes a moment until a policy counts.
  const probe = "/apis/controlplane.cluster.x-k8s.io/v1beta2/namespaces/org/kubeadmcontrolplanes";
  await world.make({
    apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
    kind: "KubeadmControlPlane",
    metadata: { namespace: "org", name: "probe" },
    spec: {},
  } as Parameters<typeof world.make>[0]);
  const counts = (desired: number) =>
    expect
      .poll(
        async () =>
          (
            await world.cluster.request(
              "PATCH",
              `${probe}/probe?dryRun=All`,
              { metadata: { annotations: { [annotations.paused]: "true" } } },
              { contentType: "application/merge-patch+json" },
            )
          ).status,
        { timeout: 20_000, interval: 50 },
      )
      .toBe(desired);
  await counts(422);
  return {
    async remove() {
      await world.cluster.request("DELETE", `${base}/validatingadmissionpolicybindings/${name}`);
      await world.cluster.request("DELETE", `${base}/validatingadmissionpolicies/${name}`);
      await counts(200);
    },
  };
}
