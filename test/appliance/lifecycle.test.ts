import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type ApplyOptions, apply, cleanup } from "../../src/appliance/lifecycle.ts";
import { stayInBackendPool } from "../../src/appliance/stay.ts";
import type { LocalInterface } from "../../src/appliance/tunnel.ts";
import { type GatewayWorld, gatewayWorld, networking, pool } from "./gateway-world.ts";

const host = "127.0.0.1";

async function prepared(name = "fw") {
  const world = await gatewayWorld();
  const agent = await world.agent(world.machine(name));
  const folder = mkdtempSync(join(tmpdir(), "postern-lifecycle-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "device");
  const options: ApplyOptions = {
    health: { host, port: 0 },
    interfaces: [primary(world, name)],
    ingress: { file },
  };
  return { world, ...agent, file, options };
}

/** The machine's primary interface as the system would list it. */
function primary({ simulator }: GatewayWorld, name: string): LocalInterface {
  const nic = simulator.store.get(`${networking}/networkInterfaces/${name}-nic`)?.properties as {
    macAddress?: string;
    ipConfigurations: { properties: { privateIPAddress: string } }[];
  };
  const address = nic.ipConfigurations[0]?.properties.privateIPAddress ?? "";
  return { name: "eth0", mac: nic.macAddress ?? "", address, mtu: 4000 };
}

const probed = async (port = 0) => {
  const answer = await fetch(`http://${host}:${port}/healthz`).catch(() => undefined);
  return answer?.status;
};

test("the steps join the pool and tell the appliance its device, and leaving takes all of it back", async () => {
  const { world, ctx, file, options } = await prepared();
  const applied = await world.until(apply(ctx, "inspect", options));
  expect(world.members()).toEqual([applied.config.privateIP]);
  expect(applied.interface).toMatchObject({ name: "eth0", mtu: 4000 });
  expect(readFileSync(file, "utf8")).toBe("eth0\n");
  const [port] = applied.health?.ports ?? [];
  expect(await probed(port)).toBe(200);

  const startedAt = world.clock.now();
  const leaving = cleanup(ctx, applied);
  await expect.poll(() => probed(port)).toBe(503);
  expect(world.members()).toHaveLength(1);
  expect(await world.until(leaving)).toMatchObject({ state: "left" });
  // Two probes of five seconds must have failed before the entry goes.
  expect(world.clock.now() - startedAt).toBeGreaterThanOrEqual(10_000);
  expect(world.clock.now() - startedAt).toBeLessThan(30_000);
  expect(world.members()).toEqual([]);
  expect(existsSync(file)).toBe(false);
  expect(await probed(port)).toBeUndefined();
});

test.each<[string, (options: ApplyOptions) => ApplyOptions, RegExp]>([
  ["the tunnel", (o) => ({ ...o, interfaces: [] }), /TunnelInterfaceNotFound/],
  ["the hook", (o) => ({ ...o, ingress: { ...o.ingress, hook: "exit 1" } }), /IngressNotWritten/],
])("where %s fails, the registration and all else is undone", async (_step, change, code) => {
  const { world, ctx, file, options } = await prepared();
  await expect(world.until(apply(ctx, "inspect", change(options)))).rejects.toThrow(code);
  const puts = world.simulator.log.entries().filter(({ method }) => method === "PUT");
  expect(puts.length).toBeGreaterThan(1);
  expect(world.members()).toEqual([]);
  expect(existsSync(file)).toBe(false);
});

test("a registration that was there before stays where a later step fails", async () => {
  const { world, ctx, options } = await prepared();
  const { config } = await world.until(apply(ctx, "inspect", options));
  const again = apply(ctx, "inspect", { ...options, interfaces: [] });
  await expect(world.until(again)).rejects.toThrow(/TunnelInterfaceNotFound/);
  expect(world.members()).toEqual([config.privateIP]);
});

test("a wrong pool fails before anything is written", async () => {
  const { world, ctx, options } = await prepared();
  await expect(world.until(apply(ctx, "inspct", options))).rejects.toThrow(/PoolNotFound/);
  expect(world.simulator.log.entries().filter(({ method }) => method === "PUT")).toEqual([]);
});

test("stopped while it joins, it leaves nothing behind", async () => {
  const { world, ctx, stop, file, options } = await prepared();
  const hook = "true";
  const joining = apply(ctx, "inspect", { ...options, ingress: { file, hook } });
  const watch = (async () => {
    while (world.members().length === 0) await new Promise((resolve) => setImmediate(resolve));
    stop();
  })();
  await expect(world.until(joining)).rejects.toThrow();
  await watch;
  expect(world.members()).toEqual([]);
  expect(existsSync(file)).toBe(false);
});

test("who is removed by somebody comes back, and leaves when it is stopped", async () => {
  const { world, ctx, metrics, stop, options } = await prepared();
  const applied = await world.until(apply(ctx, "inspect", options));
  const staying = stayInBackendPool(ctx, applied);
  const held = world.simulator.store.get(pool)?.properties ?? {};
  world.simulator.change(pool, { properties: { ...held, loadBalancerBackendAddresses: [] } });
  expect(world.members()).toEqual([]);
  await world.simulator.advance(120_000);
  await expect.poll(() => world.members()).toEqual([applied.config.privateIP]);
  expect(metrics.text()).toContain("postern_agent_registrations_repaired_total 1\n");
  stop();
  expect(await world.until(staying)).toEqual({ because: "stopped" });
  expect(world.members()).toEqual([]);
});

test("a preempted machine has left within its thirty seconds, and then agrees", async () => {
  const { world, ctx, options } = await prepared();
  const applied = await world.until(apply(ctx, "inspect", options));
  const imds = await world.simulator.machines.find(applied.config.resourceId);
  const staying = stayInBackendPool(ctx, applied);
  const startedAt = world.clock.now();
  const id = imds?.schedule({ type: "Preempt" }) ?? "";
  expect(await world.until(staying)).toMatchObject({ because: "event", event: { id } });
  expect(world.clock.now() - startedAt).toBeLessThan(30_000);
  expect(imds?.events.started(id)).toBe(true);
  expect(world.members()).toEqual([]);
});
