import { ManualClock } from "@postern/azure-simulator/control/manual-clock.ts";
import { expect, test } from "vitest";
import { owner } from "../small-world.ts";
import { Clients, location, names, rg, sdkWorld, soon, tokenOf } from "./clients.ts";

const body = { location, addressSpace: { addressPrefixes: ["10.0.0.0/16"] } };
const networks = "Microsoft.Network/virtualNetworks";
const balancers = "Microsoft.Network/loadBalancers";

test("a poller asks until its operation has ended", async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const { clients, simulator } = await sdkWorld({ clock, operationMs: { [networks]: 60_000 } });
  const poller = clients.network.virtualNetworks.createOrUpdate(rg, "v", body, soon);
  await poller.poll();
  await poller.poll();
  expect(poller.isDone).toBe(false);
  expect(poller.operationState?.status).toBe("running");
  expect((await clients.network.virtualNetworks.get(rg, "v")).provisioningState).toBe("Updating");
  simulator.moveClock(60_000);
  expect((await poller.pollUntilDone()).provisioningState).toBe("Succeeded");
});

test("an operation that fails ends its poller with the code, and the resource says Failed", async () => {
  const { clients, simulator } = await sdkWorld();
  const { virtualNetworks } = clients.network;
  simulator.addFault({
    match: { method: "PUT", type: networks },
    effect: { kind: "operation", ms: 3, error: { code: "AllocationFailed", message: "no room" } },
    count: 1,
  });
  await expect(virtualNetworks.createOrUpdate(rg, "v", body, soon)).rejects.toThrow(
    /The long-running operation has failed.*AllocationFailed.*no room/,
  );
  expect((await virtualNetworks.get(rg, "v")).provisioningState).toBe("Failed");
  const requeue = await virtualNetworks.createOrUpdate(rg, "v", body, soon);
  expect(requeue.provisioningState).toBe("Succeeded");
});

test("a delete that fails leaves what was to be deleted", async () => {
  const { clients, simulator } = await sdkWorld();
  const { virtualNetworks } = clients.network;
  await virtualNetworks.createOrUpdate(rg, "v", body, soon);
  simulator.addFault({
    match: { method: "DELETE" },
    effect: { kind: "operation", error: { code: "InternalServerError", message: "try again" } },
    count: 1,
  });
  await expect(virtualNetworks.delete(rg, "v", soon)).rejects.toThrow(/InternalServerError/);
  expect(await names(virtualNetworks.list(rg))).toEqual(["v"]);
  await virtualNetworks.delete(rg, "v", soon);
  expect(await names(virtualNetworks.list(rg))).toEqual([]);
});

test("an operation whose place a later write takes is canceled, and the later one stays", async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const { clients, simulator } = await sdkWorld({ clock, operationMs: { [balancers]: 1000 } });
  const { loadBalancers } = clients.network;
  const write = (color: string) =>
    loadBalancers.createOrUpdate(
      rg,
      "lb",
      { location, sku: { name: "Standard" }, tags: { color } },
      soon,
    );
  const earlier = write("red");
  await earlier.submitted();
  const later = write("blue");
  await later.submitted();
  await expect(earlier.pollUntilDone()).rejects.toThrow("Operation was canceled");
  simulator.moveClock(1000);
  expect((await later.pollUntilDone()).tags).toEqual({ color: "blue" });
  expect((await loadBalancers.get(rg, "lb")).provisioningState).toBe("Succeeded");
});

test("a link that Private DNS refuses fails in its operation", async () => {
  const { clients } = await sdkWorld();
  const { privateZones, virtualNetworkLinks } = clients.privateDns;
  const { id = "" } = await clients.network.virtualNetworks.createOrUpdate(rg, "v", body, soon);
  await clients.resources.resourceGroups.createOrUpdate("rg2", { location });
  const zone = "example.internal";
  const link = { location: "global", virtualNetwork: { id }, registrationEnabled: false };
  for (const group of [rg, "rg2"])
    await privateZones.createOrUpdate(group, zone, { location: "global" }, soon);
  await virtualNetworkLinks.createOrUpdate(rg, zone, "l", link, soon);
  await expect(virtualNetworkLinks.createOrUpdate("rg2", zone, "l", link, soon)).rejects.toThrow(
    /The long-running operation has failed/,
  );
  expect(await names(virtualNetworkLinks.list("rg2", zone))).toEqual([]);
});

test("a client that is throttled waits as it is told and goes on", async () => {
  const { clients, simulator } = await sdkWorld();
  simulator.addFault({
    match: { method: "GET" },
    effect: { kind: "throttled", retryAfterSeconds: 0 },
    count: 2,
  });
  expect((await clients.resources.resourceGroups.get(rg)).name).toBe(rg);
  expect(simulator.log.entries({ status: 429 })).toHaveLength(2);
});

test("a write whose answer is lost is sent again and done once", async () => {
  const { clients, simulator } = await sdkWorld();
  const { virtualNetworks } = clients.network;
  simulator.addFault({
    match: { method: "PUT", type: networks },
    effect: { kind: "lost", when: "after" },
    count: 1,
  });
  await virtualNetworks.createOrUpdate(rg, "v", body, { ...soon });
  expect(await names(virtualNetworks.list(rg))).toEqual(["v"]);
  expect(simulator.log.entries({ method: "PUT", status: 0 })).toHaveLength(1);
});

test("someone of another tenant is told that the token is not for this subscription", async () => {
  const { simulator } = await sdkWorld();
  const foreign = { ...owner, tenant: "99999999-9999-4999-8999-999999999999" };
  simulator.directory.addTenant(foreign.tenant);
  const theirs = new Clients(simulator, tokenOf(simulator, foreign));
  await expect(theirs.network.virtualNetworks.get(rg, "v")).rejects.toMatchObject({
    name: "RestError",
    statusCode: 401,
    code: "InvalidAuthenticationTokenTenant",
  });
});

test("what the simulator does not do is refused with its name", async () => {
  const { clients } = await sdkWorld();
  await expect(clients.network.natGateways.get(rg, "n")).rejects.toMatchObject({
    name: "RestError",
    statusCode: 501,
    code: "NotSupportedBySimulator",
    message: expect.stringContaining("GET Microsoft.Network/natGateways"),
  });
});
