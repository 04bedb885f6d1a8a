import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { hostedClusterObject } from "./objects.ts";
import { wholeChain } from "./whole-chain.ts";
import { describeHosted, type HostedWorld } from "./world.ts";

/** As Azure refuses: every answer has other numbers and another time in it. */
function refusal(at: number) {
  const time = new Date(Date.UTC(2026, 0, 1) + at * 61_000).toISOString();
  const message = `The client '33333333-3333-4333-8333-333333333333' does not have authorization to perform action 'write' over scope '/y' or the scope is invalid. Trace ID: ${randomUUID()} Correlation ID: ${randomUUID()} Timestamp: ${time} (${randomUUID()}) See https://aka.ms/x?id=${randomUUID()}`;
  return {
    kind: "answer" as const,
    status: 403,
    headers: { "x-ms-request-id": randomUUID(), "x-ms-correlation-request-id": randomUUID() },
    body: { error: { code: "AuthorizationFailed", message } },
  };
}

function refuse(world: HostedWorld, method: string, type: string): void {
  const match = { method, type: `Microsoft.Network/${type}` };
  for (let at = 0; at < 300; at++)
    world.azure.simulator.addFault({ match, effect: refusal(at), count: 1 });
}

describeHosted("a 403 that lasts", (start) => {
  test.each([
    ["PUT", "privateLinkServices"],
    ["GET", "privateLinkServices"],
    ["PUT", "privateEndpoints"],
    ["GET", "privateEndpoints"],
    ["PUT", "privateDnsZones"],
    ["GET", "privateDnsZones"],
    ["PUT", "privateDnsZones/virtualNetworkLinks"],
    ["PUT", "privateDnsZones/A"],
    ["PUT", "virtualNetworks/subnets"],
  ])("on %s of %s has one message, and nothing is written at rest", async (method, type) => {
    const world = await start({ features: wholeChain });
    refuse(world, method, type);
    await world.cluster.request("POST", "/api/v1/namespaces", { metadata: { name: "clusters" } });
    await world.make(hostedClusterObject("clusters", "one"));
    await world.advance(30 * 60_000);
    const messages = async () => {
      const cluster = await world.get("HostedCluster", "clusters", "one");
      return cluster?.status?.conditions?.map((each) => each.message) ?? [];
    };
    const before = await messages();
    expect(before.join()).toContain("AuthorizationFailed");
    await world.mark();
    await world.advance(60 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);
    expect(await messages()).toEqual(before);
  });

  test.each(["privateLinkServices", "privateEndpoints", "privateDnsZones"])(
    "on the deletion of %s has one message, and nothing is written at rest",
    async (type) => {
      const world = await start({ features: wholeChain });
      await world.cluster.request("POST", "/api/v1/namespaces", { metadata: { name: "clusters" } });
      const cluster = await world.make(hostedClusterObject("clusters", "one"));
      const state = async () => {
        const found = await world.get("HostedCluster", "clusters", "one");
        return world.condition(found, "AzurePrivateLinkServiceAvailable");
      };
      await world.until("it is not available", async () => (await state()) === "True AzureSuccess");
      refuse(world, "DELETE", type);
      await world.remove(cluster);
      await world.advance(30 * 60_000);
      await world.mark();
      await world.advance(60 * 60_000);
      expect(await world.kubeWrites()).toEqual([]);
      expect(await world.get("HostedCluster", "clusters", "one")).toBeDefined();
    },
  );
});
