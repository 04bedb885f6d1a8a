import { expect, test } from "vitest";
import { balancer, frontendOf, location, managementNetwork } from "./azure.ts";
import { gone, linkedCluster, linkObject, natSubnets, onlyLink, ready } from "./link-world.ts";
import { describeHosted } from "./world.ts";

const simulator = { operationMs: { "*": 30_000 } };

describeHosted("a cluster that is created soon after another was deleted", (start) => {
  for (const natSubnetsOf of ["shared", "per-cluster"] as const)
    test(`gets its address and is ready as soon as the first was, with ${natSubnetsOf} NAT subnets`, async () => {
      const world = await start({ features: onlyLink({ natSubnets: natSubnetsOf }), simulator });
      const took: number[] = [];
      for (const name of ["one", "two", "one"]) {
        const began = world.clock.now();
        const linked = await linkedCluster(world, name);
        await ready(world, linked);
        took.push(world.clock.now() - began);
        await gone(world, linked);
        world.azure.removeFrontend(frontendOf(linked.service));
        await world.remove({ ...linked.service, kind: "Service" });
        await world.remove({ ...linked.controlPlane, kind: "HostedControlPlane" });
        await world.remove({ ...linked.cluster, kind: "HostedCluster" });
      }
      expect(natSubnets(world)).toEqual([]);
      // A subnet that is being deleted is closed for a minute; nothing else may hold the next cluster up.
      const [first = 0, ...others] = took;
      for (const each of others) expect(each).toBeLessThanOrEqual(first + 60_000);
    });

  test("is not held up by what was read before its load balancer frontend moved", async () => {
    const world = await start({ features: onlyLink(), simulator });
    await ready(world, await linkedCluster(world, "one"));
    const two = await world.hostedCluster("two");
    // The drift check of the first cluster lists the load balancers, and finds the frontend of the second.
    await world.advance(6 * 60_000);
    const name = frontendOf(two.service);
    world.azure.removeFrontend(name);
    const moved = `${balancer}-2`;
    world.azure.simulator.change(moved, {
      location,
      sku: { name: "Standard" },
      properties: {
        frontendIPConfigurations: [
          {
            name,
            properties: {
              subnet: { id: `${managementNetwork}/subnets/nodes` },
              privateIPAddress: two.address,
              privateIPAllocationMethod: "Static",
            },
          },
        ],
      },
    });
    const link = await world.make(linkObject(two));
    const began = world.clock.now();
    const done = await ready(world, { link });
    expect(done.status).toMatchObject({ internalLoadBalancerID: moved });
    expect(world.clock.now() - began).toBeLessThan(2 * 60_000);
  });
});
