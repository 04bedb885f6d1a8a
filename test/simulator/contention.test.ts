import { Refusal } from "@postern/azure-simulator/arm/refusal.ts";
import { Throttle } from "@postern/azure-simulator/arm/throttle.ts";
import { ManualClock } from "@postern/azure-simulator/control/manual-clock.ts";
import { expect, test } from "vitest";
import { group, network, networkBody, smallWorld, subscription, tenant } from "./small-world.ts";

const zone = `${group}/providers/Microsoft.Network/privateDnsZones/a.example`;
const slow = { operationMs: { "*": 30_000 } };

/** A world with a group in it, on a clock that stands. */
async function world(options: Parameters<typeof smallWorld>[0] = {}) {
  const clock = new ManualClock();
  const small = await smallWorld({ clock, ...options });
  await small.ask("PUT", group, { location: "westeurope" });
  return small;
}

test("many who wait as long as they are told all get their turn", () => {
  let now = 0;
  const throttle = new Throttle({
    clock: { now: () => now, after: () => () => {} },
    limits: { write: { burst: 10, perSecond: 10 } },
  });
  const workers = Array.from({ length: 20 }, (_, i) => i * 50);
  let done = 0;
  for (; now < 60_000; now += 10)
    workers.forEach((at, i) => {
      if (now < at) return;
      try {
        throttle.take("me", "s", "write");
        done++;
        workers[i] = now + 10;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        workers[i] = now + Number(error.headers["Retry-After"]) * 1000;
      }
    });
  // Ten a second and the ten that were there: some are left over while all of them wait.
  expect(done).toBeGreaterThan(300);
  expect(done).toBeLessThanOrEqual(610);
});

test("what is recreated under the same name has an etag that its predecessor never had", async () => {
  const { ask } = await world();
  const old = (await ask("PUT", network, networkBody())).body.etag;
  await ask("GET", network);
  await ask("DELETE", network);
  await ask("GET", network);
  const made = await ask("PUT", network, networkBody({ made: "again" }));
  expect(made.status).toBe(201);
  expect(made.body.etag).not.toBe(old);
  const late = await ask("PUT", network, networkBody({ by: "somebody late" }), {
    "if-match": String(old),
  });
  expect(late.status).toBe(412);
});

test("a list in pages leaves nothing out when something is deleted between them", async () => {
  const { ask } = await world({ pageSize: 2 });
  const record = (name: string) => `${zone}/TXT/${name}`;
  await ask("PUT", zone, { location: "global" });
  await ask("GET", zone);
  for (const name of ["a", "b", "c", "d", "e"])
    await ask("PUT", record(name), { properties: { ttl: 30, txtRecords: [{ value: [name] }] } });
  const names: string[] = [];
  let page = await ask("GET", `${zone}/TXT`);
  for (let pages = 1; ; pages++) {
    for (const { name } of page.body.value as { name: string }[]) names.push(name);
    if (page.body.nextLink === undefined) break;
    if (pages === 1) for (const name of ["a", "b"]) await ask("DELETE", record(name));
    page = await ask("GET", String(page.body.nextLink));
  }
  expect(names).toEqual(["a", "b", "c", "d", "e"]);
  expect((await ask("GET", `${zone}/TXT?$skiptoken=7`)).status).toBe(400);
});

test("an operation and its result are shown only to those who have the right to them", async () => {
  const { ask, simulator } = await world(slow);
  const put = await ask("PUT", network, networkBody());
  const nobody = simulator.directory.tokenFor({ tenant, objectId: "nobody", appId: "nobody" });
  const as = { authorization: `Bearer ${nobody}` };
  const poll = String(put.headers.get("azure-asyncoperation"));
  const refused = await ask("GET", poll, undefined, as);
  expect([refused.status, (refused.body.error as { code: string }).code]).toEqual([
    403,
    "AuthorizationFailed",
  ]);
  expect((await ask("GET", poll)).body).toEqual({ status: "InProgress" });
  const id = /operations\/([^?]+)/.exec(poll)?.[1];
  const results = `/subscriptions/${subscription}/providers/Microsoft.Network/locations/westeurope/operationResults/${id}`;
  expect((await ask("GET", results, undefined, as)).status).toBe(403);
});

