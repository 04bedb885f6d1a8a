import { controlPlaneFinalizer, endpointFinalizer, linkFinalizer } from "postern/hosted/names.ts";
import { servicesFeature } from "postern/hosted/services/feature.ts";
import { expect, test } from "vitest";
import { guestSubnet } from "./azure.ts";
import { route, routerService } from "./objects.ts";
import { describeHosted, type HostedWorld, type Thing } from "./world.ts";

const features = () => [servicesFeature()];

/** The link objects of a namespace by name, with the specs that they have. */
async function links(world: HostedWorld, namespace: string) {
  const found = await world.list("AzurePrivateLinkService", namespace);
  return Object.fromEntries(found.map(({ metadata, spec }) => [metadata.name, spec]));
}

async function link(world: HostedWorld, namespace: string, name = "private-router") {
  const found = await world.get("AzurePrivateLinkService", namespace, name);
  if (found === undefined) throw new Error(`there is no link object ${name}`);
  return found;
}

async function eventReasonsIn(world: HostedWorld, namespace: string): Promise<string[]> {
  const events = (await world.list("Event", namespace)) as unknown as {
    reason: string;
    note: string;
  }[];
  return events.map(({ reason }) => reason).sort();
}

const addressed = (ip: string) => ({ status: { loadBalancer: { ingress: [{ ip }] } } });
const held = (thing: Thing | undefined) => thing?.metadata.finalizers ?? [];

