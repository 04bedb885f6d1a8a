import { request } from "node:http";
import { ManualClock } from "@postern/azure-simulator/control/manual-clock.ts";
import { expect, test } from "vitest";
import { group, network, networkBody, owner, smallWorld } from "./small-world.ts";

test("the clock stands until it is moved, and operations end on the way", async () => {
  const { ask, control } = await smallWorld({
    clock: new ManualClock(Date.UTC(2026, 0, 1)),
    operationMs: { "*": 60_000 },
  });
  await ask("PUT", group, { location: "westeurope" });
  await ask("PUT", network, networkBody());
  expect((await control("GET", "clock")).body).toEqual({
    mode: "manual",
    now: "2026-01-01T00:00:00.000Z",
    nextDue: "2026-01-01T00:01:00.000Z",
  });
  const moved = await control("POST", "clock", { advanceMs: 60_000 });
  expect(moved.body).toMatchObject({ now: "2026-01-01T00:01:00.000Z", nextDue: null });
  expect((await ask("GET", network)).body.properties).toMatchObject({
    provisioningState: "Succeeded",
  });
  expect((await control("POST", "clock", { to: "2025-01-01T00:00:00Z" })).status).toBe(400);
  expect((await control("POST", "clock", {})).status).toBe(400);
});

test("a real clock cannot be moved", async () => {
  const { control } = await smallWorld();
  const refused = await control("POST", "clock", { advanceMs: 1 });
  expect(refused.status).toBe(409);
  expect(refused.text).toContain("--clock manual");
});

test("a fault is added, listed with what it did, and taken back", async () => {
  const { ask, control } = await smallWorld();
  const rule = { match: { method: "GET" }, effect: { kind: "html", status: 500 } };
  const { id } = (await control("POST", "faults", rule)).body;
  expect((await ask("GET", group)).status).toBe(500);
  expect((await control("GET", "faults")).body.value).toEqual([{ ...rule, id, seen: 1, hit: 1 }]);
  expect((await control("DELETE", `faults/${String(id)}`)).status).toBe(204);
  expect((await control("DELETE", `faults/${String(id)}`)).status).toBe(404);
  expect((await ask("GET", group)).status).toBe(404);
});

test.each([
  [{ match: {} }, "'effect' must be given"],
  [{ effect: { kind: "explode" } }, "'effect.kind' must be one of"],
  [{ effect: { kind: "html" }, mach: {} }, "'mach' is not known here"],
  [{ effect: { kind: "html" }, match: { methd: "GET" } }, "'match.methd' is not known here"],
  [{ effect: { kind: "html" }, probability: 2 }, "'probability' must be from 0 to 1"],
  [{ effect: { kind: "answer", status: 99 } }, "'effect.status' must be a whole number from 200"],
  [{ effect: { kind: "html", status: 500.5 } }, "'effect.status' must be a whole number from 200"],
  [{ effect: { kind: "slow" } }, "'effect.ms' must be given"],
  [{ effect: { kind: "lost", when: "never" } }, "'effect.when' must be before or after"],
  [{ effect: { kind: "html" }, nth: "2" }, "'nth' must be a number"],
  [
    { effect: { kind: "answer", status: 500, headers: { "a b": "c" } } },
    "'effect.headers.a b' cannot be sent as a header",
  ],
  [
    { effect: { kind: "answer", status: 500, headers: { a: "b\r\nc: d" } } },
    "'effect.headers.a' cannot be sent as a header",
  ],
  [
    { effect: { kind: "answer", status: 500, headers: { "Content-Length": "1" } } },
    "'effect.headers.Content-Length' follows from the body",
  ],
])("a rule that cannot be is refused: %j", async (rule, why) => {
  const { control } = await smallWorld();
  const refused = await control("POST", "faults", rule);
  expect(refused.status).toBe(400);
  expect(refused.text).toContain(why);
  expect((await control("GET", "faults")).body.value).toEqual([]);
});

test("the request log says who did what and what it cost", async () => {
  const { ask, control } = await smallWorld();
  await ask("PUT", group, { location: "westeurope" });
  await ask("GET", network);
  await ask("GET", group, undefined, { authorization: "Bearer nobody" });
  const { value } = (await control("GET", "requests")).body;
  expect(value).toMatchObject([
    {
      method: "PUT",
      status: 201,
      identity: owner.objectId,
      action: "Microsoft.Resources/subscriptions/resourceGroups/write",
      cost: "write",
    },
    { status: 404, action: "Microsoft.Network/virtualNetworks/read", cost: "read" },
    { status: 401, identity: "", cost: "none" },
  ]);
  const some = await control("GET", "requests?action=*/virtualNetworks/*&status=404&limit=5");
  expect((some.body.value as unknown[]).length).toBe(1);
  expect((await control("GET", "requests?colour=red")).status).toBe(400);
  await control("DELETE", "requests");
  expect((await control("GET", "requests")).body.value).toEqual([]);
});

