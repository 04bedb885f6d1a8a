import { openPolicy } from "@postern/core/tenant-policy.ts";
import {
  conditions,
  controlPlaneFinalizer,
  endpointFinalizer,
  hostedClusterFinalizer,
  linkFinalizer,
} from "postern/hosted/names.ts";
import { servicesFeature } from "postern/hosted/services/feature.ts";
import { topologyFeature } from "postern/hosted/topology/feature.ts";
import { expect, test } from "vitest";
import { type ClusterShape, hostedClusterObject, route } from "./objects.ts";
import { describeHosted, type HostedWorld, type Thing } from "./world.ts";

const features = () => [topologyFeature({ policy: openPolicy }), servicesFeature()];
const crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** A cluster of a name that no other test uses: namespaces do not go on an API server alone. */
let count = 0;
async function clusterIn(world: HostedWorld, shape: ClusterShape = {}) {
  const name = `c${++count}`;
  await world.cluster.request("POST", "/api/v1/namespaces", { metadata: { name: "clusters" } });
  const cluster = await world.make(hostedClusterObject("clusters", name, shape));
  await world.settled();
  return { cluster, name, namespace: `clusters-${name}` };
}

async function names(world: HostedWorld, kind: string, namespace: string): Promise<string[]> {
  return (await world.list(kind, namespace)).map(({ metadata }) => metadata.name).sort();
}

async function read(world: HostedWorld, thing: Thing): Promise<Thing> {
  const { namespace, name } = thing.metadata;
  const found = await world.get(thing.kind, namespace, name);
  if (!found) throw new Error(`${thing.kind} ${name} is gone`);
  return { ...found, kind: thing.kind };
}

/** What the cloud does: every Service that asks for a load balancer gets an address. */
async function giveAddresses(world: HostedWorld, namespace: string): Promise<void> {
  for (const service of await world.list("Service", namespace))
    if (service.spec.type === "LoadBalancer")
      await world.patch(
        service,
        { status: { loadBalancer: { ingress: [{ ip: "10.0.0.9" }] } } },
        "status",
      );
  await world.settled();
}

/** What link and endpoint do: say how it stands, for the generation that there is. */
async function say(world: HostedWorld, link: Thing, status: string, reason: string) {
  const { generation } = await read(world, link).then(({ metadata }) => metadata);
  const list = Object.values(conditions).map((type) => ({
    type,
    status,
    reason,
    message: `it is ${status}`,
    observedGeneration: generation,
    lastTransitionTime: "2026-01-01T00:00:00Z",
  }));
  await world.patch(link, { status: { conditions: list } }, "status");
  await world.settled();
}