describeHosted("the link objects of a control plane", (start) => {
  test("a private cluster's router gets one that belongs to it, and the control plane gets a finalizer", async () => {
    const world = await start({ features });
    const { namespace, controlPlane, address } = await world.hostedCluster("one");
    await world.settled();
    const made = await link(world, namespace);
    expect(made.spec).toMatchObject({ loadBalancerIP: address, guestSubnetID: guestSubnet });
    expect(made.metadata.ownerReferences).toMatchObject([
      { kind: "HostedControlPlane", uid: controlPlane.metadata.uid, controller: true },
    ]);
    expect(made.metadata.annotations).toEqual({
      "hypershift.openshift.io/cluster": "clusters/one",
    });
    const plane = await world.get("HostedControlPlane", namespace, "one");
    expect(held(plane)).toEqual([controlPlaneFinalizer]);
    expect(await eventReasonsIn(world, namespace)).toEqual(["Created"]);

    await world.mark();
    await world.advance(10 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);
  });

  test("one that somebody deletes comes back, and what somebody changes is put right", async () => {
    const world = await start({ features });
    const { namespace, address } = await world.hostedCluster("one");
    await world.settled();
    const first = await link(world, namespace);
    await world.remove(first);
    await world.settled();
    const second = await link(world, namespace);
    expect(second.metadata.uid).not.toBe(first.metadata.uid);

    await world.patch(second, { spec: { loadBalancerIP: "10.9.9.9" } });
    await world.settled();
    expect((await link(world, namespace)).spec.loadBalancerIP).toBe(address);
    await world.patch(second, { metadata: { annotations: null } });
    await world.settled();
    expect((await link(world, namespace)).metadata.annotations).toBeDefined();
  });

  test("what is wrong is said on the control plane, and taken back when it is right", async () => {
    const world = await start({ features });
    const { namespace, service } = await world.hostedCluster("one");
    const said = async () => {
      const plane = await world.get("HostedControlPlane", namespace, "one");
      return plane?.status?.conditions?.map(({ type, reason }) => `${type} ${reason}`) ?? [];
    };
    const internal = "service.beta.kubernetes.io/azure-load-balancer-internal";
    await world.patch(service, { metadata: { annotations: { [internal]: null } } });
    await world.settled();
    expect(await said()).toEqual(["AzurePrivateLinkServiceAvailable ServiceNotInternal"]);
    await world.patch(service, { metadata: { annotations: { [internal]: "true" } } });
    await world.settled();
    expect(await said()).toEqual([]);
    await world.mark();
    await world.advance(10 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);
  });

  test("a cluster that names no subnet gets its link with the first NodePool, in that one's subnet", async () => {
    const world = await start({ features });
    const { namespace } = await world.hostedCluster("one", { azure: { subnetID: undefined } });
    await world.settled();
    expect(await links(world, namespace)).toEqual({});
    expect(await eventReasonsIn(world, namespace)).toEqual(["GuestSubnetMissing"]);
    const pool = (name: string, subnetID: string) =>
      world.make({
        apiVersion: "hypershift.openshift.io/v1beta1",
        kind: "NodePool",
        metadata: { namespace: "clusters", name },
        spec: { clusterName: "one", platform: { type: "Azure", azure: { subnetID } } },
      } as Parameters<typeof world.make>[0]);
    await pool("a", guestSubnet);
    await world.settled();
    expect((await link(world, namespace)).spec.guestSubnetID).toBe(guestSubnet);
    await pool("b", `${guestSubnet}-2`);
    await world.settled();
    expect((await link(world, namespace)).spec.guestSubnetID).toBe(guestSubnet);
  });

  test("a control plane that loses its azure block keeps its link, and says so", async () => {
    const world = await start({ features });
    const { namespace, controlPlane } = await world.hostedCluster("one");
    await world.settled();
    const { uid } = (await link(world, namespace)).metadata;
    await world.patch(controlPlane, { spec: { platform: { type: "None", azure: null } } });
    await world.settled();
    expect((await link(world, namespace)).metadata).toMatchObject({ uid });
    const plane = await world.get("HostedControlPlane", namespace, "one");
    expect(world.condition(plane, "AzurePrivateLinkServiceAvailable")).toBe(
      "False AzureBlockMissing",
    );
    await world.mark();
    await world.advance(10 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);
  });

  test("a new address, and a new allow-list without an event of the Service, reach the link object at once", async () => {
    const world = await start({ features });
    const { namespace, controlPlane, service } = await world.hostedCluster("one");
    await world.settled();
    await world.patch(service, addressed("10.0.7.7"), "status");
    await world.settled();
    expect((await link(world, namespace)).spec.loadBalancerIP).toBe("10.0.7.7");

    const friend = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
    const privateLink = { additionalAllowedSubscriptions: [friend] };
    await world.patch(controlPlane, {
      spec: { platform: { azure: { private: { privateLink } } } },
    });
    await world.settled();
    expect((await link(world, namespace)).spec.additionalAllowedSubscriptions).toEqual([friend]);
    await world.patch(controlPlane, {
      spec: { platform: { azure: { private: { privateLink: null } } } },
    });
    await world.settled();
    expect((await link(world, namespace)).spec).not.toHaveProperty(
      "additionalAllowedSubscriptions",
    );
  });

  test("the OAuth server has one while a load balancer publishes it", async () => {
    const world = await start({ features });
    const services = [
      route("APIServer"),
      { service: "OAuthServer", servicePublishingStrategy: { type: "LoadBalancer" } },
    ];
    const { namespace, controlPlane } = await world.hostedCluster("one", { services });
    const oauth = await world.make(routerService(controlPlane, "oauth-openshift"));
    await world.patch(oauth, addressed("10.0.0.99"), "status");
    await world.settled();
    expect(await links(world, namespace)).toMatchObject({
      "private-router": {},
      "oauth-openshift": { loadBalancerIP: "10.0.0.99" },
    });
    // HyperShift never lets this change; somebody's hand may.
    await world.patch(controlPlane, { spec: { services: [route("OAuthServer")] } });
    await world.settled();
    expect(Object.keys(await links(world, namespace))).toEqual(["private-router"]);
  });

  test.each([
    [
      "with a hostname instead of an address",
      { status: { loadBalancer: { ingress: [{ hostname: "lb.example.com" }] } } },
      "ServiceHasNoIP",
    ],
    ["that is not internal", { metadata: { annotations: null } }, "ServiceNotInternal"],
    ["of nobody", { metadata: { ownerReferences: null } }, "ServiceNotOwned"],
  ])("a Service %s gets none, and that is said once", async (_, change, reason) => {
    const world = await start({ features, stopped: true });
    const { namespace, service } = await world.hostedCluster("one");
    await world.patch(service, change, "status" in change ? "status" : undefined);
    await world.start();
    await world.settled();
    await world.advance(20 * 60_000);
    expect(await links(world, namespace)).toEqual({});
    expect(await eventReasonsIn(world, namespace)).toEqual([reason]);
    expect(held(await world.get("HostedControlPlane", namespace, "one"))).toEqual([]);
  });

  test("a spec that the schema refuses is reported by an event and tried slowly, not in a hot loop", async () => {
    const world = await start({ features, stopped: true });
    const { namespace, controlPlane } = await world.hostedCluster("one", {
      azure: { vnetID: "not an id" },
    });
    await world.start();
    await world.settled();
    await world.mark();
    await world.advance(10 * 60_000);
    const tries = (await world.kubeWrites()).filter(
      ({ objectRef }) => objectRef?.resource === "azureprivatelinkservices",
    );
    expect(tries.length).toBeLessThanOrEqual(3);
    expect(await eventReasonsIn(world, namespace)).toEqual(["LinkNotWritten"]);
    await world.remove(controlPlane);
    await world.settled();
    expect(await world.get("HostedControlPlane", namespace, "one")).toBeUndefined();
  });

  test("a paused cluster changes nothing until its HostedCluster is un-paused", async () => {
    const world = await start({ features });
    const { namespace, cluster, service } = await world.hostedCluster("one");
    await world.settled();
    await world.patch(cluster, { spec: { pausedUntil: "true" } });
    await world.patch(service, addressed("10.0.7.7"), "status");
    await world.advance(10 * 60_000);
    expect((await link(world, namespace)).spec.loadBalancerIP).not.toBe("10.0.7.7");
    await world.patch(cluster, { spec: { pausedUntil: null } });
    await world.settled();
    expect((await link(world, namespace)).spec.loadBalancerIP).toBe("10.0.7.7");
  });

  test("a control plane that is being deleted keeps its finalizer until the endpoints of its links are gone", async () => {
    const world = await start({ features });
    const { namespace, controlPlane } = await world.hostedCluster("one");
    await world.settled();
    const made = await link(world, namespace);
    const finalizers = [linkFinalizer, endpointFinalizer];
    await world.patch(made, { metadata: { finalizers } });
    await world.remove(controlPlane);
    await world.settled();
    expect(await world.get("HostedControlPlane", namespace, "one")).toBeDefined();

    await world.patch(made, { metadata: { finalizers: [linkFinalizer] } });
    await world.settled();
    expect(await world.get("HostedControlPlane", namespace, "one")).toBeUndefined();
  });

  test("a control plane whose links are all gone loses its finalizer", async () => {
    const world = await start({ features });
    const { namespace, controlPlane, service } = await world.hostedCluster("one");
    await world.settled();
    await world.remove(service);
    await world.settled();
    await world.remove(controlPlane);
    for (const each of await world.list("AzurePrivateLinkService", namespace))
      await world.remove(each);
    await world.settled();
    expect(await world.get("HostedControlPlane", namespace, "one")).toBeUndefined();
    expect(await links(world, namespace)).toEqual({});
  });

  test("a controller that is started again goes on where it was, and writes nothing twice", async () => {
    const world = await start({ features, stopped: true });
    const { namespace, address } = await world.hostedCluster("one");
    await world.start();
    await world.stop();
    await world.start();
    await world.settled();
    expect((await link(world, namespace)).spec.loadBalancerIP).toBe(address);
    await world.mark();
    await world.stop();
    await world.start();
    await world.advance(60_000);
    expect(await world.kubeWrites()).toEqual([]);
  });
});
