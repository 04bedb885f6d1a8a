import {
  endpointsFinalizer,
  formerPrivateLinksFinalizer,
  privateLinksFinalizer,
} from "postern/cluster-api/names.ts";
import { expect, test } from "vitest";
import { describeHosted } from "../hosted/world.ts";
import { clusterObject } from "./objects.ts";
import {
  addBalancer,
  balancerId,
  endpoint,
  endpointId,
  endpoints,
  gone,
  inAzure,
  link,
  linkId,
  links,
  makeCluster,
  messageOf,
  networkId,
  networkSpec,
  now,
  reported,
  resourceAt,
  startPrivateLinks,
  subnetId,
  subscription,
  theirService,
  visitor,
  writes,
} from "./private-links-world.ts";

const guest = "33333333-3333-4333-8333-333333333333";
const capzTag = "sigs.k8s.io_cluster-api-provider-azure_cluster_wc1";

describeHosted("a private link", (start) => {
  test("is made with all that is asked for, in a subnet that is opened and else left as it is", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const before = resourceAt(world, subnetId("node")).properties;
    const asked = link({
      allowedSubscriptions: [subscription, guest],
      autoApprovedSubscriptions: [guest],
      enableProxyProtocol: true,
    });
    const made = await makeCluster(world, "wc1", { links: [asked] });
    const { metadata } = await reported(world, made, links, "True Realised");
    expect(metadata.finalizers).toEqual([privateLinksFinalizer]);
    expect(resourceAt(world, linkId("api"))).toMatchObject({
      top: { location: "westeurope", tags: { [capzTag]: "owned", postern_owner: "org/wc1" } },
      properties: {
        ipConfigurations: [
          {
            name: "node-natipconfig-1",
            properties: { primary: true, subnet: { id: subnetId("node") } },
          },
        ],
        visibility: { subscriptions: [subscription, guest] },
        autoApproval: { subscriptions: [guest] },
        enableProxyProtocol: true,
      },
    });
    expect(resourceAt(world, subnetId("node")).properties).toEqual({
      ...before,
      privateLinkServiceNetworkPolicies: "Disabled",
    });
    expect(resourceAt(world, subnetId("other")).properties).toMatchObject({
      privateLinkServiceNetworkPolicies: "Enabled",
    });
  });

  test("waits for the load balancer that CAPZ makes, and says so", async () => {
    const world = await startPrivateLinks(start);
    const made = await makeCluster(world, "wc1", { links: [link()] });
    const waiting = await reported(world, made, links, "False LoadBalancerMissing");
    expect(messageOf(waiting, links)).toContain("Load balancer wc1-internal-lb does not exist");
    expect(writes(world)).toEqual([]);
    inAzure(world);
    addBalancer(world);
    await reported(world, made, links, "True Realised");
  });

  test("on a load balancer with as many links as Azure allows waits until one is removed", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const { simulator } = world.azure;
    simulator.change(subnetId("other"), {
      properties: { addressPrefix: "10.10.1.0/24", privateLinkServiceNetworkPolicies: "Disabled" },
    });
    const subnet = { id: subnetId("other") };
    const others = Array.from({ length: 8 }, (_, n) => `other-${n}`);
    const frontends = ["front", ...others];
    simulator.change(balancerId("wc1", "wc1"), {
      location: "westeurope",
      sku: { name: "Standard" },
      properties: {
        frontendIPConfigurations: frontends.map((name) => ({ name, properties: { subnet } })),
      },
    });
    for (const other of others)
      simulator.change(linkId(other), {
        location: "westeurope",
        properties: {
          loadBalancerFrontendIpConfigurations: [
            { id: `${balancerId("wc1", "wc1")}/frontendIPConfigurations/${other}` },
          ],
          ipConfigurations: [{ name: "nat", properties: { primary: true, subnet } }],
        },
      });
    const made = await makeCluster(world, "wc1", { links: [link()] });
    const waiting = await reported(world, made, links, "False ILBFull");
    expect(messageOf(waiting, links)).toMatch(
      /wc1-internal-lb already has 8 link services, .* Remove/,
    );
    expect(world.azure.at(linkId("api"))).toBeUndefined();
    simulator.drop(linkId("other-0"));
    await reported(world, made, links, "True Realised");
  });

  test("of the annotation is made where the schema has no place for it, with several addresses", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const natIPConfigurations = [
      { allocationMethod: "Dynamic", subnet: "other" },
      { allocationMethod: "Static", subnet: "node", privateIPAddress: "10.10.0.77" },
    ];
    const text = JSON.stringify([link({ natIpConfigurations: null, natIPConfigurations })]);
    const metadata = { annotations: { "postern.io/private-links": text } };
    const made = await makeCluster(world, "wc1", { metadata });
    await reported(world, made, links, "True Realised");
    const configurations = resourceAt(world, linkId("api")).properties.ipConfigurations;
    expect(configurations).toMatchObject([
      { name: "other-natipconfig-1", properties: { primary: true } },
      { name: "node-natipconfig-2", properties: { privateIPAddress: "10.10.0.77" } },
    ]);
  });

  test("is changed in place when its subscriptions or the proxy protocol change, with one write each", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const made = await makeCluster(world, "wc1", { links: [link()] });
    await reported(world, made, links, "True Realised");
    const { alias } = resourceAt(world, linkId("api")).properties;
    for (const over of [
      { allowedSubscriptions: [subscription] },
      { allowedSubscriptions: [subscription], autoApprovedSubscriptions: [subscription] },
      { enableProxyProtocol: true },
      {},
    ]) {
      await world.mark();
      await world.patch(made, { spec: { networkSpec: networkSpec({ links: [link(over)] }) } });
      await world.advance(60_000);
      expect(writes(world)).toHaveLength(1);
      expect(resourceAt(world, linkId("api")).properties).toMatchObject({
        visibility: { subscriptions: [...("allowedSubscriptions" in over ? [subscription] : [])] },
        autoApproval: {
          subscriptions: [...("autoApprovedSubscriptions" in over ? [subscription] : [])],
        },
        enableProxyProtocol: "enableProxyProtocol" in over,
      });
      const after = await now(world, made);
      expect(world.condition(after, links)).toBe("True Realised");
    }
    await world.patch(made, { spec: { additionalTags: { team: "blue" } } });
    await world.advance(60_000);
    expect(resourceAt(world, linkId("api")).top.tags).toMatchObject({ team: "blue" });
    expect(resourceAt(world, linkId("api")).properties.alias).toBe(alias);
  });

  test("is recreated where its first NAT subnet is another, and who was connected is told first", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const asked = (subnet: string) => ({
      annotations: {
        "postern.io/private-links": JSON.stringify([link({ natIpConfigurations: [{ subnet }] })]),
      },
    });
    const made = await makeCluster(world, "wc1", { metadata: asked("node") });
    await reported(world, made, links, "True Realised");
    const { alias } = resourceAt(world, linkId("api")).properties;
    visitor(world, linkId("api"));
    await world.mark();
    await world.patch(made, { metadata: asked("other") });
    await reported(world, made, links, "False BeingReplaced");
    await reported(world, made, links, "True Realised");
    expect(resourceAt(world, linkId("api")).properties.alias).not.toBe(alias);
    const words = writes(world).map(({ method, path }) => `${method} ${path}`);
    expect(words.map((each) => each.split(" ")[0])).toEqual([
      "PUT",
      "DELETE",
      "DELETE",
      "PUT",
      "PUT",
    ]);
  });

  test("that is not asked for any more is deleted, and then no finalizer is left on the cluster", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const made = await makeCluster(world, "wc1", { links: [link()] });
    await reported(world, made, links, "True Realised");
    visitor(world, linkId("api"));
    await world.patch(made, { spec: { networkSpec: { apiServerLB: { privateLinks: [] } } } });
    await reported(world, made, links, undefined);
    expect(world.azure.at(linkId("api"))).toBeUndefined();
    await world.until("it is held", async () => {
      return ((await now(world, made))?.metadata.finalizers ?? []).length === 0;
    });
    await world.mark();
    await world.advance(20 * 60_000);
    expect(world.armRequests()).toEqual([]);
  });

  test.each<[string, object, Record<string, string>?]>([
    ["visibility", { visibility: { subscriptions: [guest] } }],
    [
      "approval",
      { visibility: { subscriptions: [guest] }, autoApproval: { subscriptions: [guest] } },
    ],
    ["proxy protocol", { enableProxyProtocol: true }],
    ["CAPZ's tag", {}, { team: "a", postern_owner: "org/wc1" }],
  ])("is put right at the next drift check: %s", async (_what, over, tags) => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const made = await makeCluster(world, "wc1", { links: [link()] });
    await reported(world, made, links, "True Realised");
    const { top, properties } = resourceAt(world, linkId("api"));
    const spoiled = { ...top, ...(tags && { tags }), properties: { ...properties, ...over } };
    world.azure.simulator.change(linkId("api"), spoiled as never);
    await world.mark();
    await world.advance(8 * 60_000);
    expect(writes(world)).toHaveLength(1);
    // It is told by an event; the condition stays as it was.
    const kinds = (await world.kubeWrites()).map(({ objectRef }) => objectRef?.resource);
    expect(kinds).toEqual(["events"]);
    expect(resourceAt(world, linkId("api"))).toMatchObject({
      top: { tags: { ...tags, [capzTag]: "owned" } },
      properties: {
        visibility: { subscriptions: [] },
        autoApproval: { subscriptions: [] },
        enableProxyProtocol: false,
      },
    });
  });

  test("that somebody deletes is made again", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const made = await makeCluster(world, "wc1", { links: [link()] });
    await reported(world, made, links, "True Realised");
    world.azure.simulator.drop(linkId("api"));
    await reported(world, made, links, "False BeingMade");
    await reported(world, made, links, "True Realised");
    expect(resourceAt(world, linkId("api")).properties.alias).toBeDefined();
  });

  test("in a network of somebody else waits for its owner to open the subnet", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const tags = { "sigs.k8s.io_cluster-api-provider-azure_cluster_wc10": "owned" };
    const { top, properties } = resourceAt(world, networkId());
    const subnets = ["node", "other"].map((name, n) => ({
      name,
      properties: { addressPrefix: `10.10.${n}.0/24` },
    }));
    const network = { ...top, tags, properties: { ...properties, subnets } };
    world.azure.simulator.change(networkId(), network as never);
    const made = await makeCluster(world, "wc1", { links: [link()] });
    const waiting = await reported(world, made, links, "False NATSubnetUnfit");
    expect(messageOf(waiting, links)).toContain("network wc1-vnet is not this cluster's own");
    expect(writes(world)).toEqual([]);
    world.azure.simulator.change(subnetId("node"), {
      properties: { addressPrefix: "10.10.0.0/24", privateLinkServiceNetworkPolicies: "Disabled" },
    });
    await reported(world, made, links, "True Realised");
  });
});

