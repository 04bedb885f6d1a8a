import { expect, test } from "vitest";
import { guestSubscription, managementSubscription } from "../hosted/azure.ts";
import { describeHosted, type HostedWorld, type Thing } from "../hosted/world.ts";
import {
  addressesOn,
  apiName,
  endpointsIn,
  getManagement,
  groupOf,
  inAzure,
  makeManagement,
  makeWorkload,
  managementGroup,
  namesIn,
  network,
  readiness,
  runCapz,
  say,
  startEndpoints,
} from "./endpoints-world.ts";
import { clusterObject } from "./objects.ts";

const isIp = expect.stringMatching(/^10\.0\./);
const apiId = (name: string) => `${managementGroup}/${network}/privateEndpoints/${apiName(name)}`;
const serviceOf = (name: string) =>
  `${groupOf(name)}/${network}/privateLinkServices/${name}-api-privatelink`;

describeHosted("endpoints between management and workload clusters", (startWorld) => {
  const now = (world: HostedWorld, name: string, namespace = "org") =>
    world.get("AzureCluster", namespace, name);

  /** A private workload cluster of a private management cluster, connected both ways. */
  async function connected(world: HostedWorld, name = "wc1"): Promise<Thing> {
    const made = await makeWorkload(world, name);
    await world.settled();
    await world.advance(5_000);
    await runCapz(world);
    await world.advance(61_000);
    return made;
  }

  test("a private cluster is born, is connected both ways, and goes", async () => {
    const world = await startEndpoints(startWorld);
    await makeManagement(world);
    const made = await makeWorkload(world, "wc1", { ready: false });
    await say(world, made, "NetworkInfrastructureReady", "True");
    await world.advance(10_000);
    expect(await namesIn(world)).toEqual([]);
    expect(readiness(await now(world, "wc1"))).toEqual(["False PrivateLinksNotReady"]);

    await say(world, made, "PrivateLinksReady", "True");
    await world.advance(10_000);
    expect(await namesIn(world)).toEqual([apiName("wc1")]);
    expect(endpointsIn(await now(world, "wc1"))).toMatchObject([
      { name: "wc1-to-mc-gateway-privateendpoint", location: "westeurope" },
    ]);
    expect(readiness(await now(world, "wc1"))).toEqual(["False PrivateEndpointNotFound"]);

    await runCapz(world);
    await world.advance(61_000);
    const ready = await now(world, "wc1");
    expect(readiness(ready)).toEqual(["True Connected"]);
    expect(addressesOn(ready)).toEqual([isIp, isIp]);
    // Nobody else's condition is lost, although the list is one value.
    expect(world.condition(ready, "NetworkInfrastructureReady")).toMatch(/^True/);
    expect(ready?.metadata.finalizers).toEqual([
      "azure-private-endpoint-operator.giantswarm.io/azurecluster",
    ]);

    await world.remove(made);
    await world.advance(10_000);
    expect(await namesIn(world)).toEqual([]);
    expect(await now(world, "wc1")).toBeDefined();
    expect(world.azure.at(apiId("wc1"))).toBeDefined();
    await world.advance(3 * 60_000);
    expect(world.azure.at(apiId("wc1"))).toBeUndefined();
    expect(await now(world, "wc1")).toBeUndefined();
  });

  test("an endpoint that a CAPZ deletes by itself is waited for and not deleted twice", async () => {
    const world = await startEndpoints(startWorld);
    await makeManagement(world);
    const made = await connected(world);
    await world.remove(made);
    await world.advance(10_000);
    await runCapz(world, { deletes: true });
    await world.mark();
    await world.advance(61_000);
    expect(await now(world, "wc1")).toBeUndefined();
    expect(world.armRequests().filter(({ method }) => method !== "GET")).toEqual([]);
  });

  test("an address is withdrawn when the connection is rejected, and comes back with another endpoint", async () => {
    const world = await startEndpoints(startWorld);
    await makeManagement(world);
    await connected(world);
    const [connection = ""] = world.azure.ids(`${serviceOf("wc1")}/privateEndpointConnections/`);
    const rejected = { status: "Rejected", description: "by a test" };
    world.azure.simulator.change(connection, {
      properties: { privateLinkServiceConnectionState: rejected },
    });
    await world.advance(9 * 60_000);
    expect(addressesOn(await now(world, "wc1"))).toEqual([undefined, isIp]);
    expect(readiness(await now(world, "wc1"))).toEqual(["False PrivateEndpointNotApproved"]);
    world.azure.simulator.drop(`${managementGroup}/${network}/privateEndpoints/${apiName("wc1")}`);
    await runCapz(world);
    await world.advance(2 * 60_000);
    expect(addressesOn(await now(world, "wc1"))).toEqual([isIp, isIp]);
    expect(readiness(await now(world, "wc1"))).toEqual(["True Connected"]);
  });

  test("links that can no longer be read leave a connected cluster as it is, until they can", async () => {
    const world = await startEndpoints(startWorld);
    await makeManagement(world, { type: "Public" });
    const link = { name: "wc1-api-privatelink", allowedSubscriptions: [managementSubscription] };
    const annotated = (text: string) => ({ annotations: { "postern.io/private-links": text } });
    const readable = annotated(
      JSON.stringify([{ ...link, autoApprovedSubscriptions: link.allowedSubscriptions }]),
    );
    const made = await makeWorkload(world, "wc1", { links: false, metadata: readable });
    await world.advance(10_000);
    await runCapz(world);
    await world.advance(61_000);
    expect(addressesOn(await now(world, "wc1"))).toEqual([isIp, undefined]);

    await world.patch(made, { metadata: annotated("[{") });
    await world.advance(10 * 60_000);
    expect(readiness(await now(world, "wc1"))).toEqual(["False InvalidPrivateLinks"]);
    expect(await namesIn(world)).toEqual([apiName("wc1")]);
    expect(addressesOn(await now(world, "wc1"))).toEqual([isIp, undefined]);

    await world.patch(made, { metadata: readable });
    await world.advance(10_000);
    expect(readiness(await now(world, "wc1"))).toEqual(["True Connected"]);
  });

  test("somebody must approve: the API server takes the request, and nothing is published before", async () => {
    const world = await startEndpoints(startWorld);
    await makeManagement(world, { type: "Public" });
    await makeWorkload(world, "wc1", { approved: [] });
    await world.advance(10_000);
    const [made] = endpointsIn(await getManagement(world));
    expect(made?.manualApproval).toBe(true);
    expect(made?.privateLinkServiceConnections[0]?.requestMessage?.length).toBeLessThanOrEqual(140);
    await runCapz(world);
    await world.advance(61_000);
    expect(addressesOn(await now(world, "wc1"))).toEqual([undefined, undefined]);
    expect(readiness(await now(world, "wc1"))).toEqual(["False PrivateEndpointNotApproved"]);
  });

  test("a condition that the operator before us left False, or twice, is there once and True", async () => {
    const world = await startEndpoints(startWorld, {}, { stopped: true });
    await makeManagement(world);
    const made = await makeWorkload(world, "wc1");
    const lastTransitionTime = "2026-01-01T00:00:00Z";
    const condition = (status: string, type = "GSPrivateLinksReady") => ({
      type,
      status,
      lastTransitionTime,
    });
    const conditions = [
      condition("False"),
      condition("True", "PrivateLinksReady"),
      condition("True"),
    ];
    await world.patch(made, { status: { conditions } }, "status");
    await world.start();
    await world.advance(10_000);
    await runCapz(world);
    await world.advance(61_000);
    expect(readiness(await now(world, "wc1"))).toEqual(["True Connected"]);
    expect(world.condition(await now(world, "wc1"), "PrivateLinksReady")).toMatch(/^True/);
  });

  test("endpoints that the operator before us wrote are taken over, and go", async () => {
    const world = await startEndpoints(startWorld, {}, { stopped: true });
    const service = serviceOf("wc1");
    const connection = { name: "wc1-api-privatelink-connection", privateLinkServiceID: service };
    const old = (name: string, privateLinkServiceID = service) => ({
      name,
      location: "westeurope",
      privateLinkServiceConnections: [{ ...connection, privateLinkServiceID }],
    });
    inAzure(world, groupOf("data"), "x", [managementSubscription]);
    const theirs = old("theirs", `${groupOf("data")}/${network}/privateLinkServices/x`);
    await makeManagement(world, { endpoints: [old(apiName("wc1")), theirs] });
    const made = await makeWorkload(world, "wc1");
    await runCapz(world);
    await world.start();
    await world.advance(61_000);
    expect(addressesOn(await now(world, "wc1"))[0]).toEqual(isIp);
    expect(endpointsIn(await getManagement(world))).toEqual([old(apiName("wc1")), theirs]);
    await world.remove(made);
    await world.advance(5 * 60_000);
    expect(await now(world, "wc1")).toBeUndefined();
    expect(endpointsIn(await getManagement(world))).toEqual([theirs]);
    expect(world.azure.at(apiId("wc1"))).toBeUndefined();
  });

  test.each([
    ["names only its group", { links: false as const }],
    ["has a link of its name", {}],
    ["asks for approval by hand", { approved: [] }],
  ])(
    "attack: an AzureCluster that %s neither changes nor removes the endpoint that a person wrote",
    async (_name, shape) => {
      const world = await startEndpoints(startWorld, {}, { stopped: true });
      inAzure(world, groupOf("data"), "xxx-api-privatelink", [managementSubscription]);
      const privateLinkServiceID = serviceOf("xxx").replace("/xxx/", "/data/");
      const theirs = {
        name: apiName("xxx"),
        location: "westeurope",
        privateLinkServiceConnections: [{ name: "mine", privateLinkServiceID }],
      };
      await makeManagement(world, { endpoints: [theirs] });
      await world.start();
      const thief = await makeWorkload(world, "xxx", {
        namespace: "org-other",
        group: "data",
        inAzure: false,
        ...shape,
      });
      await world.advance(5 * 60_000);
      expect(endpointsIn(await getManagement(world))).toEqual([theirs]);
      await world.remove(thief);
      await world.advance(10 * 60_000);
      expect(await now(world, "xxx", "org-other")).toBeUndefined();
      expect(endpointsIn(await getManagement(world))).toEqual([theirs]);
    },
  );

  test("the older way to the management cluster goes when the new one is connected, with its address", async () => {
    const world = await startEndpoints(startWorld, {}, { stopped: true });
    await makeManagement(world);
    inAzure(world, managementGroup, "mc-ingress-privatelink", [guestSubscription]);
    const made = await makeWorkload(world, "wc1", { links: false });
    const services = `${managementGroup}/${network}/privateLinkServices`;
    const ingress = {
      name: "wc1-to-mc-privatelink-privateendpoint",
      location: "westeurope",
      privateLinkServiceConnections: [
        {
          name: "wc1-to-mc-connection",
          privateLinkServiceID: `${services}/mc-ingress-privatelink`,
        },
      ],
    };
    const subnets = [
      { name: "control-plane", role: "control-plane" },
      { name: "nodes", role: "node", privateEndpoints: [ingress] },
    ];
    await world.patch(made, { spec: { networkSpec: { subnets } } });
    await runCapz(world);
    await world.start();
    const names = async () => endpointsIn(await now(world, "wc1")).map(({ name }) => name);
    expect((await names()).sort()).toEqual([
      "wc1-to-mc-gateway-privateendpoint",
      "wc1-to-mc-privatelink-privateendpoint",
    ]);
    const address = async () => addressesOn(await now(world, "wc1"))[1];
    const older = await address();
    expect(older).toEqual(isIp);
    expect(readiness(await now(world, "wc1"))).toEqual(["False PrivateEndpointNotFound"]);

    await runCapz(world);
    const connections = `${services}/mc-gateway-privatelink/privateEndpointConnections/`;
    const [connection = ""] = world.azure.ids(connections);
    world.azure.simulator.change(connection, {
      properties: { privateLinkServiceConnectionState: { status: "Rejected", description: "no" } },
    });
    await world.advance(3 * 60_000);
    expect(readiness(await now(world, "wc1"))).toEqual(["False PrivateEndpointNotApproved"]);
    expect(await names()).toContain("wc1-to-mc-privatelink-privateendpoint");
    expect(await address()).toBe(older);

    const [refused = ""] = world.azure.ids("/privateendpoints/wc1-to-mc-gateway");
    world.azure.simulator.drop(refused);
    await runCapz(world);
    await world.advance(61_000);
    expect(await names()).toEqual(["wc1-to-mc-gateway-privateendpoint"]);
    expect(readiness(await now(world, "wc1"))).toEqual(["True Connected"]);
    expect(await address()).toEqual(isIp);
    expect(await address()).not.toBe(older);
  });

  test("endpoints that somebody edits by hand are put right, except for approval that was given and what is not ours", async () => {
    const world = await startEndpoints(startWorld);
    const mc = await makeManagement(world);
    await connected(world);
    const edited = async (thing: Thing) => {
      const { networkSpec } = (
        (await world.get("AzureCluster", thing.metadata.namespace, thing.metadata.name)) as Thing
      ).spec as { networkSpec: { subnets: { privateEndpoints?: object[] }[] } };
      for (const subnet of networkSpec.subnets)
        subnet.privateEndpoints &&= subnet.privateEndpoints.map((each) => ({
          ...each,
          manualApproval: true,
          location: "elsewhere",
          customNetworkInterfaceName: "nic",
        }));
      await world.patch(thing, { spec: { networkSpec } });
    };
    await edited(mc);
    await edited((await now(world, "wc1")) as Thing);
    await world.advance(10_000);
    for (const each of [await getManagement(world), await now(world, "wc1")])
      expect(endpointsIn(each)).toMatchObject([
        { manualApproval: true, location: "westeurope", customNetworkInterfaceName: "nic" },
      ]);
  });

  test("it ends the same when the operator is killed and started again at every stage", async () => {
    const world = await startEndpoints(startWorld);
    await makeManagement(world);
    const restarted = async () => {
      await world.stop();
      await world.start();
    };
    const made = await makeWorkload(world, "wc1");
    await restarted();
    await world.advance(6_000);
    await restarted();
    await runCapz(world);
    await restarted();
    await world.advance(61_000);
    expect(readiness(await now(world, "wc1"))).toEqual(["True Connected"]);
    await world.remove(made);
    await restarted();
    await world.advance(60_000);
    await restarted();
    // The two minutes of CAPZ do not begin again with the process.
    await world.advance(115_000);
    expect(world.azure.at(apiId("wc1"))).toBeUndefined();
    await restarted();
    await world.advance(60_000);
    expect(await now(world, "wc1")).toBeUndefined();
    expect(world.azure.at(apiId("wc1"))).toBeUndefined();
    expect(await namesIn(world)).toEqual([]);
  });

  test("a paused cluster is left alone until the pause ends", async () => {
    const world = await startEndpoints(startWorld);
    await makeManagement(world);
    const cluster = await world.make(clusterObject("org", "wc1", { paused: true }));
    const { uid } = cluster.metadata;
    const ownerReferences = [
      { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", name: "wc1", uid },
    ];
    await makeWorkload(world, "wc1", { metadata: { ownerReferences } });
    await world.advance(10_000);
    expect(await namesIn(world)).toEqual([]);
    expect((await now(world, "wc1"))?.metadata.finalizers).toBeUndefined();
    await world.patch({ ...cluster, kind: "Cluster" }, { spec: { paused: false } });
    await world.advance(10_000);
    expect(await namesIn(world)).toEqual([apiName("wc1")]);
  });

  test("the endpoint to a cluster that nobody knows any more stays, whatever else is written", async () => {
    const world = await startEndpoints(startWorld);
    await makeManagement(world);
    const made = await connected(world);
    await world.stop();
    await world.patch(made, { metadata: { finalizers: null } });
    await world.remove(made);
    await world.start();
    await makeWorkload(world, "wc2");
    await world.advance(10_000);
    expect((await namesIn(world)).sort()).toEqual([apiName("wc1"), apiName("wc2")]);
    await makeWorkload(world, "wc3");
    await world.advance(10_000);
    expect((await namesIn(world)).sort()).toEqual(["wc1", "wc2", "wc3"].map(apiName));
  });

  test("two clusters of one name: the first is connected, the second is told why it is not", async () => {
    const world = await startEndpoints(startWorld);
    await makeManagement(world);
    await connected(world);
    await makeWorkload(world, "wc1", { namespace: "org-other", inAzure: false, group: "other" });
    await world.advance(61_000);
    expect(readiness(await now(world, "wc1"))).toEqual(["True Connected"]);
    expect(readiness(await now(world, "wc1", "org-other"))).toEqual([
      "False PrivateEndpointNameTaken",
    ]);
    const reported = await world.list("Event", "org-other");
    expect(reported.map((each) => (each as unknown as { reason: string }).reason)).toContain(
      "PrivateEndpointNameTaken",
    );
  });

  test("an identity that is missing on one side holds up that side only", async () => {
    let broken = true;
    const world = await startEndpoints(startWorld, {
      viewsOf: ({ of }) => ({
        of: (cluster, reconcile) => {
          if (broken && cluster.spec.subscriptionID === managementSubscription) throw missing();
          return of(cluster, reconcile);
        },
      }),
    });
    await makeManagement(world);
    const made = await connected(world);
    expect(addressesOn(await now(world, "wc1"))).toEqual([undefined, isIp]);
    expect(readiness(await now(world, "wc1"))).toEqual(["False ClusterIdentityMissing"]);
    await world.remove(made);
    await world.advance(3 * 60_000);
    const reported = (await now(world, "wc1"))?.status?.conditions?.find(
      ({ type }) => type === "GSPrivateLinksReady",
    );
    expect(reported?.message).toContain("postern.io/abandon-endpoints");
    broken = false;
    await world.advance(4 * 60_000);
    expect(await now(world, "wc1")).toBeUndefined();
    expect(world.azure.at(apiId("wc1"))).toBeUndefined();
  });

  test("a public cluster goes although the management side cannot be asked", async () => {
    const world = await startEndpoints(startWorld, {
      viewsOf: ({ of }) => ({
        of: (cluster, reconcile) => {
          if (cluster.spec.subscriptionID === managementSubscription) throw missing();
          return of(cluster, reconcile);
        },
      }),
    });
    await makeManagement(world);
    const made = await makeWorkload(world, "wc1", { type: "Public" });
    await world.advance(10_000);
    expect((await now(world, "wc1"))?.metadata.finalizers).toHaveLength(1);
    await world.remove(made);
    await world.advance(60_000);
    expect(await now(world, "wc1")).toBeUndefined();
  });

  test("a deletion without a management cluster ends by the annotation that its message names", async () => {
    const world = await startEndpoints(startWorld);
    const mc = await makeManagement(world);
    const made = await connected(world);
    await world.remove(mc);
    await world.remove(made);
    await world.advance(2 * 60_000);
    expect(readiness(await now(world, "wc1"))).toEqual(["False ManagementClusterNotFound"]);
    const annotations = { "postern.io/abandon-endpoints": "true" };
    await world.patch(made, { metadata: { annotations } });
    await world.advance(10_000);
    expect(await now(world, "wc1")).toBeUndefined();
  });

  test("clusters whose subscription is not admitted say so, and the others go on", async () => {
    const world = await startEndpoints(startWorld);
    await makeManagement(world);
    await makeWorkload(world, "wc2", { allowed: [guestSubscription] });
    await connected(world);
    expect(readiness(await now(world, "wc1"))).toEqual(["True Connected"]);
    expect(readiness(await now(world, "wc2"))).toEqual([
      "False SubscriptionCannotConnectToPrivateLink",
    ]);
    expect(addressesOn(await now(world, "wc2"))).toEqual([undefined, isIp]);
  });
});

function missing(): Error {
  const failure = { reason: "ClusterIdentityMissing", message: "there is no identity · make one" };
  return Object.assign(new Error(failure.message), { explain: () => failure });
}
