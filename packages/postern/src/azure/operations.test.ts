import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { caller, failure, fakeArm, linkId, refuse } from "../../../../test/azure/fake-arm.ts";
import { json, type ReceivedRequest } from "../../../../test/loopback.ts";
import { ManualClock } from "../../../../test/manual-clock.ts";
import { fc } from "../../../../test/setup/random.ts";
import { Durations } from "./durations.ts";
import type { Method } from "./exchange.ts";
import { Operations } from "./operations.ts";
import { staticToken } from "./tokens.ts";

const query = { "api-version": "2025-05-01" };
const statusPath = `${linkId.split("/resourceGroups")[0]}/providers/Microsoft.Network/locations/westeurope/operations/1`;
const resultPath = statusPath.replace("operations", "operationResults");

type Answer = [status: number, body: unknown, headers?: Record<string, string>];

/** Begin a write with a first answer, then answer each look in turn; the last answer stays. */
async function begun(method: Method, first: Answer, ...polls: Answer[]) {
  const made = await fakeArm((request, response) => {
    if (request.method === method) return reply(response, request, first);
    reply(response, request, (polls.length > 1 ? polls.shift() : polls[0]) ?? [500, {}]);
  });
  const { arm } = made;
  const body = method === "DELETE" ? undefined : { location: "westeurope" };
  const answer = await arm.request(method, linkId, { query, body });
  const write = arm.operations.begin({ id: linkId, method, body, query, answer });
  /** Come back when it is due. */
  const check = async () => {
    made.clock.reconcile(600_000);
    return arm.check(linkId);
  };
  const polled = () => made.requests.filter((each) => each.method === "GET").map(({ url }) => url);
  return { ...made, write, check, looked: polled };
}

function reply(
  response: ServerResponse,
  request: ReceivedRequest,
  [status, body, headers = {}]: Answer,
): void {
  const base = `http://${request.headers.host}`;
  const own = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replace("$BASE", base)]),
  );
  if (body === undefined) {
    response.writeHead(status, own);
    response.end();
  } else json(response, status, body, own);
}

const state = (provisioningState: string) => ({ name: "api", properties: { provisioningState } });
const async = { "azure-asyncoperation": `$BASE${statusPath}?api-version=2025-05-01&t=1&c=2` };
const location = { location: `$BASE${resultPath}?api-version=2025-05-01` };
const notFound: Answer = [404, { error: { code: "ResourceNotFound", message: "m" } }];

describe("the first answer to a write", () => {
  test.each<[string, Method, Answer, "done" | "running"]>([
    ["network PUT of a new one", "PUT", [201, state("Updating"), async], "running"],
    ["PUT without a change", "PUT", [200, state("Succeeded"), async], "done"],
    [
      "load balancer PUT that is done though it gives an address",
      "PUT",
      [201, state("Succeeded"), async],
      "done",
    ],
    ["network interface PUT", "PUT", [201, state("Succeeded")], "done"],
    ["virtual machine PUT without an address", "PUT", [200, state("Updating")], "running"],
    [
      "record set PUT, which has no state",
      "PUT",
      [201, { name: "a", properties: { ttl: 300 } }],
      "done",
    ],
    [
      "private zone PUT, with an empty body",
      "PUT",
      [202, {}, { ...async, ...location }],
      "running",
    ],
    ["PUT accepted with no address at all", "PUT", [202, undefined], "running"],
    [
      "PUT accepted that says Succeeded, which is about what was there before",
      "PUT",
      [202, state("Succeeded"), async],
      "running",
    ],
    ["network DELETE", "DELETE", [202, undefined, { ...async, ...location }], "running"],
    [
      "network interface DELETE, with 200 and an address",
      "DELETE",
      [200, undefined, { ...async, ...location }],
      "running",
    ],
    [
      "resource group DELETE, with a location only",
      "DELETE",
      [202, undefined, location],
      "running",
    ],
    ["record set DELETE", "DELETE", [200, undefined], "done"],
    ["DELETE of what is absent", "DELETE", [204, undefined], "done"],
    [
      "Operation-Location, as newer services call it",
      "PUT",
      [201, state("Creating"), { "operation-location": `$BASE${statusPath}` }],
      "running",
    ],
  ])("%s", async (_name, method, first, expected) => {
    const { write, arm } = await begun(method, first);
    expect(write.state).toBe(expected);
    expect(arm.operations.size).toBe(expected === "running" ? 1 : 0);
  });

  test("a state that failed at once is an error", async () => {
    expect(await failure(begun("PUT", [200, state("Failed")]))).toMatchObject({
      code: "OperationFailed",
    });
  });
});

