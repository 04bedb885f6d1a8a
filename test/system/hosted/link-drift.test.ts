import { parseResourceId } from "@postern/core/resource-id.ts";
import { conditions, linkFinalizer } from "postern/hosted/names.ts";
import { expect, test } from "vitest";
import {
  balancer,
  frontendOf,
  guestSubscription,
  managementGroup,
  managementNetwork,
} from "./azure.ts";
import {
  connect,
  gone,
  installation,
  linkedCluster,
  natSubnets,
  now,
  onlyLink,
  properties,
  ready,
} from "./link-world.ts";
import { describeHosted, type HostedWorld } from "./world.ts";

const simulator = { operationMs: { "*": 30_000 } };
const other = "44444444-4444-4444-8444-444444444444";
const writes = (world: HostedWorld) => world.armRequests().filter(({ method }) => method !== "GET");

/** A resource as a body of a write that changes some of its properties. */
function body(world: HostedWorld, id: string, over: object, tags?: Record<string, string>) {
  const { top, properties: held } = world.azure.at(id) as {
    top: Record<string, unknown>;
    properties: Record<string, unknown>;
  };
  return { ...top, ...(tags && { tags }), properties: { ...held, ...over } } as never;
}

describeHosted("a link service that somebody changes", (start) => {
  test.each<[string, object, Record<string, string>?]>([
    ["visibility", { visibility: { subscriptions: [other] }, autoApproval: { subscriptions: [] } }],
    ["approval", { autoApproval: { subscriptions: [] } }],
    ["proxy protocol", { enableProxyProtocol: true }],
    ["tags", {}, { team: "a" }],
  ])("is put right at the next drift check: %s", async (what, over, tags) => {
    const world = await start({ features: onlyLink(), simulator });
    const one = await linkedCluster(world, "one");
    const { status } = await ready(world, one);
    const owner = (world.azure.at(one.id) as { top: { tags: Record<string, string> } }).top.tags;
    const left = tags && { ...tags, postern_owner: owner.postern_owner ?? "" };
    world.azure.simulator.change(one.id, body(world, one.id, over, left));
    await world.mark();
    await world.advance(8 * 60_000);
    expect(writes(world), what).toHaveLength(1);
    expect(properties(world, one.id)).toMatchObject({
      visibility: { subscriptions: [guestSubscription] },
      autoApproval: { subscriptions: [guestSubscription] },
      enableProxyProtocol: false,
    });
    expect(world.azure.at(one.id)).toMatchObject({ top: { tags: { ...owner, ...tags } } });
    const after = await now(world, one);
    expect(after?.status?.privateLinkServiceAlias).toBe(status?.privateLinkServiceAlias);
    expect(world.condition(after, conditions.link)).toBe("True AzureSuccess");
  });

  test("is made again where it was deleted, and the old alias is withdrawn at once", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const one = await linkedCluster(world, "one");
    const { status } = await ready(world, one);
    world.azure.simulator.drop(one.id);
    await world.until("the alias is still there", async () => {
      const { status: held } = (await now(world, one)) ?? {};
      return held?.privateLinkServiceAlias === undefined;
    });
    const after = await ready(world, one);
    expect(after.status?.privateLinkServiceAlias).not.toBe(status?.privateLinkServiceAlias);
    expect(natSubnets(world)).toEqual([`postern-nat-${installation}-0`]);
  });

  test("is recreated on another frontend when the Service gets another address", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const one = await linkedCluster(world, "one");
    const { status } = await ready(world, one);
    connect(world, String(status?.privateLinkServiceAlias));
    const loadBalancerIP = world.azure.addFrontend(`${frontendOf(one.service)}-again`);
    await world.giveAddress(one.service, loadBalancerIP);
    await world.mark();
    await world.patch(one.link, { spec: { loadBalancerIP } });
    await world.until("the frontend is the old one", async () => {
      const frontends = properties(world, one.id).loadBalancerFrontendIpConfigurations;
      return JSON.stringify(frontends)?.includes("-again") === true;
    });
    // Reject, remove the connection, remove the service, make it: nothing twice, or the guest would wait for an old sighting.
    expect(writes(world).map(({ method }) => method)).toEqual(["PUT", "DELETE", "DELETE", "PUT"]);
    const after = await ready(world, one);
    expect(after.status?.privateLinkServiceAlias).not.toBe(status?.privateLinkServiceAlias);
    expect(world.condition(after, conditions.loadBalancer)).toBe("True AzureSuccess");
  });

  test("admits further subscriptions as soon as the allow-list names them, in whatever case", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const one = await linkedCluster(world, "one");
    const { status } = await ready(world, one);
    const additionalAllowedSubscriptions = [other.toUpperCase(), guestSubscription.toUpperCase()];
    await world.patch(one.link, { spec: { additionalAllowedSubscriptions } });
    await world.settled();
    expect(properties(world, one.id).visibility).toEqual({
      subscriptions: [guestSubscription, other.toUpperCase()],
    });
    await world.advance(60_000);
    const after = await now(world, one);
    expect(after?.status?.privateLinkServiceAlias).toBe(status?.privateLinkServiceAlias);
    await world.mark();
    await world.advance(10 * 60_000);
    expect(writes(world)).toEqual([]);
  });

  test("that nobody may read is reported, keeps its alias, and can be deleted when the right is back", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const one = await linkedCluster(world, "one");
    const { status } = await ready(world, one);
    const match = { method: "GET", type: "Microsoft.Network/privateLinkServices" };
    const error = { code: "AuthorizationFailed", message: "no right" };
    const effect = { kind: "answer", status: 403, body: { error } } as const;
    const fault = world.azure.simulator.addFault({ match, effect });
    await world.advance(8 * 60_000);
    const told = await now(world, one);
    expect(world.condition(told, conditions.link)).toBe("False AzureError");
    expect(told?.status?.privateLinkServiceAlias).toBe(status?.privateLinkServiceAlias);
    await world.remove(one.link);
    await world.advance(60_000);
    expect((await now(world, one))?.metadata.finalizers).toEqual([linkFinalizer]);
    world.azure.simulator.faults.remove(fault);
    await world.until("the link is not gone", async () => (await now(world, one)) === undefined);
    expect(natSubnets(world)).toEqual([]);
  });

  test("of another is never touched, and its owner is reported", async () => {
    const world = await start({ features: onlyLink(), simulator, stopped: true });
    const one = await linkedCluster(world, "one");
    const subnet = `${managementNetwork}/subnets/theirs`;
    world.azure.simulator.change(subnet, {
      properties: { addressPrefix: "10.0.200.0/24", privateLinkServiceNetworkPolicies: "Disabled" },
    });
    world.azure.addFrontend("theirs");
    world.azure.simulator.change(one.id, {
      location: "westeurope",
      properties: {
        loadBalancerFrontendIpConfigurations: [
          { id: `${balancer}/frontendIPConfigurations/theirs` },
        ],
        ipConfigurations: [{ name: "n", properties: { subnet: { id: subnet } } }],
      },
    });
    await world.start();
    await world.advance(60_000);
    const told = await now(world, one);
    expect(world.condition(told, conditions.link)).toBe("False OwnedByAnother");
    await world.remove(one.link);
    await world.advance(60_000);
    expect(await now(world, one)).toBeUndefined();
    expect(world.azure.at(one.id)).toBeDefined();
    expect(natSubnets(world)).toEqual(["theirs"]);
    expect(writes(world)).toEqual([]);
  });
});

