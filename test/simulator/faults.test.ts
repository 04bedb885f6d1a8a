import type { FaultRule } from "@postern/azure-simulator/control/fault-rule.ts";
import { ManualClock } from "@postern/azure-simulator/control/manual-clock.ts";
import { expect, test } from "vitest";
import { group, network, networkBody, owner, smallWorld } from "./small-world.ts";

const start = Date.UTC(2026, 0, 1);

async function worldWithNetwork() {
  const world = await smallWorld({
    clock: new ManualClock(start),
    operationMs: { "Microsoft.Network/virtualNetworks": 1000 },
  });
  await world.ask("PUT", group, { location: "westeurope" });
  await world.ask("PUT", network, networkBody({ age: "old" }));
  world.simulator.moveClock(1000);
  return world;
}

test("an answer takes the place of the right one and nothing is done", async () => {
  const { ask, simulator } = await worldWithNetwork();
  const before = simulator.snapshot();
  simulator.addFault({
    match: { method: "PUT", type: "Microsoft.Network/virtualNetworks" },
    effect: {
      kind: "answer",
      status: 503,
      body: { error: { code: "ServerBusy", message: "later" } },
      headers: { "Retry-After": "7" },
    },
    count: 1,
  });
  const refused = await ask("PUT", network, networkBody({ age: "new" }));
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("7");
  expect(refused.body).toEqual({ error: { code: "ServerBusy", message: "later" } });
  expect(simulator.snapshot()).toEqual(before);
  expect((await ask("PUT", network, networkBody())).status).toBe(200);
});

test.each([
  ["before", "old"],
  ["after", "new"],
] as const)("an answer lost %s the write leaves the %s world", async (when, age) => {
  const { ask, simulator } = await worldWithNetwork();
  simulator.addFault({ match: { method: "PUT" }, effect: { kind: "lost", when }, count: 1 });
  await expect(ask("PUT", network, networkBody({ age: "new" }))).rejects.toThrow("fetch failed");
  expect((await ask("GET", network)).body.tags).toEqual({ age });
  expect(simulator.log.entries({ method: "PUT", status: 0 })).toHaveLength(1);
});

test("a dropped connection ends in the middle of the answer, after the write", async () => {
  const { ask, simulator } = await worldWithNetwork();
  simulator.addFault({ match: { method: "PUT" }, effect: { kind: "dropped" }, count: 1 });
  await expect(ask("PUT", network, networkBody({ age: "new" }))).rejects.toThrow(/terminated/);
  expect((await ask("GET", network)).body.tags).toEqual({ age: "new" });
});

test("HTML comes with its own type", async () => {
  const { ask, simulator } = await worldWithNetwork();
  simulator.addFault({ match: { path: "*/virtualnetworks/*" }, effect: { kind: "html" } });
  const page = await ask("GET", network);
  expect(page.status).toBe(502);
  expect(page.headers.get("content-type")).toBe("text/html");
  expect(page.text).toContain("<html>");
});

test("a slow answer comes when the clock has moved so far", async () => {
  const { ask, simulator } = await worldWithNetwork();
  simulator.addFault({ match: {}, effect: { kind: "slow", ms: 5000 }, count: 1 });
  let came = false;
  const asked = ask("GET", network).then(() => {
    came = true;
  });
  while (simulator.log.entries({ method: "GET" }).length === 0)
    await new Promise((resolve) => setImmediate(resolve));
  simulator.moveClock(4999);
  await ask("GET", group);
  expect(came).toBe(false);
  simulator.moveClock(1);
  await asked;
});

test.each<[string, FaultRule["effect"]]>([
  ["an answer", { kind: "answer", status: 403, ms: 5000 }],
  ["the loss of an answer", { kind: "lost", when: "before", ms: 5000 }],
])("%s comes when the clock has moved so far", async (_name, effect) => {
  const { ask, simulator } = await worldWithNetwork();
  simulator.addFault({ match: {}, effect, count: 1 });
  let came: number | undefined;
  const asked = ask("GET", network).then(
    ({ status }) => {
      came = status;
    },
    () => {
      came = 0;
    },
  );
  while (simulator.log.entries({ method: "GET" }).length === 0)
    await new Promise((resolve) => setImmediate(resolve));
  simulator.moveClock(4999);
  await ask("GET", group);
  expect(came).toBeUndefined();
  simulator.moveClock(1);
  await asked;
  expect(came).toBe(effect.kind === "answer" ? 403 : 0);
});

