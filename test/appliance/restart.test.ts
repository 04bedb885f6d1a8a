import { expect, test } from "vitest";
import { deregisterFromBackendPool, drainInBackendPool } from "../../src/appliance/deregister.ts";
import { discoverGWLBBackendPool } from "../../src/appliance/discover.ts";
import { registerWithBackendPool } from "../../src/appliance/register.ts";
import { type GatewayWorld, gatewayWorld, network, pool, type TestAgent } from "./gateway-world.ts";

/** An entry of somebody else, which must stay whatever happens to the agent. */
const other = {
  name: "other",
  properties: { ipAddress: "10.0.15.1", virtualNetwork: { id: network } },
};

async function boot({ ctx }: TestAgent) {
  const config = await discoverGWLBBackendPool(ctx, "inspect");
  await registerWithBackendPool(ctx, config);
  return config;
}

/** From the start to the end, all that an agent does. */
async function live(agent: TestAgent): Promise<void> {
  const config = await boot(agent);
  await drainInBackendPool(agent.ctx, config);
  await deregisterFromBackendPool(agent.ctx, config);
}

/** A world in which an agent is stopped at its nth request: before it reaches Azure, or after it took effect there. */
async function stoppedWorld(nth: number, when: "before" | "after") {
  const world = await gatewayWorld({ operationMs: { "*": 3_000 } });
  world.simulator.change(pool, { properties: { loadBalancerBackendAddresses: [other] } });
  const id = world.machine("fw");
  world.simulator.addFault({ match: {}, effect: { kind: "lost", when }, nth });
  const agent = await world.agent(id);
  return { world, agent, id };
}

/** Stops the agent as soon as its request was lost: it learns nothing of it, as where its process was killed. */
async function runUntilStopped(world: GatewayWorld, agent: TestAgent): Promise<boolean> {
  const { log } = world.simulator;
  const ended = live(agent).then(
    () => "ended",
    () => "stopped",
  );
  const watch = setInterval(() => {
    if (log.entries().some(({ status }) => status === 0)) agent.stop();
  }, 0);
  const how = await world.until(ended);
  clearInterval(watch);
  return how === "stopped";
}

test.each(["before", "after"] as const)(
  "an agent that is stopped at any request (%s it took effect) joins and leaves when it is started again",
  async (when) => {
    let stops = 0;
    for (let nth = 1; ; nth++) {
      const { world, agent, id } = await stoppedWorld(nth, when);
      const stopped = await runUntilStopped(world, agent);
      const hit = world.simulator.log.entries().some(({ status }) => status === 0);
      if (!hit) break;
      expect(stopped).toBe(true);
      stops++;
      const again = await world.agent(id, { seed: "again" });
      const config = await world.until(boot(again));
      expect(world.members().sort()).toEqual([config.privateIP, "10.0.15.1"].sort());
      const held = world.simulator.store.get(pool)?.properties.loadBalancerBackendAddresses;
      expect(JSON.stringify(held)).not.toContain('"Down"');
      await world.until(deregisterFromBackendPool(again.ctx, config));
      expect(world.members()).toEqual(["10.0.15.1"]);
      await world.simulator.close();
    }
    // Machine, interface, load balancers, pool, write, looks; drain; leave, looks.
    expect(stops).toBeGreaterThanOrEqual(12);
  },
  120_000,
);