describeHosted("a link service that HyperShift made", (start) => {
  test("is taken over without a break, and its subnet is left behind at the end", async () => {
    const world = await start({ features: onlyLink(), simulator, stopped: true });
    const one = await linkedCluster(world, "one");
    const subnet = `${managementNetwork}/subnets/one-infra-pls-nat`;
    world.azure.simulator.change(subnet, {
      properties: { addressPrefix: "10.0.200.0/24", privateLinkServiceNetworkPolicies: "Disabled" },
    });
    world.azure.simulator.change(one.id, {
      location: "westeurope",
      tags: {
        "kubernetes.io_cluster_one": "owned",
        "hypershift.openshift.io_resource-type": "private-link-service",
      },
      properties: {
        loadBalancerFrontendIpConfigurations: [
          { id: `${balancer}/frontendIPConfigurations/${frontendOf(one.service)}` },
        ],
        ipConfigurations: [
          { name: "pls-nat-ip", properties: { subnet: { id: subnet }, primary: true } },
        ],
        visibility: { subscriptions: [guestSubscription] },
        autoApproval: { subscriptions: [guestSubscription] },
        enableProxyProtocol: false,
      },
    });
    const { alias } = properties(world, one.id);
    const status = { privateLinkServiceID: one.id, privateLinkServiceAlias: alias };
    await world.patch(one.link, { status }, "status");
    await world.start();
    const after = await ready(world, one);
    expect(after.status?.privateLinkServiceAlias).toBe(alias);
    expect(writes(world)).toHaveLength(1);
    expect(world.azure.at(one.id)).toMatchObject({
      top: { tags: { postern_owner: expect.stringContaining(one.link.metadata.uid) } },
    });
    await gone(world, one);
    expect(world.azure.ids("/privatelinkservices/")).toEqual([]);
    expect(natSubnets(world)).toEqual(["one-infra-pls-nat"]);
  });
});