test.each<[string, FaultRule["effect"], number, string]>([
  ["slow", { kind: "operation", ms: 60_000 }, 59_999, "InProgress"],
  ["slow", { kind: "operation", ms: 60_000 }, 60_000, "Succeeded"],
  ["never-ending", { kind: "operation", never: true }, 3_000_000, "InProgress"],
  [
    "failing",
    { kind: "operation", ms: 10, error: { code: "AllocationFailed", message: "no room" } },
    10,
    "Failed",
  ],
])("a %s operation (%o) is after %d ms %s", async (_name, effect, ms, status) => {
  const { ask, simulator } = await worldWithNetwork();
  simulator.addFault({ match: { method: "PUT" }, effect, count: 1 });
  const begun = await ask("PUT", network, networkBody({ age: "new" }));
  simulator.moveClock(ms);
  const poll = await ask("GET", begun.headers.get("azure-asyncoperation") ?? "");
  expect(poll.status).toBe(200);
  expect(poll.body.status).toBe(status);
  if (status === "Failed")
    expect(poll.body.error).toEqual({ code: "AllocationFailed", message: "no room", details: [] });
});

test("a stale read sees the world of a while ago, and lists do too", async () => {
  const { ask, simulator } = await worldWithNetwork();
  simulator.addFault({ match: { method: "GET" }, effect: { kind: "stale", ms: 2000 }, count: 3 });
  simulator.moveClock(5000);
  await ask("PUT", network, networkBody({ age: "new" }));
  await ask("PUT", `${network}2`, networkBody());
  simulator.moveClock(1000);
  expect((await ask("GET", network)).body.tags).toEqual({ age: "old" });
  expect((await ask("GET", `${network}2`)).status).toBe(404);
  const list = await ask("GET", network.slice(0, network.lastIndexOf("/")));
  expect((list.body.value as unknown[]).length).toBe(1);
  expect((await ask("GET", network)).body.tags).toEqual({ age: "new" });
});

test("a throttling storm strikes one identity for a while", async () => {
  const { ask, simulator } = await worldWithNetwork();
  simulator.addFault({
    match: { identity: owner.appId },
    effect: { kind: "throttled", retryAfterSeconds: 17 },
    forMs: 60_000,
  });
  const refused = await ask("GET", network);
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("17");
  simulator.moveClock(60_000);
  expect((await ask("GET", network)).status).toBe(200);
});

test("only the nth request that matches is struck", async () => {
  const { ask, simulator } = await worldWithNetwork();
  simulator.addFault({ match: { method: "GET" }, effect: { kind: "html", status: 500 }, nth: 2 });
  const seen = [];
  for (let i = 0; i < 3; i++) seen.push((await ask("GET", network)).status);
  expect(seen).toEqual([200, 500, 200]);
});

test("the same seed strikes the same requests, another seed others", async () => {
  const run = async (seed: string) => {
    const { ask, simulator } = await smallWorld({ seed });
    simulator.addFault({ match: {}, effect: { kind: "html" }, probability: 0.5 });
    const seen = [];
    for (let i = 0; i < 40; i++) seen.push((await ask("GET", group)).status === 502 ? "x" : ".");
    return seen.join("");
  };
  const first = await run("one");
  expect(await run("one")).toBe(first);
  expect(await run("two")).not.toBe(first);
  expect(first).toMatch(/x/);
  expect(first).toMatch(/\./);
});

test("a sign-in is struck by a rule that names its path, and by no other", async () => {
  const { simulator } = await worldWithNetwork();
  const signIn = async () => {
    const url = `${simulator.url}/${owner.tenant}/v2.0/.well-known/openid-configuration`;
    return (await fetch(url)).status;
  };
  simulator.addFault({ match: { method: "GET" }, effect: { kind: "html", status: 500 } });
  expect(await signIn()).toBe(200);
  simulator.addFault({ match: { path: "*/openid-configuration" }, effect: { kind: "throttled" } });
  expect(await signIn()).toBe(429);
  simulator.addFault({ match: { path: "*/openid-configuration" }, effect: { kind: "html" } });
  expect(await signIn()).toBe(429);
});
