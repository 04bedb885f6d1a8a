import { conditions } from "postern/hosted/names.ts";
import { expect, test } from "vitest";
import {
  connect,
  gone,
  installation,
  type Linked,
  linkedCluster,
  linkObject,
  natSubnets,
  now,
  onlyLink,
  ready,
} from "./link-world.ts";
import { describeHosted, type HostedWorld } from "./world.ts";

const simulator = { operationMs: { "*": 30_000 } };

/** Go on second by second until this many requests were answered; false where it came to rest before. */
async function untilAnswered(world: HostedWorld, count: number): Promise<boolean> {
  for (let second = 0; second < 240; second++) {
    if (world.armRequests().length >= count) return true;
    await world.advance(1_000);
  }
  return false;
}

async function isGone(world: HostedWorld, one: Linked): Promise<boolean> {
  return (await now(world, one)) === undefined;
}

describeHosted("the operator, started again", (start) => {
  test("after every number of requests makes the same link, and only one of each", async () => {
    const world = await start({ features: onlyLink(), simulator, stopped: true });
    for (let count = 1; ; count++) {
      const one = await linkedCluster(world, `c${count}`);
      await world.start();
      await world.mark();
      const stopped = await untilAnswered(world, count);
      await world.stop();
      await world.start();
      await ready(world, one);
      expect(natSubnets(world), `after ${count}`).toEqual([`postern-nat-${installation}-0`]);
      expect(world.azure.ids("/privatelinkservices/"), `after ${count}`).toHaveLength(1);
      await gone(world, one);
      expect(natSubnets(world), `after ${count}`).toEqual([]);
      await world.stop();
      if (!stopped) break;
      expect(count).toBeLessThan(30);
    }
  }, 240_000);

  test("after every number of requests of a deletion leaves nothing", async () => {
    const world = await start({ features: onlyLink(), simulator, stopped: true });
    for (let count = 1; ; count++) {
      const one = await linkedCluster(world, `c${count}`);
      await world.start();
      const { status } = await ready(world, one);
      const theirs = connect(world, String(status?.privateLinkServiceAlias), "theirs");
      await world.mark();
      await world.remove(one.link);
      const stopped = await untilAnswered(world, count);
      await world.stop();
      // What it served is gone too, so that nothing but the object itself can tell.
      world.azure.simulator.drop(theirs);
      await world.start();
      await world.until("the link is not gone", () => isGone(world, one));
      expect(world.azure.ids("/privatelinkservices/"), `after ${count}`).toEqual([]);
      expect(natSubnets(world), `after ${count}`).toEqual([]);
      await world.stop();
      if (!stopped) break;
      expect(count).toBeLessThan(40);
    }
  }, 240_000);
});

describeHosted("an Azure that fails", (start) => {
  test.each(["PUT", "DELETE"])(
    "loses every answer to a %s once, and the end is the same",
    async (method) => {
      const world = await start({ features: onlyLink(), simulator, stopped: true });
      for (const type of ["virtualNetworks/subnets", "privateLinkServices"])
        world.azure.simulator.addFault({
          match: { method, type: `Microsoft.Network/${type}` },
          effect: { kind: "lost", when: "after" },
          count: 1,
        });
      const one = await linkedCluster(world, "one");
      await world.start();
      await ready(world, one);
      expect(natSubnets(world)).toEqual([`postern-nat-${installation}-0`]);
      await gone(world, one);
      expect(natSubnets(world)).toEqual([]);
      expect(world.azure.ids("/privatelinkservices/")).toEqual([]);
    },
  );

  test("lacks a right until somebody gives it, and is asked no more often than it said", async () => {
    const world = await start({ features: onlyLink(), simulator, stopped: true });
    const match = { method: "PUT", type: "Microsoft.Network/privateLinkServices" };
    const error = { code: "AuthorizationFailed", message: "The client has no right." };
    const effect = { kind: "answer", status: 403, body: { error } } as const;
    const fault = world.azure.simulator.addFault({ match, effect });
    const one = await linkedCluster(world, "one");
    await world.start();
    await world.until(
      "nothing is told",
      async () =>
        world.condition(await now(world, one), conditions.link) === "False PLSCreationFailed",
    );
    await world.mark();
    await world.advance(9 * 60_000);
    expect(world.armRequests().filter(({ method }) => method === "PUT")).toEqual([]);
    world.azure.simulator.faults.remove(fault);
    await ready(world, one);
  });

  test("cannot make the service, says why, and the next try succeeds", async () => {
    const world = await start({ features: onlyLink(), simulator, stopped: true });
    const match = { method: "PUT", type: "Microsoft.Network/privateLinkServices" };
    const error = { code: "InternalServerError", message: "it broke" };
    world.azure.simulator.addFault({ match, effect: { kind: "operation", error }, count: 1 });
    const one = await linkedCluster(world, "one");
    await world.start();
    await world.until(
      "nothing is told",
      async () =>
        world.condition(await now(world, one), conditions.link) === "False PLSCreationFailed",
    );
    await ready(world, one);
  });
});

