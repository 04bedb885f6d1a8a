import { conditions, linkFinalizer } from "postern/hosted/names.ts";
import { expect, test } from "vitest";
import { balancer, frontendOf, guestSubscription, managementNetwork } from "./azure.ts";
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
import { describeHosted } from "./world.ts";

const simulator = { operationMs: { "*": 30_000 } };

describeHosted("the link service of a control plane", (start) => {
  test("is made before the load balancer's frontend, and its alias is published when it is ready", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const one = await linkedCluster(world, "one");
    await world.settled();
    const early = await now(world, one);
    expect(early?.metadata.finalizers).toEqual([linkFinalizer]);
    expect(world.condition(early, conditions.link)).toMatch(/^False /);
    expect(early?.status).not.toHaveProperty("privateLinkServiceAlias");

    const done = await ready(world, one);
    expect(world.condition(done, conditions.loadBalancer)).toBe("True AzureSuccess");
    expect(done.status).toMatchObject({
      internalLoadBalancerID: balancer,
      privateLinkServiceID: one.id,
      privateLinkServiceAlias: expect.stringMatching(/\.westeurope\.azure\.privatelinkservice$/),
    });
    const { service } = one;
    expect(properties(world, one.id)).toMatchObject({
      loadBalancerFrontendIpConfigurations: [
        { id: `${balancer}/frontendIPConfigurations/${frontendOf(service)}` },
      ],
      visibility: { subscriptions: [guestSubscription] },
      autoApproval: { subscriptions: [guestSubscription] },
      enableProxyProtocol: false,
    });
    expect(natSubnets(world)).toEqual([`postern-nat-${installation}-0`]);
    expect(
      properties(world, `${managementNetwork}/subnets/postern-nat-${installation}-0`),
    ).toMatchObject({
      addressPrefix: "10.0.64.0/24",
      privateLinkServiceNetworkPolicies: "Disabled",
    });

    await world.mark();
    await world.advance(10 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);
    expect(world.armRequests().filter(({ method }) => method !== "GET")).toEqual([]);
  });

  test("goes with its connections and its NAT subnet, and leaves nothing", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const one = await linkedCluster(world, "one");
    const before = world.azure.ids();
    const { status } = await ready(world, one);
    connect(world, String(status?.privateLinkServiceAlias), "somebody-pe");
    await gone(world, one);
    const left = world.azure.ids().filter((id) => !before.includes(id));
    expect(left.filter((id) => !id.includes("somebody-pe"))).toEqual([]);
  });
});
