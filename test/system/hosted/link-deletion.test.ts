import { annotations, conditions, endpointFinalizer } from "postern/hosted/names.ts";
import { expect, test } from "vitest";
import {
  connect,
  gone,
  linkedCluster,
  natSubnets,
  now,
  onlyLink,
  properties,
  ready,
} from "./link-world.ts";
import { describeHosted, type HostedWorld, type Thing } from "./world.ts";

const simulator = { operationMs: { "*": 30_000 } };
const services = (world: HostedWorld) => world.azure.ids("/privatelinkservices/");

/** The connection state that an endpoint shows. */
function stateOf(world: HostedWorld, id: string): string {
  return JSON.stringify(properties(world, id).manualPrivateLinkServiceConnections ?? "");
}

describeHosted("a link that is deleted", (start) => {
  test("goes although its cluster is paused", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const one = await linkedCluster(world, "one");
    await ready(world, one);
    await world.patch(one.cluster, { spec: { pausedUntil: "true" } });
    await gone(world, one);
    expect(services(world)).toEqual([]);
    expect(natSubnets(world)).toEqual([]);
  });

  test("goes although its cluster is gone", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const one = await linkedCluster(world, "one");
    await ready(world, one);
    await world.remove(one.cluster);
    await world.settled();
    const told = await now(world, one);
    expect(world.condition(told, conditions.link)).toBe("False HostedClusterNotFound");
    expect(told?.status?.privateLinkServiceAlias).toBeDefined();
    await gone(world, one);
    expect(services(world)).toEqual([]);
    expect(natSubnets(world)).toEqual([]);
  });

  test("deletes a link service whose id never reached the status, by name and by tag: it is not orphaned", async () => {
    const world = await start({ features: onlyLink(), simulator });
    for (const name of ["with", "without"]) {
      const one = await linkedCluster(world, name);
      await world.until("nothing is being made", () => services(world).length > 0);
      // A new process that knows nothing, while the service is still being made.
      await world.stop();
      if (name === "without") await world.remove(one.cluster);
      await world.remove(one.link);
      await world.start();
      await world.until("the link is not gone", async () => (await now(world, one)) === undefined);
      expect(services(world)).toEqual([]);
      expect(natSubnets(world)).toEqual([]);
    }
  });

  test("takes away what is just being made although its cluster is gone and its status says nothing", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const first = await linkedCluster(world, "first");
    await ready(world, first);
    // A new process has listed the services a moment before it makes another one.
    await world.stop();
    const one = await linkedCluster(world, "one");
    await world.start();
    await world.until("nothing is being made", () => services(world).length > 1);
    await world.remove(one.cluster);
    await gone(world, one);
    expect(services(world)).toEqual([first.id.toLowerCase()]);
  });

  test.each([true, false])(
    "rejects the endpoints of others, then removes their connections, so that it always ends (rejected ones hold it: %s)",
    async (rejectedConnectionsHoldServices) => {
      const switches = { rejectedConnectionsHoldServices };
      const world = await start({ features: onlyLink(), simulator: { ...simulator, switches } });
      const one = await linkedCluster(world, "one");
      const { status } = await ready(world, one);
      const alias = String(status?.privateLinkServiceAlias);
      const endpoints = ["their-a", "their-b"].map((name) => connect(world, alias, name));
      await world.mark();
      await gone(world, one);
      expect(services(world)).toEqual([]);
      for (const id of endpoints) expect(world.azure.at(id)).toBeDefined();
      const writes = world.armRequests().filter(({ method }) => method !== "GET");
      expect(writes.map(({ method, path }) => `${method} ${path.split("/").at(-1)}`)).toEqual([
        "PUT privateEndpointConnections",
        "PUT privateEndpointConnections",
        "DELETE privateEndpointConnections",
        "DELETE privateEndpointConnections",
        "DELETE privateLinkServices",
        "DELETE subnets",
      ]);
    },
  );

  test("waits for the owners of other endpoints where the policy says so, until it says otherwise", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const shape = { annotations: { [annotations.foreignEndpoints]: "refuse" } };
    const one = await linkedCluster(world, "one", { shape });
    const { status } = await ready(world, one);
    const theirs = connect(world, String(status?.privateLinkServiceAlias), "theirs");
    await world.remove(one.link);
    await world.advance(10 * 60_000);
    const told = await now(world, one);
    expect(world.condition(told, conditions.link)).toBe("False ForeignEndpointsConnected");
    expect(
      told?.status?.conditions?.find(({ type }) => type === conditions.link)?.message,
    ).toContain(theirs);
    expect(services(world)).not.toEqual([]);
    // The object's own word goes before that of the cluster.
    await world.patch(told as Thing, {
      metadata: { annotations: { [annotations.foreignEndpoints]: "disconnect" } },
    });
    await world.until("the link is not gone", async () => (await now(world, one)) === undefined);
    expect(services(world)).toEqual([]);
  });

  test("gives the guest side two minutes to delete its endpoint itself", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const metadata = { finalizers: [endpointFinalizer] };
    const one = await linkedCluster(world, "one", { metadata });
    const { status } = await ready(world, one);
    const endpoint = connect(world, String(status?.privateLinkServiceAlias));
    await world.remove(one.link);
    await world.advance(100_000);
    expect(stateOf(world, endpoint)).not.toContain("Rejected");
    expect(services(world)).not.toEqual([]);
    await world.advance(5 * 60_000);
    expect(services(world)).toEqual([]);
    // Ours is off; the guest side's holds the object.
    expect((await now(world, one))?.metadata.finalizers).toEqual([endpointFinalizer]);
  });

  test("has Azure's refusal in its condition, and is deleted when the role is granted", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const one = await linkedCluster(world, "one");
    await ready(world, one);
    const match = { method: "DELETE", type: "Microsoft.Network/virtualNetworks/subnets" };
    const error = { code: "AuthorizationFailed", message: "no right" };
    const effect = { kind: "answer", status: 403, body: { error } } as const;
    const fault = world.azure.simulator.addFault({ match, effect });
    await world.remove(one.link);
    await world.advance(3 * 60_000);
    const told = await now(world, one);
    expect(world.condition(told, conditions.link)).toBe("False NATSubnetDeletionFailed");
    world.azure.simulator.faults.remove(fault);
    await world.until("the link is not gone", async () => (await now(world, one)) === undefined);
    expect(natSubnets(world)).toEqual([]);
  });
});

describeHosted("a paused cluster", (start) => {
  test("is left alone, and reconciled at once when the pause ends", async () => {
    const world = await start({ features: onlyLink() });
    const one = await linkedCluster(world, "one", { shape: { pausedUntil: "true" } });
    await world.advance(30 * 60_000);
    expect(world.armRequests()).toEqual([]);
    expect(world.condition(await now(world, one), conditions.link)).toBe("False Paused");
    await world.patch(one.cluster, { spec: { pausedUntil: "false" } });
    await world.settled();
    expect(world.armRequests().map(({ method }) => method)).toContain("PUT");
    await ready(world, one);
  });

  test("for a time goes on when that is over", async () => {
    const world = await start({ features: onlyLink() });
    const pausedUntil = `${new Date(world.clock.now() + 600_000).toISOString().slice(0, 19)}Z`;
    await linkedCluster(world, "one", { shape: { pausedUntil } });
    await world.advance(590_000);
    expect(world.armRequests()).toEqual([]);
    await world.advance(20_000);
    expect(world.armRequests().map(({ method }) => method)).toContain("PUT");
  });
});