describeHosted("many clusters at once", (start) => {
  /** Requests by what they were, for so many clusters from nothing to ready. */
  async function requests(world: HostedWorld, count: number) {
    const all: Linked[] = [];
    for (let n = 0; n < count; n++) all.push(await linkedCluster(world, `c${n}`));
    await world.mark();
    await world.start();
    for (const each of all) await ready(world, each);
    const counted: Record<string, number> = {};
    for (const { method, path } of world.armRequests()) {
      const key = `${method} ${path.split("/").at(-1)}`;
      counted[key] = (counted[key] ?? 0) + 1;
    }
    return counted;
  }

  test("share their lists and the look at the network; each has one read before its write and one after", async () => {
    const world = await start({ features: onlyLink(), simulator, stopped: true });
    const counted = await requests(world, 20);
    expect(counted["PUT privateLinkServices"]).toBe(20);
    // One list, and for each a look just before the write and one when it has ended.
    expect(counted["GET privateLinkServices"]).toBeLessThanOrEqual(1 + 2 * 20);
    expect(counted["GET loadBalancers"]).toBe(1);
    expect(counted["PUT subnets"]).toBe(1);
    expect(counted["GET virtualNetworks"]).toBeLessThanOrEqual(3);

    // At rest what is read does not depend on how many there are.
    await world.mark();
    await world.advance(10 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);
    const rest = world.armRequests();
    expect(rest.filter(({ method }) => method !== "GET")).toEqual([]);
    expect(rest.length).toBeLessThanOrEqual(10);
  }, 60_000);
});

describeHosted("an object that somebody deleted by force", (start) => {
  test("leaves its service to the next of its name", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const one = await linkedCluster(world, "one");
    const { status } = await ready(world, one);
    await world.stop();
    await world.patch(one.link, { metadata: { finalizers: null } });
    await world.remove(one.link);
    const link = await world.make(linkObject(one));
    await world.start();
    const next = await ready(world, { link });
    expect(next.status?.privateLinkServiceAlias).toBe(status?.privateLinkServiceAlias);
    expect(world.azure.at(one.id)).toMatchObject({
      top: { tags: { postern_owner: expect.stringContaining(`/${link.metadata.uid}`) } },
    });
    await gone(world, { link });
    expect(world.azure.ids("/privatelinkservices/")).toEqual([]);
    expect(natSubnets(world)).toEqual([]);
  });

  test("is the only one that does: what still exists keeps its service", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const one = await linkedCluster(world, "one");
    await ready(world, one);
    const before = world.azure.at(one.id);
    await world.cluster.request("POST", "/api/v1/namespaces", { metadata: { name: "elsewhere" } });
    const bare = { metadata: { ownerReferences: [] } };
    const link = await world.make(linkObject({ ...one, namespace: "elsewhere" }, bare));
    await world.advance(5 * 60_000);
    const found = await now(world, { link });
    expect(world.condition(found, conditions.link)).toBe("False ControlPlaneNotVerified");
    await gone(world, { link });
    expect(world.azure.at(one.id)).toEqual(before);
  });
});