describeHosted("a load balancer that cannot be used", (start) => {
  test("and is created later is found within half a minute, and is reported as missing until then", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const one = await linkedCluster(world, "one", { spec: { loadBalancerIP: "10.0.50.50" } });
    await world.giveAddress(one.service, "10.0.50.50");
    await world.settled();
    expect(world.condition(await now(world, one), conditions.loadBalancer)).toBe(
      "False ILBNotFound",
    );
    world.azure.addFrontend(`${frontendOf(one.service)}-late`, "10.0.50.50");
    await ready(world, one);
  });

  test("and is in another group of the management cluster is found, and gets its link service in the usual group", async () => {
    const others = parseResourceId(managementGroup.replace(/[^/]+$/, "more-balancers"));
    const world = await start({
      features: onlyLink(),
      simulator,
      otherLoadBalancerGroups: [others],
    });
    const one = await linkedCluster(world, "one", { spec: { loadBalancerIP: "10.0.50.51" } });
    await world.giveAddress(one.service, "10.0.50.51");
    const { simulator: azure } = world.azure;
    azure.change(others, { location: "westeurope" });
    const subnet = { id: `${managementNetwork}/subnets/nodes` };
    const frontend = {
      name: frontendOf(one.service),
      properties: { subnet, privateIPAddress: "10.0.50.51", privateIPAllocationMethod: "Static" },
    };
    const there = `${others}/providers/Microsoft.Network/loadBalancers/more`;
    azure.change(there, {
      location: "westeurope",
      sku: { name: "Standard" },
      properties: { frontendIPConfigurations: [frontend] },
    });
    await ready(world, one);
    expect(properties(world, one.id)).toMatchObject({
      loadBalancerFrontendIpConfigurations: [
        { id: `${there}/frontendIPConfigurations/${frontend.name}` },
      ],
    });
    await gone(world, one);
    expect(world.azure.ids("/privatelinkservices/")).toEqual([]);
  });

  test("is a condition where the role to list is missing, and is requeued when Azure said", async () => {
    const world = await start({ features: onlyLink(), simulator, stopped: true });
    const match = {
      method: "GET",
      path: `${managementGroup}/providers/Microsoft.Network/loadBalancers*`,
    };
    const error = { code: "AuthorizationFailed", message: "no right at 2026-01-01T00:00:00Z" };
    const effect = { kind: "answer", status: 403, body: { error } } as const;
    const fault = world.azure.simulator.addFault({ match, effect });
    const one = await linkedCluster(world, "one");
    await world.start();
    const told = await now(world, one);
    expect(world.condition(told, conditions.link)).toBe("False ILBLookupFailed");
    await world.mark();
    await world.advance(9 * 60_000);
    expect(world.armRequests()).toEqual([]);
    world.azure.simulator.faults.remove(fault);
    await ready(world, one);
  });
});
