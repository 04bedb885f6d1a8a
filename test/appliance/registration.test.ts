import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { deregisterFromBackendPool, drainInBackendPool } from "postern/appliance/deregister.ts";
import { discoverGWLBBackendPool } from "postern/appliance/discover.ts";
import type { GWLBConfig } from "postern/appliance/gwlb-config.ts";
import {
  isRegisteredWithBackendPool,
  type RegisterOptions,
  registerWithBackendPool,
} from "postern/appliance/register.ts";
import { watchRegistration } from "postern/appliance/watch.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  balancer,
  type GatewayWorld,
  gatewayBody,
  gatewayWorld,
  network,
  networking,
  pool,
  subscription,
  type TestAgent,
} from "./gateway-world.ts";

/** From the start of an agent to its registration. */
async function boot({ ctx }: TestAgent, options: RegisterOptions = {}) {
  const config = await discoverGWLBBackendPool(ctx, "inspect");
  return { config, registration: await registerWithBackendPool(ctx, config, options) };
}

function writes({ simulator }: GatewayWorld): string[] {
  return simulator.log
    .entries()
    .filter(({ method }) => method !== "GET")
    .map(({ path }) => path.slice(path.lastIndexOf("/") + 1));
}

function poolsOf({ simulator }: GatewayWorld, nic: string): unknown {
  const { ipConfigurations } = simulator.store.get(nic)?.properties ?? {};
  const [first] = ipConfigurations as { properties: JsonObject }[];
  return first?.properties.loadBalancerBackendAddressPools;
}