describeHosted("an AzureCluster that is deleted", (start) => {
  test("takes its endpoints with it first, then its links, and cuts off who is connected", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const target = theirService(world, "gate", [subscription]);
    const made = await makeCluster(world, "wc1", {
      links: [link()],
      endpoints: [endpoint(target)],
    });
    await reported(world, made, links, "True Realised");
    await reported(world, made, endpoints, "True Realised");
    visitor(world, linkId("api"));
    await world.mark();
    await world.remove(made);
    await gone(world, made);
    expect(world.azure.at(linkId("api"))).toBeUndefined();
    expect(world.azure.at(endpointId("to-mc"))).toBeUndefined();
    const order = writes(world).map(({ method, path }) => `${method} ${path.split("/").at(-1)}`);
    expect(order[0]).toBe("DELETE privateEndpoints");
    expect(order.at(-1)).toBe("DELETE privateLinkServices");
    expect(world.azure.at(target)).toBeDefined();
  });

  test("gives the management cluster two minutes to delete its endpoints, and then cuts them off", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const metadata = { finalizers: [endpointsFinalizer] };
    const made = await makeCluster(world, "wc1", { links: [link()], metadata });
    await reported(world, made, links, "True Realised");
    visitor(world, linkId("api"));
    await world.mark();
    await world.remove(made);
    // The API server's clock stands behind ours by what the link took to be made.
    await world.advance(20_000);
    expect(writes(world)).toEqual([]);
    await world.until("it is there", () => world.azure.at(linkId("api")) === undefined);
    expect((await now(world, made))?.metadata.finalizers).toEqual([endpointsFinalizer]);
  });

  test("waits for the endpoints of others where they must not be cut off", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const metadata = { annotations: { "postern.io/foreign-endpoints": "refuse" } };
    const made = await makeCluster(world, "wc1", { links: [link()], metadata });
    await reported(world, made, links, "True Realised");
    const theirs = visitor(world, linkId("api"));
    await world.remove(made);
    const waiting = await reported(world, made, links, "False ForeignEndpointsConnected");
    expect(messageOf(waiting, links)).toContain("privateEndpoints/visitor");
    world.azure.simulator.drop(theirs);
    await gone(world, made);
    expect(world.azure.at(linkId("api"))).toBeUndefined();
  });

  test("is let go where CAPZ has deleted the whole group", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const made = await makeCluster(world, "wc1", { links: [link()] });
    await reported(world, made, links, "True Realised");
    await world.stop();
    world.azure.simulator.drop(`/subscriptions/${subscription}/resourceGroups/wc1`);
    await world.start();
    await world.remove(made);
    await gone(world, made);
  });

  test("is let go although a write was under way when the operator was killed", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const made = await makeCluster(world, "wc1", { links: [link()] });
    await world.until("nothing is being made", () => world.azure.at(linkId("api")) !== undefined);
    await world.stop();
    await world.remove(made);
    await world.start();
    await gone(world, made);
    expect(world.azure.at(linkId("api"))).toBeUndefined();
  });

  test("is let go while the write of its link is under way, and the link with it", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const made = await makeCluster(world, "wc1", { links: [link()] });
    await world.until("nothing is being made", () => world.azure.at(linkId("api")) !== undefined);
    await world.remove(made);
    await gone(world, made);
    expect(world.azure.at(linkId("api"))).toBeUndefined();
  });
});