describe("looking at an operation", () => {
  const running: Answer = [200, { status: "InProgress" }];
  const succeeded: Answer = [200, { status: "Succeeded" }];
  const put: Answer = [201, state("Updating"), async];
  const del: Answer = [202, undefined, { ...async, ...location }];

  test.each<[string, Method, Answer, Answer]>([
    ["the status says so", "PUT", put, succeeded],
    ["the status says so in another case", "PUT", put, [200, { status: "succeeded" }]],
    [
      "the status of compute says so",
      "PUT",
      put,
      [200, { startTime: "x", endTime: "y", status: "Succeeded", name: "n" }],
    ],
    ["the status has become the resource", "PUT", put, [200, state("Succeeded")]],
    ["the status is empty", "PUT", put, [200, undefined]],
    ["the result is there", "DELETE", [202, undefined, location], [200, undefined]],
    ["the result is empty", "DELETE", [202, undefined, location], [204, undefined]],
    ["the resource says so", "PUT", [200, state("Updating")], [200, state("Succeeded")]],
    ["the resource is gone after a delete", "DELETE", [202, undefined], notFound],
    ["the operation is gone after a delete", "DELETE", del, notFound],
  ])("it is done when %s", async (_name, method, first, observation) => {
    const { check, arm } = await begun(method, first, observation);
    expect(await check()).toMatchObject({ state: "done" });
    expect(arm.operations.size).toBe(0);
    expect(await check()).toBeUndefined();
  });

  test.each<[string, Method, Answer, Answer]>([
    ["the status says so", "PUT", put, running],
    ["the status is a word that we do not know", "PUT", put, [200, { status: "Updating" }]],
    ["the status answers 202", "PUT", put, [202, { status: "Succeeded" }]],
    ["the result answers 202", "DELETE", [202, undefined, location], [202, undefined]],
    ["the resource says so", "PUT", [200, state("Updating")], [200, state("Updating")]],
    [
      "the resource can still be read after a delete",
      "DELETE",
      [202, undefined],
      [200, state("Succeeded")],
    ],
    [
      "Azure has no time",
      "PUT",
      put,
      [503, { error: { code: "ServerBusy" } }, { "retry-after": "60" }],
    ],
    [
      "Azure throttles",
      "PUT",
      put,
      [429, { error: { code: "TooManyRequests" } }, { "retry-after": "60" }],
    ],
    ["a proxy answers", "PUT", put, [502, undefined]],
  ])("it runs on when %s", async (_name, method, first, observation) => {
    const { check, arm } = await begun(method, first, observation);
    expect(await check()).toMatchObject({ state: "running" });
    expect(arm.operations.size).toBe(1);
  });

  test.each<[string, Method, Answer, Answer, string]>([
    [
      "Failed with HTTP 200",
      "PUT",
      put,
      [
        200,
        {
          status: "Failed",
          error: { code: "InvalidResourceReference", message: "m", details: [] },
        },
      ],
      "InvalidResourceReference",
    ],
    [
      "Canceled because another write came",
      "PUT",
      put,
      [
        200,
        {
          status: "Canceled",
          error: {
            code: "Canceled",
            message: "Operation was canceled.",
            details: [{ code: "CanceledAndSupersededDueToAnotherOperation", message: "by (guid)" }],
          },
        },
      ],
      "CanceledAndSupersededDueToAnotherOperation",
    ],
    ["Failed without a word", "PUT", put, [200, { status: "Failed" }], "OperationFailed"],
    ["Cancelled without a word", "PUT", put, [200, { status: "Cancelled" }], "Canceled"],
    [
      "a resource that failed",
      "PUT",
      [200, state("Updating")],
      [200, state("Failed")],
      "OperationFailed",
    ],
    ["a resource that vanished", "PUT", [200, state("Updating")], notFound, "ResourceNotFound"],
    [
      "a look that is refused for good",
      "PUT",
      put,
      [409, { error: { code: "AnotherOperationInProgress" } }],
      "AnotherOperationInProgress",
    ],
  ])("it failed: %s", async (_name, method, first, observation, code) => {
    const { check, arm } = await begun(method, first, observation);
    expect(await check()).toMatchObject({ state: "failed", error: { code } });
    expect(arm.operations.size).toBe(0);
  });

  test("whoever may not write looks on, and the failure is still told to the one who may", async () => {
    const failed: Answer = [200, { status: "Failed", error: { code: "InternalServerError" } }];
    const { client: made, clock, check, looked: polled } = await begun("PUT", put, failed);
    const onlooker = made.for(caller({ mayWrite: () => false }));
    clock.reconcile(600_000);
    for (let i = 0; i < 2; i++)
      expect(await onlooker.check(linkId)).toMatchObject({ state: "failed" });
    expect(await check()).toMatchObject({
      state: "failed",
      error: { code: "InternalServerError" },
    });
    expect(await check()).toBeUndefined();
    expect(polled()).toHaveLength(1);
  });

  test("no request is made before it is due, and one when it is", async () => {
    const { arm, clock, write, looked: polled } = await begun("PUT", put, running);
    expect(write).toEqual({ state: "running", id: linkId, retryAfterMs: 5_000 });
    clock.reconcile(4_999);
    expect(await arm.check(linkId)).toEqual({ state: "running", retryAfterMs: 1 });
    expect(polled()).toEqual([]);
    clock.reconcile(1);
    expect(await arm.check(linkId)).toEqual({ state: "running", retryAfterMs: 1_250 });
    expect(polled()).toEqual([`${statusPath}?api-version=2025-05-01&t=1&c=2`]);
  });

  test("Azure's Retry-After is the least, on the first answer and on each look", async () => {
    const { arm, clock, write } = await begun(
      "PUT",
      [201, state("Updating"), { ...async, "retry-after": "30" }],
      [200, { status: "InProgress" }, { "retry-after": "40" }],
    );
    expect(write).toMatchObject({ retryAfterMs: 30_000 });
    clock.reconcile(30_000);
    expect(await arm.check(linkId)).toEqual({ state: "running", retryAfterMs: 40_000 });
  });

  test("two who look at once make one request", async () => {
    const { arm, clock, looked: polled } = await begun("PUT", put, running);
    clock.reconcile(5_000);
    await Promise.all([arm.check(linkId), arm.check(linkId.toUpperCase())]);
    expect(polled()).toHaveLength(1);
  });

  test("with no right to read the operation, the resource is looked at instead", async () => {
    const { check, looked: polled } = await begun(
      "PUT",
      put,
      [403, { error: { code: "AuthorizationFailed" } }],
      [200, state("Succeeded")],
    );
    expect(await check()).toMatchObject({ state: "running" });
    expect(await check()).toEqual({ state: "done" });
    expect(polled()[1]).toBe(`${linkId}?api-version=2025-05-01`);
  });

  test.each([
    ["another host", "http://attacker.example/subscriptions/x"],
    ["another port", "http://127.0.0.1:1/subscriptions/x"],
    ["another scheme", "https://127.0.0.1/subscriptions/x"],
    ["a user in the address", "http://a@b.example/"],
    ["no address", "http://"],
  ])("the token is not sent to %s", async (_name, address) => {
    const { check, looked: polled } = await begun("PUT", [
      201,
      state("Updating"),
      { "azure-asyncoperation": address },
    ]);
    expect(await check()).toMatchObject({ state: "failed", error: { code: "ForeignAddress" } });
    expect(polled()).toEqual([]);
  });

  test("an address without a host is one of Resource Manager", async () => {
    const { check, looked: polled } = await begun(
      "PUT",
      [201, state("Updating"), { "azure-asyncoperation": statusPath }],
      succeeded,
    );
    expect(await check()).toEqual({ state: "done" });
    expect(polled()).toEqual([statusPath]);
  });

  test("the result of a call is fetched where it lies", async () => {
    const { check } = await begun("POST", [202, undefined, { ...async, ...location }], succeeded, [
      200,
      { visible: true },
    ]);
    expect(await check()).toEqual({ state: "done", result: { visible: true } });
  });

  test("one that does not end is given up after an hour", async () => {
    const { check } = await begun("PUT", put, running);
    for (let i = 0; i < 5; i++) expect(await check()).toMatchObject({ state: "running" });
    expect(await check()).toMatchObject({ state: "failed", error: { code: "OperationTimedOut" } });
  });

  test("a caller who stops is told so, and the operation is kept", async () => {
    const { client: made, clock } = await begun("PUT", put, running);
    clock.reconcile(5_000);
    const stopped = made.for({
      priority: "change",
      signal: AbortSignal.abort(),
      mayWrite: () => true,
    });
    expect(await failure(stopped.check(linkId))).toMatchObject({ code: "Cancelled" });
    expect(stopped.operations.size).toBe(1);
  });

  test("another identity neither hears of it nor asks about it by its own token", async () => {
    const { client: made, clock, requests } = await begun("PUT", put, running);
    clock.reconcile(60_000);
    const before = requests.length;
    const other = made.for(caller(), staticToken("token-2", "another"));
    expect(await other.check(linkId)).toBeUndefined();
    expect(other.operations.runs(linkId, "PUT", { location: "westeurope" })).toBe(false);
    expect(requests).toHaveLength(before);
  });
});

