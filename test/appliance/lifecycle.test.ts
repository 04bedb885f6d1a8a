import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import {
  type ApplianceHealth,
  type ApplyOptions,
  apply,
  cleanup,
} from "postern/appliance/lifecycle.ts";
import { stayInBackendPool } from "postern/appliance/stay.ts";
import type { LocalInterface } from "postern/appliance/tunnel.ts";
import { customCloud } from "postern/azure/clouds.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  balancer,
  type GatewayWorld,
  gatewayBody,
  gatewayWorld,
  networking,
  pool,
  withProbe,
} from "./gateway-world.ts";

const host = "127.0.0.1";

/** An appliance that is a function of this process. */
const healthy: RequestListener = (_request, response) => response.writeHead(200).end();

async function prepared(name = "fw", lb?: JsonObject) {
  const world = await gatewayWorld({ lb });
  const agent = await world.agent(world.machine(name));
  const folder = mkdtempSync(join(tmpdir(), "postern-lifecycle-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "device");
  const options: ApplyOptions = {
    health: { host, port: 0, handOver: healthy },
    interfaces: [primary(world, name)],
    ingress: { file },
  };
  return { world, ...agent, file, options };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
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

describe("leaving as a whole", () => {
  /** One that takes 30 s to notice. */
  const slowProbe = () => withProbe(gatewayBody(), { intervalInSeconds: 15 });
  const refused = { error: { code: "InternalServerError", message: "not now" } };

  test("takes 20 s at most, whatever the probe says, and leaves half of that for Azure", async () => {
    const { world, ctx, options } = await prepared("fw", slowProbe());
    const applied = await world.until(apply(ctx, "inspect", options));
    const startedAt = world.clock.now();
    const leaving = cleanup(ctx, applied);
    const [port] = applied.health?.ports ?? [];
    await expect.poll(() => probed(port)).toBe(503);
    expect(await world.until(leaving)).toMatchObject({ state: "left" });
    expect(world.clock.now() - startedAt).toBeGreaterThanOrEqual(10_000);
    expect(world.clock.now() - startedAt).toBeLessThanOrEqual(20_000);
  });

  test("takes 20 s at most where Azure fails and a hook hangs", async () => {
    const { world, ctx, options } = await prepared("fw", slowProbe());
    const hook = '[ -n "$INGRESS_DEVICE" ] || exec sleep 20';
    const applied = await world.until(apply(ctx, "inspect", { ...options, ingress: { hook } }));
    const effect = { kind: "answer", status: 500, body: refused } as const;
    world.simulator.addFault({ match: { method: "PUT" }, effect });
    const startedAt = world.clock.now();
    const left = await world.until(cleanup(ctx, applied).catch((error: unknown) => error));
    expect(left).toMatchObject({ code: "DeregistrationTimedOut", status: 500 });
    // The clock of the test moves by half a second.
    expect(world.clock.now() - startedAt).toBeLessThanOrEqual(20_500);
  });

  test("takes longer where that is allowed", async () => {
    const { world, ctx, stop, options } = await prepared("fw", slowProbe());
    const applied = await world.until(apply(ctx, "inspect", options));
    const staying = stayInBackendPool(ctx, applied, { leaveMs: 80_000 });
    const startedAt = world.clock.now();
    stop();
    expect(await world.until(staying)).toEqual({ because: "stopped" });
    expect(world.clock.now() - startedAt).toBeGreaterThanOrEqual(30_000);
    expect(world.members()).toEqual([]);
  });
});

test("an agent that nothing tells when the appliance is healthy does not start, and nothing is written", async () => {
  const { world, ctx, options } = await prepared();
  const health = { host, port: 0 } as ApplianceHealth;
  await expect(apply(ctx, "inspect", { ...options, health })).rejects.toMatchObject({
    code: "HealthCheckMissing",
    hint: expect.stringMatching(/--health-target, --health-command or --health-port-handover/),
  });
  expect(world.simulator.log.entries()).toEqual([]);
});

test("a port that is released is free before the appliance is told its device, and may be taken when the agent starts again", async () => {
  const { world, ctx, file, options } = await prepared();
  const port = await freePort();
  const health: ApplianceHealth = { host, port, handOver: "release" };
  // It fails where something still listens.
  const hook = `[ -z "$INGRESS_DEVICE" ] || ! node -e 'require("node:net").connect(${port}, "${host}").on("connect", () => process.exit(0)).on("error", () => process.exit(1))'`;
  const body = withProbe(gatewayBody(), { port, protocol: "Https" });
  world.simulator.change(balancer, body);
  const given = { ...options, health, ingress: { file, hook } };
  await world.until(apply(ctx, "inspect", given));
  expect(await probed(port)).toBeUndefined();

  const appliance = createServer((_request, response) => response.writeHead(200).end());
  await new Promise<void>((resolve) => appliance.listen(port, host, resolve));
  onTestFinished(() => void appliance.close());
  const again = await world.until(apply(ctx, "inspect", { ...options, health }));
  expect(again.health).toBeUndefined();
  expect(await probed(port)).toBe(200);
  expect(await world.until(cleanup(ctx, again))).toMatchObject({ state: "left" });
  expect(await probed(port)).toBe(200);
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

/** A way to Azure on which the first write stays until it is let go, and then arrives, whether its sender still waits or not. */
async function longWay(target: string): Promise<{ url: string; held: Promise<() => void> }> {
  const { promise: held, resolve: hold } = Promise.withResolvers<() => void>();
  let writes = 0;
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const { method = "", url = "", headers } = request;
    if (method === "PUT" && writes++ === 0) await new Promise<void>((letGo) => hold(letGo));
    const names = ["authorization", "content-type", "if-match"];
    const kept = names.flatMap((name) => (headers[name] ? [[name, String(headers[name])]] : []));
    const sent = { method, headers: Object.fromEntries(kept), ...(method === "PUT" && { body }) };
    const answer = await fetch(new URL(url, target), sent);
    const text = await answer.text();
    response.writeHead(answer.status, { "content-type": "application/json" }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => void server.close());
  return { url: `http://${host}:${(server.address() as AddressInfo).port}`, held };
}

test("stopped while its write is on the way, it waits for the answer and takes the entry back", async () => {
  const world = await gatewayWorld();
  const { url, held } = await longWay(world.simulator.url);
  world.simulator.directory.acceptAudience(url);
  const cloud = customCloud({ resourceManager: url });
  const { ctx, stop } = await world.agent(world.machine("fw"), { cloud });
  const joining = apply(ctx, "inspect", { interfaces: [primary(world, "fw")] });
  const ended = joining.then(
    () => "joined",
    () => "undone",
  );
  const letGo = await world.until(held);
  stop();
  // Time enough to look for an entry that has not arrived.
  await world.simulator.advance(1_000);
  letGo();
  expect(await world.until(ended)).toBe("undone");
  await world.simulator.advance(10_000);
  expect(world.simulator.log.entries().filter(({ method }) => method === "PUT").length).toBe(2);
  expect(world.members()).toEqual([]);
});

test("a registration that was there before stays where it cannot even be looked at", async () => {
  const { world, ctx, options } = await prepared();
  const { config } = await world.until(apply(ctx, "inspect", options));
  const body = { error: { code: "InternalServerError", message: "not now" } };
  const fault = world.simulator.addFault({
    match: { type: "Microsoft.Network/loadBalancers/backendAddressPools" },
    effect: { kind: "answer", status: 500, body },
  });
  // Azure is well again as soon as the registration has been given up.
  world.clock.after(3_000, () => world.simulator.faults.remove(fault));
  const again = apply(ctx, "inspect", { ...options, limitMs: 3_000 });
  await expect(world.until(again)).rejects.toThrow(/RegistrationTimedOut/);
  expect(world.simulator.faults.list()).toEqual([]);
  expect(world.members()).toEqual([config.privateIP]);
});

test("a probe that is HTTPS is refused without a certificate, before anything is written", async () => {
  const { world, ctx, options } = await prepared(
    "fw",
    withProbe(gatewayBody(), { protocol: "Https" }),
  );
  await expect(world.until(apply(ctx, "inspect", options))).rejects.toThrow(
    /port 8080 \(HealthCertificateMissing\) · set --health-certificate/,
  );
  expect(world.simulator.log.entries().filter(({ method }) => method === "PUT")).toEqual([]);
  // Who answers the probes itself may join.
  await world.until(apply(ctx, "inspect", { ...options, health: undefined }));
  expect(world.members()).toHaveLength(1);
});

test("tunnels that cannot be told apart are refused before anything is written", async () => {
  const { world, ctx, options } = await prepared();
  const tunnel = { type: "Internal", protocol: "VXLAN" };
  const tunnelInterfaces = [
    { ...tunnel, port: 10800, identifier: 800 },
    { ...tunnel, port: 10801, identifier: 801 },
  ];
  // Written past the checks of Azure, which may change.
  Object.assign(world.simulator.store.get(pool)?.properties ?? {}, { tunnelInterfaces });
  await expect(world.until(apply(ctx, "inspect", options))).rejects.toThrow(/TunnelPortsWrong/);
  expect(world.simulator.log.entries().filter(({ method }) => method === "PUT")).toEqual([]);
  await world.until(apply(ctx, "inspect", { ...options, tunnel: "none" }));
  expect(world.members()).toHaveLength(1);
});

test("an agent that is told to ask itself for the appliance refuses, before anything is written", async () => {
  const port = await freePort();
  const { world, ctx, options } = await prepared("fw", withProbe(gatewayBody(), { port }));
  const handOver = new URL(`http://${host}:${port}/healthz`);
  const joining = apply(ctx, "inspect", { ...options, health: { host, port, handOver } });
  await expect(world.until(joining)).rejects.toThrow(
    /the agent itself answers there \(HealthPortTaken\) · .*another port/,
  );
  expect(world.simulator.log.entries().filter(({ method }) => method === "PUT")).toEqual([]);
  expect(await probed(port)).toBeUndefined();
});

test("where looking for events ends with a bug, it leaves and does not come back", async () => {
  const { world, ctx, options } = await prepared();
  const applied = await world.until(apply(ctx, "inspect", options));
  const config = { ...applied.config, vmName: undefined as unknown as string };
  const staying = stayInBackendPool(ctx, { ...applied, config });
  await expect(world.until(staying)).rejects.toThrow(TypeError);
  await world.simulator.advance(200_000);
  expect(world.members()).toEqual([]);
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

test("while it stays, the collector is told what the tunnels carry, also after it could not be read once", async () => {
  const { world, ctx, metrics, stop, options } = await prepared();
  const applied = await world.until(apply(ctx, "inspect", options));
  let looks = 0;
  const packets = async () => {
    if (looks++ === 0) throw new Error("ip does not answer");
    return [{ link: "gwlb-internal", received: 7, sent: looks }];
  };
  const links = { names: ["gwlb-internal"], remove: async () => undefined, packets };
  const staying = stayInBackendPool(ctx, { ...applied, links });
  const told = 'postern_agent_tunnel_packets_total{link="gwlb-internal",direction="received"} 7\n';
  const later = async () => {
    await world.simulator.advance(30_000);
    return metrics.text();
  };
  await expect.poll(later).toContain(told);
  stop();
  expect(await world.until(staying)).toEqual({ because: "stopped" });
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

test("stopped while it leaves for an event, it leaves once and agrees as it would have", async () => {
  const { world, ctx, stop, options } = await prepared();
  const applied = await world.until(apply(ctx, "inspect", options));
  const [port] = applied.health?.ports ?? [];
  const imds = await world.simulator.machines.find(applied.config.resourceId);
  let begun = 0;
  const staying = stayInBackendPool(ctx, applied, { leaving: () => begun++ });
  const startedAt = world.clock.now();
  const id = imds?.schedule({ type: "Terminate" }) ?? "";
  const watch = (async () => {
    while ((await probed(port)) !== 503) await world.simulator.advance(500);
    stop();
  })();
  await watch;
  expect(await world.until(staying)).toMatchObject({ because: "event", event: { id } });
  expect(imds?.events.started(id)).toBe(true);
  expect(world.members()).toEqual([]);
  expect(begun).toBe(1);
  // Once through the probe's ten seconds, and not twice.
  expect(world.clock.now() - startedAt).toBeLessThan(18_000);
});

test("stopped after it could not leave for an event, it tries once more without a second drain", async () => {
  const { world, ctx, stop, options } = await prepared(
    "fw",
    withProbe(gatewayBody(), { intervalInSeconds: 15 }),
  );
  const applied = await world.until(apply(ctx, "inspect", options));
  const imds = await world.simulator.machines.find(applied.config.resourceId);
  const body = { error: { code: "InternalServerError", message: "not now" } };
  const fault = world.simulator.addFault({
    match: { method: "PUT" },
    effect: { kind: "answer", status: 500, body },
  });
  const staying = stayInBackendPool(ctx, applied);
  const startedAt = world.clock.now();
  imds?.schedule({ type: "Terminate" });
  // The first try drains for 10 s and asks Azure for 10 s; stopped in its midst, the second asks Azure for 20 s.
  world.clock.after(15_000, stop);
  world.clock.after(30_000, () => world.simulator.faults.remove(fault));
  expect(await world.until(staying)).toEqual({ because: "stopped" });
  expect(world.members()).toEqual([]);
  expect(world.clock.now() - startedAt).toBeLessThan(42_000);
});

test("after it could not leave for an event that Azure withdraws, it ends with that error, and can join again", async () => {
  const { world, ctx, options } = await prepared();
  const applied = await world.until(apply(ctx, "inspect", options));
  const imds = await world.simulator.machines.find(applied.config.resourceId);
  const fault = world.simulator.addFault({
    match: { method: "PUT" },
    effect: { kind: "answer", status: 500, body: { error: { code: "Busy", message: "not now" } } },
  });
  const staying = stayInBackendPool(ctx, applied).catch((error: unknown) => error);
  const id = imds?.schedule({ type: "Terminate" }) ?? "";
  // The first try has failed, and the second is under way.
  await world.simulator.advance(25_000);
  expect(applied.health?.ports).toEqual([]);
  imds?.events.end(id);
  world.clock.after(25_000, () => world.simulator.faults.remove(fault));
  expect(await world.until(staying)).toMatchObject({ code: "DeregistrationTimedOut" });
  expect(world.members()).toEqual([]);

  const again = await world.until(apply(ctx, "inspect", options));
  expect(world.members()).toEqual([applied.config.privateIP]);
  await world.until(cleanup(ctx, again));
});