describeHosted("the topology of a cluster without HyperShift", (start) => {
  test("one object starts the whole chain, up to its link object", async () => {
    const world = await start({ features });
    const annotations = { "postern.io/private-dns": "none" };
    const { cluster, name, namespace } = await clusterIn(world, { annotations });
    const plane = await world.get("HostedControlPlane", namespace, name);
    expect(plane?.spec).toEqual(cluster.spec);
    expect(plane?.metadata.annotations).toEqual({
      ...annotations,
      "hypershift.openshift.io/cluster": `clusters/${name}`,
    });
    expect(await names(world, "Service", namespace)).toEqual([
      "kube-apiserver",
      "oauth-openshift",
      "private-router",
    ]);
    expect(await names(world, "Route", namespace)).toEqual([
      "ignition-server",
      "konnectivity-server",
      "kube-apiserver-internal",
      "kube-apiserver-private",
      "oauth-internal",
      "oauth-private",
    ]);
    const seen = await read(world, cluster);
    expect(seen.metadata.finalizers).toEqual([hostedClusterFinalizer]);
    expect(world.condition(seen, "TopologyApplied")).toBe("True AzureSuccess");

    await giveAddresses(world, namespace);
    expect(await names(world, "AzurePrivateLinkService", namespace)).toEqual(["private-router"]);
    for (const each of [cluster, await world.get("HostedControlPlane", namespace, name)])
      expect((await read(world, each as Thing)).status).toMatchObject({
        controlPlaneEndpoint: { host: expect.stringMatching(/^api-/), port: 443 },
      });
    await world.mark();
    await world.advance(10 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);
  });

  test("a cluster without numbers gets them before its control plane is made", async () => {
    const world = await start({ features, stopped: true });
    await world.cluster.request("POST", "/api/v1/namespaces", { metadata: { name: "clusters" } });
    const object = hostedClusterObject("clusters", "unnumbered");
    const { clusterID: _, infraID: __, ...spec } = object.spec;
    const cluster = await world.make({ ...object, spec } as typeof object);
    await world.start();
    await world.settled();
    const { spec: filled } = await read(world, cluster);
    expect(filled.clusterID).toMatch(/^[0-9a-f-]{36}$/);
    expect(filled.infraID).toMatch(/^unnumbered-/);
    const plane = await world.get("HostedControlPlane", "clusters-unnumbered", "unnumbered");
    expect(plane?.spec).toMatchObject({ clusterID: filled.clusterID, infraID: filled.infraID });
  });

  test("an allow-list, a pause and its end reach the control plane at once, without an event of a Service", async () => {
    const world = await start({ features });
    const { cluster, name, namespace } = await clusterIn(world);
    const friend = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
    const privateLink = { additionalAllowedSubscriptions: [friend] };
    const platform = { azure: { private: { privateLink } } };
    await world.patch(cluster, { spec: { pausedUntil: "true", platform } });
    await world.settled();
    const planeSpec = async () =>
      JSON.stringify((await world.get("HostedControlPlane", namespace, name))?.spec);
    expect(await planeSpec()).not.toContain(friend);
    await world.patch(cluster, { spec: { pausedUntil: null } });
    await world.settled();
    expect(await planeSpec()).toContain(friend);
    expect(await planeSpec()).not.toContain("pausedUntil");
  });

  test("what somebody deletes or changes comes back", async () => {
    const world = await start({ features });
    const { namespace } = await clusterIn(world);
    const [router] = (await world.list("Service", namespace)).filter(
      ({ metadata }) => metadata.name === "private-router",
    );
    const [first] = await world.list("Route", namespace);
    if (!router || !first) throw new Error("something is missing");
    await world.patch(router, {
      metadata: { annotations: null },
      spec: { selector: { app: "mine" } },
    });
    await world.remove(first);
    await world.settled();
    expect(await read(world, router)).toMatchObject({
      metadata: {
        annotations: { "service.beta.kubernetes.io/azure-load-balancer-internal": "true" },
      },
      spec: { selector: { app: "private-router" } },
    });
    expect(await names(world, "Route", namespace)).toContain(first.metadata.name);
    await world.mark();
    await world.advance(10 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);
  });

  test("a change to Private waits for the link, and back waits for the public address", async () => {
    const world = await start({ features });
    const { cluster, namespace } = await clusterIn(world, { topology: "PublicAndPrivate" });
    const turn = async (topology: string) => {
      await world.patch(cluster, { spec: { platform: { azure: { topology } } } });
      await world.settled();
    };
    await giveAddresses(world, namespace);
    await turn("Private");
    expect(world.condition(await read(world, cluster), "TopologyApplied")).toBe(
      "False WaitingForPrivateLink",
    );
    expect(await names(world, "Service", namespace)).toContain("router");

    const [link] = await world.list("AzurePrivateLinkService", namespace);
    if (!link) throw new Error("there is no link");
    await say(world, link, "True", "AzureSuccess");
    expect(await names(world, "Service", namespace)).not.toContain("router");
    expect(await names(world, "Route", namespace)).not.toContain("kube-apiserver");
    expect(world.condition(await read(world, cluster), "TopologyApplied")).toBe(
      "True AzureSuccess",
    );

    await turn("PublicAndPrivate");
    expect(await names(world, "Route", namespace)).toContain("kube-apiserver-private");
    await giveAddresses(world, namespace);
    expect(await names(world, "Route", namespace)).not.toContain("kube-apiserver-private");
    expect(await names(world, "Service", namespace)).toContain("router");
    expect(world.condition(await read(world, cluster), "TopologyApplied")).toBe(
      "True AzureSuccess",
    );
  });

  test("a deletion ends the whole chain, in its order, and leaves nothing of ours", async () => {
    const world = await start({ features });
    const { cluster, name, namespace } = await clusterIn(world);
    await giveAddresses(world, namespace);
    const [link] = await world.list("AzurePrivateLinkService", namespace);
    if (!link) throw new Error("there is no link");
    await world.patch(link, { metadata: { finalizers: [linkFinalizer, endpointFinalizer] } });
    await world.remove(cluster);
    await world.settled();
    const going = await read(world, link);
    expect(going.metadata.deletionTimestamp).toBeDefined();
    const plane = await world.get("HostedControlPlane", namespace, name);
    expect(plane?.metadata.finalizers).toEqual([controlPlaneFinalizer]);
    expect(world.condition(await read(world, cluster), "TopologyApplied")).toBe("False Deleting");

    await world.patch(link, { metadata: { finalizers: [linkFinalizer] } });
    await world.settled();
    expect(await world.get("HostedControlPlane", namespace, name)).toBeUndefined();
    expect(await names(world, "AzurePrivateLinkService", namespace)).toEqual([link.metadata.name]);
    expect(await world.get("HostedCluster", "clusters", name)).toBeDefined();

    await world.patch(link, { metadata: { finalizers: null } });
    await world.settled();
    expect(await world.get("HostedCluster", "clusters", name)).toBeUndefined();
    for (const kind of ["AzurePrivateLinkService", "Service", "Route"])
      expect(await names(world, kind, namespace)).toEqual([]);
    const left = await world.get("Namespace", "", namespace);
    expect(left === undefined || left.metadata.deletionTimestamp !== undefined).toBe(true);
  });

  test("a control plane that somebody deletes is recreated, with its link", async () => {
    const world = await start({ features });
    const { name, namespace } = await clusterIn(world);
    await giveAddresses(world, namespace);
    const first = await world.get("HostedControlPlane", namespace, name);
    if (!first) throw new Error("there is no control plane");
    await world.remove({ ...first, kind: "HostedControlPlane" });
    await world.settled();
    const second = await world.get("HostedControlPlane", namespace, name);
    expect(second?.metadata.uid).not.toBe(first.metadata.uid);
    // Where a garbage collector runs, the Services go with their owner and come back without addresses.
    await giveAddresses(world, namespace);
    const [link] = await world.list("AzurePrivateLinkService", namespace);
    const [router] = await world.list("Service", namespace);
    for (const thing of [link, router])
      expect(thing?.metadata.ownerReferences).toMatchObject([{ uid: second?.metadata.uid }]);
  });

  test("a controller that is started again in the middle of a deletion ends it", async () => {
    const world = await start({ features });
    const { cluster, name, namespace } = await clusterIn(world);
    await giveAddresses(world, namespace);
    const [link] = await world.list("AzurePrivateLinkService", namespace);
    if (!link) throw new Error("there is no link");
    await world.patch(link, { metadata: { finalizers: [linkFinalizer] } });
    await world.remove(cluster);
    await world.settled();
    await world.stop();
    await world.patch(link, { metadata: { finalizers: null } });
    await world.start();
    await world.settled();
    expect(await world.get("HostedCluster", "clusters", name)).toBeUndefined();
  });

  test("ranges that are none are reported by a condition, and nothing is tried in a hot loop", async () => {
    const world = await start({ features, stopped: true });
    await world.cluster.request("POST", "/api/v1/namespaces", { metadata: { name: "clusters" } });
    const object = hostedClusterObject("clusters", "ranges", { topology: "Public" });
    Object.assign(object.spec, { networking: { apiServer: { allowedCIDRBlocks: ["nonsense"] } } });
    const cluster = await world.make(object);
    await world.start();
    await world.settled();
    await world.mark();
    await world.advance(10 * 60_000);
    const seen = await read(world, cluster);
    expect(world.condition(seen, "TopologyApplied")).toBe("False Invalid");
    expect(await names(world, "Service", "clusters-ranges")).toContain("kube-apiserver");
    expect((await world.kubeWrites()).length).toBeLessThanOrEqual(6);
  });
});