test("the operations that are remembered are bounded, and the oldest goes first", () => {
  const operations = new Operations({ clock: new ManualClock(), most: 3 });
  for (let i = 0; i < 5; i++)
    operations.begin({
      id: `${linkId}${i}`,
      method: "PUT",
      query,
      body: {},
      answer: { status: 201, headers: {}, body: state("Updating") },
    });
  expect(operations.size).toBe(3);
  expect(operations.runs(`${linkId}0`, "PUT", {})).toBe(false);
  expect(operations.runs(`${linkId}4`, "PUT", {})).toBe(true);
});

describe("how often an operation is looked at", () => {
  /** Look as the registry does: first where it was learned, then a quarter as much again. */
  function pollsFor(durations: Durations, tookMs: number, late = 1.001): number {
    let at = durations.firstPollMs("k");
    let before = 0;
    let polls = 1;
    for (; at * late < tookMs; polls++) {
      before = at * late;
      at = before * 1.25;
    }
    durations.learn("k", { runningMs: before, dueMs: at, endedMs: at * late });
    return polls;
  }

  test("most need one look, whatever the usual time is, once it is learned", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 500, max: 300_000 }),
        fc.array(fc.double({ min: 0.5, max: 2, noNaN: true }), { minLength: 300, maxLength: 300 }),
        (usualMs, spread) => {
          const durations = new Durations();
          const polls = spread.map((factor) => pollsFor(durations, usualMs * factor)).slice(100);
          const mean = polls.reduce((sum, each) => sum + each, 0) / polls.length;
          expect(mean).toBeLessThan(1.5);
        },
      ),
      { numRuns: 30 },
    );
  });

  test("and the first look does not come long after the end", () => {
    const durations = new Durations();
    for (let i = 0; i < 400; i++) pollsFor(durations, 20_000 * (0.8 + (i % 5) / 10));
    expect(durations.firstPollMs("k")).toBeGreaterThan(18_000);
    expect(durations.firstPollMs("k")).toBeLessThan(32_000);
  });

  test("a hundred that began together teach as much as one", () => {
    const durations = new Durations();
    const learn = (runningMs: number, endedMs: number) =>
      durations.learn("k", { runningMs, dueMs: endedMs, endedMs });
    for (let i = 0; i < 100; i++) learn(20_000, 30_000);
    expect(durations.firstPollMs("k")).toBeGreaterThan(20_000);
    expect(durations.firstPollMs("k")).toBeLessThanOrEqual(30_000);
    for (let i = 0; i < 100; i++) learn(0, 20_000);
    expect(durations.firstPollMs("k")).toBeGreaterThan(18_000);
  });

  test("a process that is too busy to look in time does not take operations for longer than they are", () => {
    const durations = new Durations();
    for (let i = 0; i < 100; i++) pollsFor(durations, 30_000, 3);
    expect(durations.firstPollMs("k")).toBeLessThan(32_000);
    for (let i = 0; i < 20; i++) pollsFor(durations, 30_000);
    expect(durations.firstPollMs("k")).toBeGreaterThan(25_000);
    expect(durations.firstPollMs("k")).toBeLessThan(36_000);
  });

  test("and what was learned on a slow day is forgotten, though no look is there to the millisecond", () => {
    const durations = new Durations();
    pollsFor(durations, 120_000);
    for (let i = 0; i < 60; i++) pollsFor(durations, 30_000, 1.01);
    expect(durations.firstPollMs("k")).toBeLessThan(36_000);
  });

  test("of many whose duration nobody knows one is looked at, and the others when it has ended", async () => {
    let status = "InProgress";
    const { arm, clock, requests } = await fakeArm((one, response) => {
      if (one.method === "GET") json(response, 200, { status });
      else
        json(response, 201, state("Updating"), {
          "azure-asyncoperation": `${statusPath}/${one.url}`,
        });
    });
    const ids = ["a", "b", "c"].map((name) => `${linkId}${name}`);
    for (const id of ids) {
      const answer = await arm.request("PUT", id, { query, body: {} });
      arm.operations.begin({ id, method: "PUT", query, body: {}, answer });
    }
    const checkAll = () => Promise.all(ids.map((id) => arm.check(id)));
    const polls = () => requests.filter(({ method }) => method === "GET").length;
    clock.reconcile(5_000);
    expect(await checkAll()).toMatchObject(ids.map(() => ({ state: "running" })));
    expect(polls()).toBe(1);
    status = "Succeeded";
    clock.reconcile(1_250);
    expect((await checkAll())[0]).toEqual({ state: "done" });
    clock.reconcile(500);
    expect(await checkAll()).toEqual([undefined, { state: "done" }, { state: "done" }]);
    expect(polls()).toBe(4);
  });

  test("one that nobody looks after is not followed", async () => {
    const { arm, clock, requests } = await fakeArm((one, response) => {
      if (one.method === "GET") json(response, 200, { status: "InProgress" });
      else json(response, 201, state("Updating"), { "azure-asyncoperation": statusPath });
    });
    for (const id of [`${linkId}a`, `${linkId}b`]) {
      const answer = await arm.request("PUT", id, { query, body: {} });
      arm.operations.begin({ id, method: "PUT", query, body: {}, answer });
    }
    clock.reconcile(5_000);
    await arm.check(`${linkId}a`);
    clock.reconcile(1_250 + 5_000);
    await arm.check(`${linkId}b`);
    expect(requests.filter(({ method }) => method === "GET")).toHaveLength(2);
  });

  test("one kind does not teach another", () => {
    const durations = new Durations();
    pollsFor(durations, 100_000);
    expect(durations.firstPollMs("other")).toBe(5_000);
  });
});

test("a refused write begins nothing", async () => {
  const { arm } = await fakeArm((_request, response) =>
    refuse(response, 409, "AnotherOperationInProgress"),
  );
  await failure(arm.request("PUT", linkId, { query, body: {} }));
  expect(await arm.check(linkId)).toBeUndefined();
});