test("two snapshots differ by what was added, removed and changed", async () => {
  const { ask, control } = await smallWorld();
  await ask("PUT", group, { location: "westeurope" });
  await ask("PUT", network, networkBody({ a: "1" }));
  await ask("PUT", `${group}2`, { location: "westeurope" });
  expect((await control("PUT", "snapshots/before")).status).toBe(201);
  await ask("PUT", network, networkBody({ a: "2", b: "3" }));
  await ask("PUT", `${network}2`, networkBody());
  await ask("DELETE", `${group}2`);
  await ask("GET", group);
  const diff = (await control("GET", "diff?from=before")).body;
  expect(diff).toEqual({
    added: [`${network}2`],
    removed: [`${group}2`],
    changed: [
      {
        id: network,
        changes: [
          { path: "top.tags.a", from: "1", to: "2" },
          { path: "top.tags.b", to: "3" },
        ],
      },
    ],
  });
  expect((await control("GET", "diff?from=nothing")).status).toBe(404);
});

test("an operation ends when the control API says so", async () => {
  const { ask, control } = await smallWorld({ operationMs: { "*": 3_600_000 } });
  await ask("PUT", group, { location: "westeurope" });
  await ask("PUT", network, networkBody());
  const [running] = (await control("GET", "operations")).body.value as { id: string }[];
  await control("POST", `operations/${running?.id}`, { status: "Failed" });
  expect((await ask("GET", network)).body.properties).toMatchObject({
    provisioningState: "Failed",
  });
});

test("an operation that outlasts the calendar is shown without an end", async () => {
  const { ask, control } = await smallWorld();
  await ask("PUT", group, { location: "westeurope" });
  await control("POST", "faults", { effect: { kind: "operation", ms: 1e300 } });
  await ask("PUT", network, networkBody());
  expect((await control("GET", "clock")).body).toMatchObject({ nextDue: null });
  expect((await control("GET", "operations")).body.value).toMatchObject([{ dueAt: null }]);
});

test("limits can be changed while it runs", async () => {
  const { ask, control } = await smallWorld();
  await control("PUT", "limits", { read: { burst: 2, perSecond: 0.01 } });
  const seen = [];
  for (let i = 0; i < 3; i++) seen.push((await ask("GET", group)).status);
  expect(seen).toEqual([404, 404, 429]);
  expect((await control("PUT", "limits", { read: { burst: 0, perSecond: 1 } })).status).toBe(400);
});

test.each([
  ["a browser's page", { origin: "http://evil.example" }, 403],
  ["a name that was made to mean loopback", { host: "evil.example" }, 403],
  ["curl on this machine", {}, 200],
] as const)("the control API on loopback meets %s", async (_who, headers, status) => {
  const { simulator } = await smallWorld();
  expect(await statusOf(`${simulator.url}/_postern/clock`, headers)).toBe(status);
});

test("on any other address the control API needs its token", async () => {
  const { simulator } = await smallWorld({ host: "0.0.0.0" });
  const url = `${simulator.url}/_postern/clock`;
  expect(await statusOf(url, {})).toBe(403);
  expect(await statusOf(url, { "x-postern-control": "wrong" })).toBe(403);
  expect(await statusOf(url, { "x-postern-control": simulator.controlToken })).toBe(200);
});

/** Fetch lets nobody choose the host header. */
function statusOf(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

test("the surface tells its pages, and a slash more or less does no harm", async () => {
  const { simulator } = await smallWorld();
  for (const root of ["/_postern", "/_postern/", "/_postern?x=1"]) {
    const response = await fetch(`${simulator.url}${root}`);
    expect(response.status, root).toBe(200);
    expect(await response.json()).toMatchObject({ pages: expect.arrayContaining(["GET clock"]) });
  }
  expect((await fetch(`${simulator.url}/_postern//clock`)).status).toBe(200);
  expect((await fetch(`${simulator.url}/_posternish`)).status).toBe(401);
});
