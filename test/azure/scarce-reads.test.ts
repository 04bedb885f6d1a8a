import type { FaultRule } from "@postern/azure-simulator/control/fault-rule.ts";
import { ManualClock } from "@postern/azure-simulator/control/manual-clock.ts";
import { startSimulator } from "@postern/azure-simulator/simulator.ts";
import { Arm } from "postern/azure/arm.ts";
import { customCloud } from "postern/azure/clouds.ts";
import { privateDnsZones } from "postern/azure/gateways/private-dns.ts";
import { expect, onTestFinished, test } from "vitest";

const subscription = "11111111-1111-4111-8111-111111111111";
const tenant = "22222222-2222-4222-8222-222222222222";
const group = `/subscriptions/${subscription}/resourceGroups/rg`;
const zone = (name: string) => `${group}/providers/Microsoft.Network/privateDnsZones/${name}`;
const body = { location: "global", properties: {} };
const ageMs = 600_000;

/** Two zones whose creation has begun and takes 30 s, after which Azure wants to be asked, and the reads of DNS so far. */
async function twoNewZones(fault?: FaultRule) {
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const simulator = await startSimulator({ clock, operationMs: { "*": 30_000 } });
  onTestFinished(() => simulator.close());
  simulator.directory.addSubscription(subscription, tenant);
  const owner = { tenant, objectId: "owner", appId: "owner" };
  simulator.roles.makeOwner(owner);
  simulator.change(group, { location: "westeurope" });
  const token = simulator.directory.tokenFor(owner);
  const arm = new Arm({
    cloud: customCloud({ resourceManager: simulator.url }),
    credential: { identity: "owner", token: async () => token },
    clock,
  });
  onTestFinished(() => arm.close());
  const { signal } = new AbortController();
  const gateway = privateDnsZones(arm.for({ priority: "change", signal, mayWrite: () => true }));
  if (fault) simulator.addFault(fault);
  for (const name of ["a.test", "b.test"])
    expect(await gateway.put(zone(name), body, { ifNoneMatch: "*" })).toMatchObject({
      state: "running",
    });
  const observeBoth = async () =>
    (await Promise.all(["a.test", "b.test"].map((name) => gateway.observe(zone(name), ageMs)))).map(
      ({ state }) => state,
    );
  const reads = () =>
    simulator.log
      .entries()
      .filter(({ method }) => method === "GET")
      .map(({ path }) => path.split("/").slice(7).join("/"));
  return { simulator, gateway, observeBoth, reads };
}

test("one list shows that two zones are created, and neither is polled or read again", async () => {
  const { simulator, observeBoth, reads } = await twoNewZones();
  simulator.moveClock(36_000);
  expect(await observeBoth()).toEqual(["exists", "exists"]);
  expect(await observeBoth()).toEqual(["exists", "exists"]);
  expect(reads()).toEqual(["privateDnsZones"]);
});

test("nothing is read before the operation can have ended", async () => {
  const { simulator, observeBoth, reads } = await twoNewZones();
  expect(await observeBoth()).toEqual(["changing", "changing"]);
  simulator.moveClock(4_000);
  expect(await observeBoth()).toEqual(["changing", "changing"]);
  expect(reads()).toEqual([]);
});

test("a zone whose creation failed is reported with the operation's error", async () => {
  const error = { code: "ZoneBroken", message: "it broke" };
  const match = { method: "PUT", type: "Microsoft.Network/privateDnsZones" };
  const { simulator, observeBoth } = await twoNewZones({
    match,
    effect: { kind: "operation", error },
  });
  simulator.moveClock(36_000);
  expect(await observeBoth()).toEqual(["failed", "failed"]);
});

test("zones that a list does not show yet are asked of their operations", async () => {
  const match = { method: "GET", type: "Microsoft.Network/privateDnsZones" };
  const { simulator, observeBoth, reads } = await twoNewZones({
    match,
    effect: { kind: "stale", ms: 60_000 },
    count: 1,
  });
  simulator.moveClock(36_000);
  expect(await observeBoth()).toEqual(["exists", "exists"]);
  expect(reads().filter((path) => path.startsWith("privateDnsOperation"))).toHaveLength(2);
});