test("a delete that is asked for again and again ends when the first one would have", async () => {
  const { ask, simulator } = await world(slow);
  await ask("PUT", zone, { location: "global" });
  simulator.moveClock(30_000);
  const first = await ask("DELETE", zone);
  for (let i = 0; i < 2; i++) {
    simulator.moveClock(10_000);
    const requeue = await ask("DELETE", zone);
    expect(requeue.status).toBe(202);
    const marks = [first, requeue].map((each) => each.headers.get("azure-asyncoperation"));
    expect(marks[1]).toBe(marks[0]);
  }
  simulator.moveClock(10_000);
  expect((await ask("GET", zone)).status).toBe(404);
  expect((await ask("GET", String(first.headers.get("azure-asyncoperation")))).body).toEqual({
    status: "Succeeded",
  });
});

test("nothing is written into what is being deleted, nor its tags", async () => {
  const { ask, simulator } = await world(slow);
  await ask("PUT", zone, { location: "global" });
  simulator.moveClock(30_000);
  await ask("DELETE", zone);
  const record = await ask("PUT", `${zone}/A/api`, {
    properties: { ttl: 30, aRecords: [{ ipv4Address: "10.0.0.4" }] },
  });
  expect(record.status).toBe(409);
  expect((await ask("PATCH", zone, { tags: { a: "b" } })).status).toBe(409);
});

test("nothing comes to depend on a group that is being deleted", async () => {
  const { ask, simulator } = await world(slow);
  const other = `/subscriptions/${subscription}/resourceGroups/other`;
  const subnet = `${other}/providers/Microsoft.Network/virtualNetworks/v/subnets/s`;
  await ask("PUT", other, { location: "westeurope" });
  const body = networkBody();
  body.properties = {
    addressSpace: { addressPrefixes: ["10.0.0.0/16"] },
    subnets: [{ name: "s", properties: { addressPrefix: "10.0.0.0/24" } }],
  };
  await ask("PUT", `${other}/providers/Microsoft.Network/virtualNetworks/v`, body);
  simulator.moveClock(30_000);
  await ask("DELETE", other);
  const card = await ask("PUT", `${group}/providers/Microsoft.Network/networkInterfaces/n`, {
    location: "westeurope",
    properties: { ipConfigurations: [{ name: "c", properties: { subnet: { id: subnet } } }] },
  });
  expect(card.status).toBe(429);
  expect(card.text).toContain("ReferencedResourceNotProvisioned");
});

test("a fault of operations waits for one, whatever is read before", async () => {
  const { ask, simulator } = await world();
  simulator.addFault({
    match: { type: "Microsoft.Network/virtualNetworks" },
    effect: { kind: "operation", error: { code: "Broken", message: "it broke" } },
    count: 1,
  });
  await ask("GET", network);
  const put = await ask("PUT", network, networkBody());
  const poll = await ask("GET", String(put.headers.get("azure-asyncoperation")));
  expect(poll.body).toMatchObject({ status: "Failed", error: { code: "Broken" } });
});

test("a group with a subnet that another group uses is not deleted, and goes on as it was", async () => {
  const { ask, simulator } = await world(slow);
  const other = `/subscriptions/${subscription}/resourceGroups/other`;
  const far = `${other}/providers/Microsoft.Network/virtualNetworks/v`;
  await ask("PUT", other, { location: "westeurope" });
  const body = networkBody();
  body.properties = {
    addressSpace: { addressPrefixes: ["10.0.0.0/16"] },
    subnets: [{ name: "s", properties: { addressPrefix: "10.0.0.0/24" } }],
  };
  await ask("PUT", far, body);
  simulator.moveClock(30_000);
  const card = `${group}/providers/Microsoft.Network/networkInterfaces/n`;
  const made = await ask("PUT", card, {
    location: "westeurope",
    properties: {
      ipConfigurations: [{ name: "c", properties: { subnet: { id: `${far}/subnets/s` } } }],
    },
  });
  expect(made.status).toBe(201);
  const going = await ask("DELETE", other);
  expect(going.status).toBe(202);
  simulator.moveClock(30_000);
  const ended = await ask("GET", String(going.headers.get("location")));
  expect([ended.status, (ended.body.error as { code: string }).code]).toEqual([
    409,
    "ResourceGroupDeletionBlocked",
  ]);
  expect((await ask("GET", other)).body.properties).toEqual({ provisioningState: "Succeeded" });
  expect((await ask("GET", far)).status).toBe(200);

  await ask("DELETE", card);
  simulator.moveClock(30_000);
  await ask("DELETE", other);
  simulator.moveClock(30_000);
  expect((await ask("GET", other)).status).toBe(404);
});