describeHosted("an AzureCluster that no longer says where it is", (start) => {
  test("is not let go with what was made for it, and says what to set", async () => {
    const world = await startPrivateLinks(start);
    const made = await makeCluster(world, "wc1", {
      links: [link()],
      metadata: { finalizers: [privateLinksFinalizer] },
      spec: { subscriptionID: undefined },
    });
    await world.remove(made);
    const left = await reported(world, made, links, "False NotRealised");
    expect(messageOf(left, links)).toContain("spec.subscriptionID is empty");
    expect(messageOf(left, links)).toContain(`finalizer ${privateLinksFinalizer}`);
    expect(left.metadata.finalizers).toEqual([privateLinksFinalizer]);
  });
});

describeHosted("an AzureCluster with the former name of the finalizer", (start) => {
  const metadata = { finalizers: [formerPrivateLinksFinalizer] };

  test("gets the present one instead, and can be deleted", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const made = await makeCluster(world, "wc1", { links: [link()], metadata });
    const { metadata: after } = await reported(world, made, links, "True Realised");
    expect(after.finalizers).toEqual([privateLinksFinalizer]);
    await world.remove(made);
    await gone(world, made);
    expect(world.azure.at(linkId("api"))).toBeUndefined();
  });

  test("does not wait for it when it is deleted at once", async () => {
    const world = await startPrivateLinks(start, { stopped: true });
    const made = await makeCluster(world, "wc1", { links: [], metadata });
    await world.remove(made);
    await world.start();
    await gone(world, made);
  });
});