describeHosted("the conditions of a cluster that HyperShift looks after", (start) => {
  /** HyperShift's own definition does not carry our mark. */
  async function labelStandIn(world: HostedWorld, value: string | null) {
    await world.cluster.request(
      "PATCH",
      `${crd}/hostedclusters.hypershift.openshift.io`,
      { metadata: { labels: { "postern.io/stand-in": value } } },
      { contentType: "application/merge-patch+json" },
    );
  }

  test("are collected from its links, and nothing else is written", async () => {
    const world = await start({ features, stopped: true });
    await labelStandIn(world, null);
    await world.start();
    const { cluster, namespace } = await world.hostedCluster("one");
    await world.settled();
    const [link] = await world.list("AzurePrivateLinkService", namespace);
    if (!link) throw new Error("there is no link");
    await say(world, link, "False", "PLSCreationFailed");
    const bad = await read(world, cluster);
    expect(bad.metadata.finalizers ?? []).toEqual([]);
    expect(bad.status?.conditions).toHaveLength(5);
    expect(bad.status?.conditions?.[0]).toMatchObject({
      status: "False",
      reason: "PLSCreationFailed",
      message: "It is False.",
      observedGeneration: 1,
    });
    await say(world, link, "True", "AzureSuccess");
    expect(world.condition(await read(world, cluster), conditions.available)).toBe(
      "True AzureSuccess",
    );
    expect(await names(world, "Service", namespace)).toEqual(["private-router"]);
    await world.mark();
    await world.advance(10 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);
  });

  test("never take away what another wrote, and go with the last link", async () => {
    const world = await start({ features, stopped: true });
    await labelStandIn(world, null);
    await world.start();
    const { cluster, namespace, service } = await world.hostedCluster("one");
    await world.settled();
    const [link] = await world.list("AzurePrivateLinkService", namespace);
    if (!link) throw new Error("there is no link");
    const theirs = {
      type: "Available",
      status: "True",
      reason: "AsExpected",
      message: "HyperShift says so",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    await world.patch(cluster, { status: { conditions: [theirs] } }, "status");
    await say(world, link, "True", "AzureSuccess");
    expect((await read(world, cluster)).status?.conditions).toHaveLength(6);
    await world.remove(service);
    await world.settled();
    await world.remove(link);
    await world.settled();
    expect((await read(world, cluster)).status?.conditions).toMatchObject([{ type: "Available" }]);
  });

  test("where HyperShift goes away the chain is ours from then on", async () => {
    const world = await start({ features, stopped: true });
    await labelStandIn(world, null);
    await world.start();
    const services = [route("APIServer"), route("OAuthServer")];
    const { name, namespace } = await clusterIn(world, { services });
    expect(await world.get("HostedControlPlane", namespace, name)).toBeUndefined();
    await labelStandIn(world, "true");
    await expect
      .poll(async () => {
        await world.settled();
        return world.get("HostedControlPlane", namespace, name);
      })
      .toBeDefined();
  });
});