async function failure(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    (value) => `no error but ${JSON.stringify(value)}`,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

test.each(["plain", "Uniform", "Flexible"] as const)(
  "a machine (%s) is found, joins by its address in nine requests at most, and leaves",
  async (kind) => {
    const world = await gatewayWorld({ operationMs: { "*": 10_000 } });
    const id = kind === "plain" ? world.machine("fw") : world.scaleSet("ss", kind, 2)[1];
    const agent = await world.agent(id ?? "");
    const { ctx, metrics } = agent;
    const { config, registration } = await world.until(boot(agent));
    const asked = world.simulator.log.entries().length;
    expect(asked).toBeLessThanOrEqual(9);
    expect(config).toMatchObject({
      subscriptionId: subscription,
      resourceGroup: "rg",
      location: "westeurope",
      resourceId: id,
      vnetResourceId: network,
      loadBalancerName: "gw",
      loadBalancerResourceId: balancer,
      backendPoolName: "inspect",
      backendPoolResourceId: pool,
      tunnels: [{ type: "Internal", port: 10800, identifier: 900 }],
      tunnelsAssumed: false,
      probe: { protocol: "Http", port: 8080, path: "/healthz", intervalSeconds: 5, threshold: 2 },
    });
    expect(registration).toMatchObject({ by: "address", wrote: true, settled: true, retries: 0 });
    expect(world.members()).toEqual([config.privateIP]);
    expect(metrics.text()).toContain("postern_agent_registered 1\n");

    expect(await world.until(isRegisteredWithBackendPool(ctx, config))).toBe(true);
    expect(await world.until(registerWithBackendPool(ctx, config))).toMatchObject({ wrote: false });
    const left = await world.until(deregisterFromBackendPool(ctx, config));
    expect(left.state).toBe("left");
    expect(left.seconds).toBeLessThanOrEqual(20);
    expect(world.members()).toEqual([]);
    expect(writes(world)).toEqual(["inspect", "inspect"]);
    expect(metrics.text()).toContain("postern_agent_registered 0\n");
    expect(await world.until(deregisterFromBackendPool(ctx, config))).toMatchObject({
      state: "absent",
    });
  },
);

test("nine requests are enough even where the pool takes a quarter of a minute", async () => {
  const world = await gatewayWorld({ operationMs: { "*": 14_000 } });
  const { registration } = await world.until(boot(await world.agent(world.machine("fw"))));
  expect(registration.seconds).toBeGreaterThan(14);
  expect(world.simulator.log.entries().length).toBe(9);
});

describe("a pool of interfaces", () => {
  test.each(["plain", "Uniform"] as const)(
    "has a machine (%s) that was put there by its interface, and nothing is written",
    async (kind) => {
      const world = await gatewayWorld();
      const id =
        kind === "plain"
          ? world.machine("fw", { pools: [pool] })
          : world.scaleSet("ss", kind, 1, [pool])[0];
      const agent = await world.agent(id ?? "");
      const { config, registration } = await world.until(boot(agent));
      expect(registration).toMatchObject({ by: "interface", wrote: false });
      // Who did not put it there does not take it away.
      const left = await world.until(deregisterFromBackendPool(agent.ctx, config));
      expect(left.state).toBe("kept");
      expect(writes(world)).toEqual([]);
    },
  );

  test.each(["plain", "Flexible"] as const)(
    "is joined by the interface of a machine (%s), and left again",
    async (kind) => {
      const world = await gatewayWorld();
      world.machine("other", { pools: [pool] });
      const id = kind === "plain" ? world.machine("fw") : world.scaleSet("ss", kind, 1)[0];
      const agent = await world.agent(id ?? "");
      const { config, registration } = await world.until(boot(agent));
      expect(registration).toMatchObject({ by: "interface", wrote: true });
      expect(poolsOf(world, config.nicResourceId)).toEqual([{ id: pool }]);
      const other = `${networking}/networkInterfaces/other-nic`;
      expect(poolsOf(world, other)).toEqual([{ id: pool }]);

      // Another agent of the same machine, after a restart, knows it for its own.
      const again = await world.agent(id ?? "");
      const left = await world.until(deregisterFromBackendPool(again.ctx, config));
      expect(left.state).toBe("left");
      expect(poolsOf(world, config.nicResourceId) ?? []).toEqual([]);
      expect(poolsOf(world, other)).toEqual([{ id: pool }]);
      expect(world.simulator.store.get(config.nicResourceId)?.top.tags ?? {}).toEqual({});
    },
  );

  test("of the same name as another that the agent joined is not left where somebody else put the machine there", async () => {
    const world = await gatewayWorld();
    const twin = `${networking}/loadBalancers/twin`;
    world.simulator.change(twin, gatewayBody({}, twin));
    world.machine("other", { pools: [pool] });
    const agent = await world.agent(
      world.machine("fw", { pools: [`${twin}/backendAddressPools/inspect`] }),
    );
    const { ctx } = agent;
    const [own, others] = await world.until(
      Promise.all(
        [balancer, twin].map((loadBalancer) =>
          discoverGWLBBackendPool(ctx, "inspect", { loadBalancer }),
        ),
      ),
    );
    await world.until(registerWithBackendPool(ctx, own as GWLBConfig));
    const left = await world.until(deregisterFromBackendPool(ctx, others as GWLBConfig));
    expect(left.state).toBe("kept");
    const named = poolsOf(world, own?.nicResourceId ?? "") as { id: string }[];
    expect(named.map(({ id }) => id).sort()).toEqual(
      [pool, `${twin}/backendAddressPools/inspect`].sort(),
    );
    await world.until(deregisterFromBackendPool(ctx, own as GWLBConfig));
    expect(poolsOf(world, own?.nicResourceId ?? "")).toEqual([
      { id: `${twin}/backendAddressPools/inspect` },
    ]);
  });

  test("that is read as it was for half a minute is joined and left by one write each, with pauses", async () => {
    const world = await gatewayWorld();
    world.machine("other", { pools: [pool] });
    const agent = await world.agent(world.machine("fw"));
    const { ctx, metrics } = agent;
    const config = await world.until(discoverGWLBBackendPool(ctx, "inspect"));
    // Reads are of the world as it was; an interface is read at once.
    const type = "Microsoft.Network/loadBalancers/backendAddressPools";
    const late = { match: { method: "GET", type }, effect: { kind: "stale", ms: 30_000 } } as const;
    await world.simulator.advance(60_000);
    world.simulator.addFault(late);
    const before = world.simulator.log.entries().length;
    const made = await world.until(registerWithBackendPool(ctx, config));
    expect(made).toMatchObject({ by: "interface", wrote: true });
    expect(made.seconds).toBeGreaterThanOrEqual(30);
    expect(writes(world)).toEqual(["fw-nic"]);
    expect(world.simulator.log.entries().length - before).toBeLessThan(20);

    await world.simulator.advance(60_000);
    const left = await world.until(deregisterFromBackendPool(ctx, config));
    expect(left.state).toBe("left");
    expect(metrics.text()).toContain("postern_agent_registered 0\n");
    expect(writes(world)).toEqual(["fw-nic", "fw-nic"]);
    expect(poolsOf(world, config.nicResourceId) ?? []).toEqual([]);
  });

  test("cannot be joined by an instance of a uniform scale set, and that is said", async () => {
    const world = await gatewayWorld();
    world.machine("other", { pools: [pool] });
    const [id = ""] = world.scaleSet("ss", "Uniform", 1);
    const message = await world.until(failure(boot(await world.agent(id))));
    expect(message).toContain("(InterfaceNotChangeable)");
    expect(message).toContain("add the pool to the network profile of the scale set");
    expect(writes(world)).toEqual([]);
  });

  test("is refused where the agent may join by address only", async () => {
    const world = await gatewayWorld();
    world.machine("other", { pools: [pool] });
    const agent = await world.agent(world.machine("fw"));
    const message = await world.until(failure(boot(agent, { joinBy: "address" })));
    expect(message).toContain("(PoolHoldsInterfaces)");
    expect(writes(world)).toEqual([]);
  });
});

describe("a Gateway pool that refuses members by address", () => {
  const switches = { gatewayPoolsTakeAddresses: false };

  test("is joined by the interface", async () => {
    const world = await gatewayWorld({ switches });
    const agent = await world.agent(world.machine("fw"));
    const { config, registration } = await world.until(boot(agent));
    expect(registration).toMatchObject({ by: "interface", wrote: true });
    expect(poolsOf(world, config.nicResourceId)).toEqual([{ id: pool }]);
  });

  test("is a clear error for an instance of a uniform scale set", async () => {
    const world = await gatewayWorld({ switches });
    const [id = ""] = world.scaleSet("ss", "Uniform", 1);
    const message = await world.until(failure(boot(await world.agent(id))));
    expect(message).toContain("(AddressesRefused)");
    expect(world.members()).toEqual([]);
  });

  test("is a clear error where the agent may join by address only", async () => {
    const world = await gatewayWorld({ switches });
    const agent = await world.agent(world.machine("fw"));
    const message = await world.until(failure(boot(agent, { joinBy: "address" })));
    expect(message).toContain("(AddressesRefused)");
  });
});

describe("what comes late", () => {
  test("a metadata service that starts a minute later is waited for", async () => {
    const world = await gatewayWorld();
    const id = world.machine("fw");
    (await world.simulator.machines.find(id))?.fail(503, 60_000);
    const agent = await world.agent(id);
    const { registration } = await world.until(boot(agent));
    expect(registration.wrote).toBe(true);
    expect(agent.metrics.text()).toMatch(/imds_errors_total\{status="503"\} [5-9]\n/);
  });

  test("a metadata service to which nobody can connect for half a minute is waited for", async () => {
    const world = await gatewayWorld();
    const id = world.machine("fw");
    const imds = await world.simulator.machines.find(id);
    const late = createServer(async (request, response) => {
      const headers = { metadata: "true" };
      const answer = await fetch(new URL(request.url ?? "", imds?.url), { headers });
      response.writeHead(answer.status).end(await answer.text());
    });
    onTestFinished(() => void late.close());
    const listen = (port: number) =>
      new Promise<number>((resolve) =>
        late.listen(port, "127.0.0.1", () => resolve((late.address() as AddressInfo).port)),
      );
    // The port is known before anybody listens there.
    const port = await listen(0);
    await new Promise((resolve) => late.close(resolve));
    const agent = await world.agent(id, { imdsHost: `http://127.0.0.1:${port}` });
    world.clock.after(30_000, () => void listen(port));
    const { registration } = await world.until(boot(agent));
    expect(registration.wrote).toBe(true);
    expect(agent.metrics.text()).toMatch(/imds_errors_total\{status="none"\} [1-9]/);
  });

  test("a token that comes later is waited for, and counted with the metadata service", async () => {
    const world = await gatewayWorld();
    const id = world.machine("fw");
    const { config } = await world.until(boot(await world.agent(id)));
    const again = await world.agent(id);
    (await world.simulator.machines.find(id))?.fail(503, 2_000);
    expect(await world.until(isRegisteredWithBackendPool(again.ctx, config))).toBe(true);
    expect(again.metrics.text()).toMatch(/imds_errors_total\{status="503"\} [1-3]\n/);
  });

  test("a role that counts a minute later is waited for", async () => {
    const world = await gatewayWorld();
    const id = world.machine("fw", { role: false });
    const agent = await world.agent(id);
    world.clock.after(60_000, () => world.allow(id));
    const { registration } = await world.until(boot(agent));
    expect(registration.wrote).toBe(true);
    expect(agent.metrics.text()).toContain('{what="discover",code="AuthorizationFailed"}');
  });

  test("a role that never comes is reported with the action that it lacks, and in two minutes", async () => {
    const world = await gatewayWorld();
    const agent = await world.agent(world.machine("fw", { role: false }));
    const startedAt = world.clock.now();
    const message = await world.until(failure(boot(agent)));
    expect(message).toContain("AuthorizationFailed");
    expect(message).toContain("Microsoft.Compute/virtualMachines/read");
    expect(world.clock.now() - startedAt).toBeLessThanOrEqual(121_000);
  });

  test("a role without the right to write is reported by the registration", async () => {
    const actions = ["*/read"];
    const world = await gatewayWorld({ actions });
    const message = await world.until(failure(boot(await world.agent(world.machine("fw")))));
    expect(message).toContain("(RegistrationTimedOut)");
    expect(message).toContain("Microsoft.Network/loadBalancers/backendAddressPools/write");
    expect(world.members()).toEqual([]);
  });
});

describe("bad input", () => {
  test.each(["", "  "])(
    "an empty pool name (%j) is refused before anything is asked",
    async (name) => {
      const world = await gatewayWorld();
      const { ctx } = await world.agent(world.machine("fw"));
      const message = await failure(discoverGWLBBackendPool(ctx, name));
      expect(message).toContain("(PoolNameMissing)");
      expect(world.simulator.log.entries()).toEqual([]);
    },
  );

  test("the identity of another machine is refused", async () => {
    const world = await gatewayWorld();
    const id = world.machine("fw");
    const agent = await world.agent(id);
    const metadata = { vmId: "00000000-0000-4000-8000-000000000000" };
    const told = { compute: { ...metadata, resourceId: id, subscriptionId: "s" } };
    const imds = { ...agent.ctx.imds, ask: () => Promise.resolve(told) };
    const message = await world.until(
      failure(discoverGWLBBackendPool({ ...agent.ctx, imds }, "inspect")),
    );
    expect(message).toContain("(MachineDiffers)");
    expect(writes(world)).toEqual([]);
  });

  test("a load balancer in another group is found by its name, and not without", async () => {
    const world = await gatewayWorld();
    const elsewhere = `/subscriptions/${subscription}/resourceGroups/other`;
    world.simulator.change(elsewhere, { location: "westeurope" });
    const { ctx } = await world.agent(world.machine("fw"));
    const options = { resourceGroup: "other", patienceMs: 1_000 };
    const message = await world.until(failure(discoverGWLBBackendPool(ctx, "inspect", options)));
    expect(message).toContain("AuthorizationFailed");
    const found = await world.until(
      discoverGWLBBackendPool(ctx, "inspect", { ...options, loadBalancer: balancer }),
    );
    expect(found.loadBalancerResourceId).toBe(balancer);
    const none = await world.until(
      failure(discoverGWLBBackendPool(ctx, "inspect", { loadBalancer: "none" })),
    );
    expect(none).toContain(
      '"none" is not in resource group rg, which has gw (Gateway) (LoadBalancerNotFound)',
    );
  });
});

test.each([{}, { loadBalancer: "gw" }])(
  "a resource group that does not exist is told of as that (%j)",
  async (more) => {
    const world = await gatewayWorld();
    const id = world.machine("fw");
    const identity = world.simulator.store.get(id)?.top.identity as { principalId: string };
    const authorization = `/subscriptions/${subscription}/providers/Microsoft.Authorization`;
    const reader = "acdd72a7-3385-48ef-bd42-f606fba81ae7";
    world.simulator.change(`${authorization}/roleAssignments/${subscription}`, {
      properties: {
        roleDefinitionId: `${authorization}/roleDefinitions/${reader}`,
        principalId: identity.principalId,
      },
    });
    const { ctx } = await world.agent(id);
    const options = { resourceGroup: "nowhere", ...more };
    const message = await world.until(failure(discoverGWLBBackendPool(ctx, "inspect", options)));
    expect(message).toContain("ResourceGroupNotFound");
  },
);

describe("leaving", () => {
  async function joined(): Promise<{ world: GatewayWorld; agent: TestAgent; config: GWLBConfig }> {
    const world = await gatewayWorld();
    const agent = await world.agent(world.machine("fw"));
    return { world, agent, ...(await world.until(boot(agent))) };
  }

  const stateOf = ({ simulator }: GatewayWorld) => {
    const { loadBalancerBackendAddresses } = simulator.store.get(pool)?.properties ?? {};
    const [only] = loadBalancerBackendAddresses as { properties: JsonObject }[];
    return only?.properties.adminState;
  };

  test("begins with a drain, and a machine that starts again takes connections again", async () => {
    const { world, agent, config } = await joined();
    expect(await world.until(drainInBackendPool(agent.ctx, config))).toBe(true);
    expect(stateOf(world)).toBe("Down");
    expect(await world.until(drainInBackendPool(agent.ctx, config))).toBe(false);
    const again = await world.agent(config.resourceId);
    const { registration } = await world.until(boot(again));
    expect(registration.wrote).toBe(true);
    expect(stateOf(world)).toBe("None");
    expect(world.members()).toEqual([config.privateIP]);
  });

  test("leaves an entry in the pool that somebody else made for the machine, as it is", async () => {
    const world = await gatewayWorld();
    const agent = await world.agent(world.machine("fw"));
    const { ctx, metrics } = agent;
    const config = await world.until(discoverGWLBBackendPool(ctx, "inspect"));
    const by = { ipAddress: config.privateIP, virtualNetwork: { id: network } };
    const entries = [{ name: "by-terraform", properties: { ...by, adminState: "Down" } }];
    world.simulator.change(pool, { properties: { loadBalancerBackendAddresses: entries } });
    const made = await world.until(registerWithBackendPool(ctx, config));
    expect(made).toMatchObject({ by: "address", wrote: false });
    expect(await world.until(drainInBackendPool(ctx, config))).toBe(false);
    const left = await world.until(deregisterFromBackendPool(ctx, config));
    expect(left.state).toBe("kept");
    expect(metrics.text()).toContain("postern_agent_registered 1\n");
    expect(writes(world)).toEqual([]);
    expect(stateOf(world)).toBe("Down");
  });

  test("does not depend on a drain that is refused", async () => {
    const { world, agent, config } = await joined();
    const body = { error: { code: "AdminStateNotSupported", message: "not here" } };
    const fault = {
      match: { method: "PUT" },
      effect: { kind: "answer", status: 400, body },
    } as const;
    const id = world.simulator.addFault(fault);
    expect(await world.until(drainInBackendPool(agent.ctx, config))).toBe(false);
    world.simulator.faults.remove(id);
    await world.until(deregisterFromBackendPool(agent.ctx, config));
    expect(world.members()).toEqual([]);
  });

  test("ends after 20 s where Azure does not let it, with what it said", async () => {
    const { world, agent, config } = await joined();
    const body = { error: { code: "InternalServerError", message: "no" } };
    world.simulator.addFault({ match: {}, effect: { kind: "answer", status: 500, body } });
    const startedAt = world.clock.now();
    const message = await world.until(failure(deregisterFromBackendPool(agent.ctx, config)));
    expect(message).toContain("(DeregistrationTimedOut)");
    expect(message).toContain("InternalServerError");
    expect(world.clock.now() - startedAt).toBeLessThanOrEqual(20_500);
  });
});

describe("writes that come to nothing", () => {
  test("an operation that fails is written again", async () => {
    const world = await gatewayWorld({ operationMs: { "*": 2_000 } });
    world.simulator.addFault({
      match: { method: "PUT" },
      effect: { kind: "operation", ms: 2_000, error: { code: "Broken", message: "it broke" } },
      count: 1,
    });
    const agent = await world.agent(world.machine("fw"));
    const { registration, config } = await world.until(boot(agent));
    expect(registration).toMatchObject({ settled: true, retries: 1 });
    expect(world.members()).toEqual([config.privateIP]);
    expect(agent.metrics.text()).toContain('{what="register",code="Broken"} 1');
  });

  test("an operation that another's took the place of is no failure", async () => {
    const world = await gatewayWorld({ operationMs: { "*": 5_000 } });
    const agents = [await world.agent(world.machine("a")), await world.agent(world.machine("b"))];
    const both = await world.until(Promise.all(agents.map((each) => boot(each))));
    expect(both.map(({ registration }) => registration.settled)).toEqual([true, true]);
    expect(world.members()).toHaveLength(2);
  });

  test("an answer that is lost after the write is no reason to write again", async () => {
    const world = await gatewayWorld();
    world.simulator.addFault({
      match: { method: "PUT" },
      effect: { kind: "lost", when: "after" },
      count: 1,
    });
    const { registration } = await world.until(boot(await world.agent(world.machine("fw"))));
    expect(registration.wrote).toBe(true);
    expect(writes(world)).toEqual(["inspect"]);
    expect(world.members()).toHaveLength(1);
  });
});

test("a pool at which Azure works for ever is joined all the same once the entry has stayed", async () => {
  const world = await gatewayWorld();
  const never = { kind: "operation", never: true } as const;
  world.simulator.addFault({ match: { method: "PUT" }, effect: never });
  const agent = await world.agent(world.machine("fw"));
  const { config, registration } = await world.until(boot(agent));
  expect(registration).toMatchObject({ wrote: true, settled: false });
  expect(registration.seconds).toBeLessThan(60);
  const short = await world.until(registerWithBackendPool(agent.ctx, config, { limitMs: 3_000 }));
  expect(short).toMatchObject({ wrote: false, settled: false });
  const left = await world.until(deregisterFromBackendPool(agent.ctx, config));
  expect(left.state).toBe("left");
  expect(left.seconds).toBeLessThan(20);
  expect(world.members()).toEqual([]);
});

test("an Azure that never answers is reported as that, in the time allowed", async () => {
  const world = await gatewayWorld();
  world.simulator.addFault({ match: {}, effect: { kind: "slow", ms: 10_000_000 } });
  const { ctx } = await world.agent(world.machine("fw"));
  const message = await world.until(
    failure(discoverGWLBBackendPool(ctx, "inspect", { patienceMs: 10_000 })),
  );
  expect(message).toContain("(TimedOut)");
});

test("a registration that somebody removes is made again", async () => {
  const world = await gatewayWorld();
  const agent = await world.agent(world.machine("fw"));
  const { config } = await world.until(boot(agent));
  const watching = watchRegistration(agent.ctx, config);
  await world.simulator.advance(300_000);
  expect(writes(world)).toEqual(["inspect"]);

  world.simulator.change(pool, { properties: { loadBalancerBackendAddresses: [] } });
  await world.simulator.advance(90_000);
  expect(world.members()).toEqual([config.privateIP]);
  expect(agent.metrics.text()).toContain("postern_agent_registrations_lost_total 1\n");
  expect(agent.metrics.text()).toContain("postern_agent_registrations_repaired_total 1\n");

  const outage = world.simulator.addFault({ match: {}, effect: { kind: "html", status: 502 } });
  await world.simulator.advance(600_000);
  world.simulator.faults.remove(outage);
  world.simulator.change(pool, { properties: { loadBalancerBackendAddresses: [] } });
  await world.simulator.advance(300_000);
  expect(world.members()).toEqual([config.privateIP]);
  agent.stop();
  await watching;
});

test("a registration that is lost and cannot be made again yet is counted as lost, and once", async () => {
  const world = await gatewayWorld();
  const agent = await world.agent(world.machine("fw"));
  const { config } = await world.until(boot(agent));
  const watching = watchRegistration(agent.ctx, config);
  const body = { error: { code: "InternalServerError", message: "not now" } };
  const fault = world.simulator.addFault({
    match: { method: "PUT" },
    effect: { kind: "answer", status: 500, body },
  });
  world.simulator.change(pool, { properties: { loadBalancerBackendAddresses: [] } });
  await world.simulator.advance(600_000);
  const lost = "postern_agent_registrations_lost_total 1\n";
  expect(agent.metrics.text()).toContain(lost);
  expect(agent.metrics.text()).toContain("postern_agent_registrations_repaired_total 0\n");
  expect(agent.metrics.text()).toContain("postern_agent_registered 0\n");
  world.simulator.faults.remove(fault);
  await world.simulator.advance(300_000);
  expect(world.members()).toEqual([config.privateIP]);
  expect(agent.metrics.text()).toContain(lost);
  expect(agent.metrics.text()).toContain("postern_agent_registrations_repaired_total 1\n");
  agent.stop();
  await watching;
});

test("an entry of its own with an address that the machine had before is taken out as well", async () => {
  const world = await gatewayWorld();
  const agent = await world.agent(world.machine("fw"));
  const { config } = await world.until(boot(agent));
  const moved = { ...config, privateIP: "10.0.9.9" };
  const left = await world.until(deregisterFromBackendPool(agent.ctx, moved));
  expect(left.state).toBe("left");
  expect(world.members()).toEqual([]);
});

test.each(["address", "interface"] as const)(
  "a pool that looks empty and refuses every %s is told of after a few tries",
  async (joinBy) => {
    const world = await gatewayWorld();
    const code = "CannotMixIPBasedAddressesAndIPConfigurationsOnLoadBalancerBackendAddressPool";
    const body = { error: { code, message: "never both" } };
    world.simulator.addFault({
      match: { method: "PUT" },
      effect: { kind: "answer", status: 400, body },
    });
    const agent = await world.agent(world.machine("fw"));
    const message = await world.until(failure(boot(agent, { joinBy })));
    expect(message).toContain(code);
    expect(writes(world).length).toBeLessThanOrEqual(4);
  },
);

test("an interface that is read without an etag is not written: another's change could be lost", async () => {
  const world = await gatewayWorld();
  const { ctx } = await world.agent(world.machine("fw"));
  const config = await world.until(discoverGWLBBackendPool(ctx, "inspect"));
  const { properties = {} } = world.simulator.store.get(config.nicResourceId) ?? {};
  const body = { id: config.nicResourceId, name: "fw-nic", location: "westeurope", properties };
  world.simulator.addFault({
    match: { method: "GET", type: "Microsoft.Network/networkInterfaces" },
    effect: { kind: "answer", status: 200, body },
  });
  const joining = registerWithBackendPool(ctx, config, { joinBy: "interface", limitMs: 5_000 });
  expect(await world.until(failure(joining))).toContain("(RegistrationTimedOut)");
  expect(writes(world)).toEqual([]);
});