describeHosted("an AzureCluster that is paused", (start) => {
  test("by the annotation of its Cluster is left alone until that goes", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const cluster = { ...(await world.make(clusterObject("org", "wc1"))), kind: "Cluster" };
    const paused = (value: string | null) =>
      world.patch(cluster, { metadata: { annotations: { "cluster.x-k8s.io/paused": value } } });
    await paused("true");
    const metadata = { labels: { "cluster.x-k8s.io/cluster-name": "wc1" } };
    const made = await makeCluster(world, "wc1", { links: [link()], metadata });
    await world.advance(10 * 60_000);
    expect(world.armRequests()).toEqual([]);
    await paused(null);
    await reported(world, made, links, "True Realised");
  });

  test("is left alone, even when it is deleted, until the pause ends", async () => {
    const world = await startPrivateLinks(start);
    inAzure(world);
    const cluster = await world.make(clusterObject("org", "wc1", { paused: true }));
    const metadata = { labels: { "cluster.x-k8s.io/cluster-name": "wc1" } };
    const made = await makeCluster(world, "wc1", { links: [link()], metadata });
    await world.advance(10 * 60_000);
    expect(world.armRequests()).toEqual([]);
    await world.patch(cluster, { spec: { paused: false } });
    await reported(world, made, links, "True Realised");
    await world.patch(made, { metadata: { annotations: { "cluster.x-k8s.io/paused": "true" } } });
    await world.remove(made);
    await world.mark();
    await world.advance(10 * 60_000);
    expect(world.armRequests()).toEqual([]);
    expect((await now(world, made))?.metadata.finalizers).toEqual([privateLinksFinalizer]);
    await world.patch(made, { metadata: { annotations: { "cluster.x-k8s.io/paused": null } } });
    await gone(world, made);
    expect(world.azure.at(linkId("api"))).toBeUndefined();
  });
});
