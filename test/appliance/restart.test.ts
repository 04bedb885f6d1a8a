import { once } from "node:events";
import { deregisterFromBackendPool, drainInBackendPool } from "postern/appliance/deregister.ts";
import { discoverGWLBBackendPool } from "postern/appliance/discover.ts";
import { registerWithBackendPool } from "postern/appliance/register.ts";
import { expect, test } from "vitest";
import {
  type GatewayWorld,
  gatewayWorld,
  location,
  network,
  networking,
  pool,
  subnet,
  type TestAgent,
} from "./gateway-world.ts";
import { healthy, lineOf, ran, realWorld, start, wordsFor } from "./run-agent.ts";

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

type Holds = "addresses" | "interfaces";

/** A world in which an agent is stopped at its nth request: before it reaches Azure, or after it took effect there. */
async function stoppedWorld(nth: number, when: "before" | "after", holds: Holds) {
  const world = await gatewayWorld({ operationMs: { "*": 3_000 } });
  if (holds === "interfaces") world.machine("other", { pools: [pool] });
  else world.simulator.change(pool, { properties: { loadBalancerBackendAddresses: [other] } });
  const id = world.machine("fw");
  world.simulator.addFault({ match: {}, effect: { kind: "lost", when }, nth });
  const agent = await world.agent(id);
  return { world, agent, id };
}

/** Who is in the pool: addresses, or the names of the interfaces. */
function inPool({ simulator, members }: GatewayWorld, holds: Holds): string[] {
  if (holds === "addresses") return members().sort();
  return [...simulator.store.all()]
    .filter(({ type }) => /networkInterfaces$/i.test(type))
    .filter(({ properties }) => JSON.stringify(properties).includes(pool))
    .map(({ id }) => id.slice(id.lastIndexOf("/") + 1))
    .sort();
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

test.each<["before" | "after", Holds]>([
  ["before", "addresses"],
  ["after", "addresses"],
  ["before", "interfaces"],
  ["after", "interfaces"],
])(
  "an agent that is stopped at any request (%s it took effect) joins and leaves a pool of %s when it is started again",
  async (when, holds) => {
    let stops = 0;
    for (let nth = 1; ; nth++) {
      const { world, agent, id } = await stoppedWorld(nth, when, holds);
      const stopped = await runUntilStopped(world, agent);
      const hit = world.simulator.log.entries().some(({ status }) => status === 0);
      if (!hit) break;
      expect(stopped).toBe(true);
      stops++;
      const again = await world.agent(id, { seed: "again" });
      const config = await world.until(boot(again));
      const [own, others] =
        holds === "addresses" ? [config.privateIP, "10.0.15.1"] : ["fw-nic", "other-nic"];
      expect(inPool(world, holds)).toEqual([own, others].sort());
      const held = world.simulator.store.get(pool)?.properties.loadBalancerBackendAddresses;
      expect(JSON.stringify(held ?? [])).not.toContain('"Down"');
      await world.until(deregisterFromBackendPool(again.ctx, config));
      expect(inPool(world, holds)).toEqual([others]);
      await world.simulator.close();
    }
    // Machine, interface, load balancers, pool, write, looks; drain; leave, looks.
    expect(stops).toBeGreaterThanOrEqual(12);
  },
  240_000,
);

test("a machine that got the address of one that died stays in the pool when that one comes back or leaves", async () => {
  const world = await gatewayWorld();
  const { simulator } = world;
  const [dead, heir] = [world.machine("dead"), world.machine("heir")];
  const before = await world.until(boot(await world.agent(dead)));
  // The machine that died gets another address when it boots again, and the other one gets its address meanwhile.
  const nic = (name: string) => `${networking}/networkInterfaces/${name}-nic`;
  const move = (name: string, privateIPAddress: string) => {
    const properties = { primary: true, subnet, privateIPAddress };
    const ipConfigurations = [
      { name: "ip", properties: { ...properties, privateIPAllocationMethod: "Static" } },
    ];
    simulator.change(nic(name), { location, properties: { ipConfigurations } });
  };
  move("dead", "10.0.9.9");
  move("heir", before.privateIP);
  const heirAgent = await world.agent(heir);
  expect((await world.until(boot(heirAgent))).privateIP).toBe(before.privateIP);
  expect(world.members()).toEqual([before.privateIP]);

  const back = await world.agent(dead);
  const after = await world.until(boot(back));
  expect(world.members().sort()).toEqual([before.privateIP, "10.0.9.9"].sort());
  await world.until(deregisterFromBackendPool(back.ctx, after));
  expect(world.members()).toEqual([before.privateIP]);
});

test.each<["join" | "drain" | "leave", "before" | "after"]>([
  ["join", "before"],
  ["join", "after"],
  ["drain", "before"],
  ["drain", "after"],
  ["leave", "before"],
  ["leave", "after"],
])(
  "a process that is killed at the write by which it would %s (%s it took effect) is followed by one that joins and leaves",
  async (step, when) => {
    const world = await realWorld();
    const { simulator } = world;
    simulator.change(pool, { properties: { loadBalancerBackendAddresses: [other] } });
    const words = await wordsFor(world, world.machine("fw"));
    const nth = { join: 1, drain: 2, leave: 3 }[step];
    simulator.addFault({ match: { method: "PUT" }, effect: { kind: "lost", when }, nth });
    const child = start(["run", ...words, ...healthy, "--tunnel", "none"]);
    const ended = once(child, "exit");
    if (step !== "join") {
      await lineOf(child);
      child.kill("SIGTERM");
    }
    const lost = () => simulator.log.entries().some(({ status }) => status === 0);
    await expect.poll(lost, { timeout: 60_000, interval: 1 }).toBe(true);
    child.kill("SIGKILL");
    expect(await ended).toEqual([null, "SIGKILL"]);

    expect(await ran(["register", ...words])).toMatchObject({ exitCode: 0 });
    expect(world.members()).toHaveLength(2);
    const held = simulator.store.get(pool)?.properties.loadBalancerBackendAddresses;
    expect(JSON.stringify(held)).not.toContain('"Down"');
    expect(await ran(["deregister", ...words])).toMatchObject({ exitCode: 0 });
    expect(world.members()).toEqual(["10.0.15.1"]);
  },
  120_000,
);
