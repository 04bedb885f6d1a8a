import { ManualClock } from "@postern/azure-simulator/control/manual-clock.ts";
import { expect, test } from "vitest";
import { group, networkBody, owner, smallWorld, tenant } from "./small-world.ts";

const start = Date.UTC(2026, 0, 1);

test("a bucket of reads holds 250 and fills by 25 a second, as Azure's does", async () => {
  const { ask, simulator } = await smallWorld({ clock: new ManualClock(start) });
  for (let i = 0; i < 250; i++) expect((await ask("GET", group)).status).toBe(404);
  const refused = await ask("GET", group);
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(refused.headers.get("x-ms-failure-cause")).toBe("gateway");
  expect(refused.body.error).toMatchObject({ code: "TooManyRequests" });
  simulator.moveClock(1000);
  for (let i = 0; i < 25; i++) expect((await ask("GET", group)).status).toBe(404);
  expect((await ask("GET", group)).status).toBe(429);
});

test("asking before the wait is over renews the wait", async () => {
  const limits = { read: { burst: 1, perSecond: 0.1 } };
  const { ask, simulator } = await smallWorld({ clock: new ManualClock(start), limits });
  const status = async () => (await ask("GET", group)).status;
  expect(await status()).toBe(404);
  expect((await ask("GET", group)).headers.get("retry-after")).toBe("10");
  simulator.moveClock(9000);
  expect((await ask("GET", group)).headers.get("retry-after")).toBe("1");
  simulator.moveClock(999);
  expect(await status()).toBe(429);
  // There is one to be had by now, but the wait that was given has not passed.
  simulator.moveClock(500);
  expect(await status()).toBe(429);
  simulator.moveClock(1000);
  expect(await status()).toBe(404);
});

test("reads, writes and deletes have buckets of their own, and so has each identity", async () => {
  const one = { burst: 1, perSecond: 0.001 };
  const { ask, simulator } = await smallWorld({ limits: { read: one, write: one, delete: one } });
  expect((await ask("PUT", group, { location: "x" })).status).toBe(201);
  expect((await ask("GET", group)).status).toBe(200);
  expect((await ask("DELETE", group)).status).toBe(202);
  for (const method of ["PUT", "GET", "DELETE"])
    expect((await ask(method, group, method === "PUT" ? {} : undefined)).status).toBe(429);
  const other = { ...owner, objectId: "other-object" };
  simulator.roles.makeOwner(other);
  const authorization = `Bearer ${simulator.directory.tokenFor(other)}`;
  expect((await ask("GET", group, undefined, { authorization })).status).not.toBe(429);
});

test("a subscription that is not there has no limit", async () => {
  const { ask } = await smallWorld({ limits: { read: { burst: 1, perSecond: 0.001 } } });
  const nowhere = "/subscriptions/99999999-9999-4999-8999-999999999999/resourceGroups/rg";
  for (let i = 0; i < 3; i++) expect((await ask("GET", nowhere)).status).toBe(404);
  expect((await ask("GET", group)).status).toBe(404);
  expect((await ask("GET", group)).status).toBe(429);
});

test("all identities of a subscription together have fifteen times as much", async () => {
  const limits = { read: { burst: 2, perSecond: 0.001 } };
  const { ask, simulator } = await smallWorld({ limits });
  const seen: number[] = [];
  for (let i = 0; i < 16; i++) {
    const one = { tenant, objectId: `one-of-many-${i}`, appId: "a" };
    simulator.roles.makeOwner(one);
    const authorization = `Bearer ${simulator.directory.tokenFor(one)}`;
    for (let j = 0; j < 2; j++)
      seen.push((await ask("GET", group, undefined, { authorization })).status);
  }
  expect(seen.filter((status) => status === 429)).toHaveLength(2);
  expect(seen.slice(0, 30)).not.toContain(429);
});

test("what a provider answers counts down in both headers, what the front door refuses in none", async () => {
  const { ask } = await smallWorld({ clock: new ManualClock(start) });
  const network = `${group}/providers/Microsoft.Network/virtualNetworks/v`;
  const left = (headers: Headers, word: string) => [
    headers.get(`x-ms-ratelimit-remaining-subscription-${word}`),
    headers.get(`x-ms-ratelimit-remaining-subscription-global-${word}`),
  ];
  const missing = await ask("GET", group);
  expect(left(missing.headers, "reads")).toEqual([null, null]);
  const made = await ask("PUT", group, { location: "westeurope" });
  expect(left(made.headers, "writes")).toEqual(["199", "2999"]);
  await ask("PUT", network, networkBody());
  // A child that is not there is the provider's to tell.
  const child = await ask("GET", `${network}/subnets/none`);
  expect(child.status).toBe(404);
  expect(left(child.headers, "reads")).toEqual(["248", "3748"]);
  const deleted = await ask("DELETE", network);
  expect(left(deleted.headers, "deletes")).toEqual(["199", "2999"]);
});
