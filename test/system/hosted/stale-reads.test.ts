import { resourceTypes } from "@postern/azure-simulator/arm/registry.ts";
import { expect, test } from "vitest";
import { hostedClusterObject } from "./objects.ts";
import { wholeChain } from "./whole-chain.ts";
import { describeHosted, type HostedWorld } from "./world.ts";

const available = "AzurePrivateLinkServiceAvailable";
const simulator = { operationMs: { "*": 20_000 } };

/**
 * Every other read answers with the state of up to a minute ago. Not those of load balancers: they are written by the
 * stand-in for the cloud provider, which believes what it reads.
 */
function readStale({ azure }: HostedWorld, seed: number): void {
  const types = resourceTypes.map(({ type }) => type);
  for (const ms of [20_000, 59_000])
    for (const type of types.filter((each) => !/loadBalancers/i.test(each)))
      azure.simulator.addFault({
        match: { method: "GET", type },
        effect: { kind: "stale", ms },
        probability: 0.3,
        seed: `${seed} ${ms} ${type}`,
      });
}

describeHosted("reads that are stale by up to a minute", (start) => {
  for (const restarts of [false, true])
    for (const seconds of [5, 25, 45, 70, 95])
      test(`leave nothing of a cluster that is deleted ${seconds} s after its creation${restarts ? ", while the operator restarts" : ""}`, async () => {
        const world = await start({ features: wholeChain, simulator });
        const before = world.azure.ids();
        await world.cluster.request("POST", "/api/v1/namespaces", {
          metadata: { name: "clusters" },
        });
        const gone = async () => (await world.list("HostedCluster")).length === 0;
        // Faults on from the beginning: what is created is not to be read yet when it is deleted.
        readStale(world, seconds);
        const first = await world.make(hostedClusterObject("clusters", "one"));
        await world.advance(seconds * 1000);
        if (restarts) await world.stop();
        await world.remove(first);
        if (restarts) await world.start();
        await world.until("the cluster is gone", gone, 60);
        world.azure.simulator.faults.clear();
        await world.advance(60_000);
        expect(world.azure.ids()).toEqual(before);

        // Nothing ends Namespaces on the real API server here, and the successor needs the same one.
        const namespace = await world.cluster.request("GET", "/api/v1/namespaces/clusters-one");
        if (namespace.status !== 404) return;
        // By the same name, with a clusterID of its own.
        const second = await world.make(hostedClusterObject("clusters", "one"));
        const isAvailable = async () => {
          const now = await world.get("HostedCluster", "clusters", second.metadata.name);
          return world.condition(now, available) === "True AzureSuccess";
        };
        await world.until("its successor is available", isAvailable, 20);
      });
});
