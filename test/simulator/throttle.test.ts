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
  expect((await ask("PUT", group, { location: "westeurope" })).status).toBe(201);
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

/** A limit that lets this many through and does not fill again within a test. */
const only = (burst: number) => ({ burst, perSecond: 0.001 });

test("all identities of a subscription share the 1,000 writes and deletes of the network provider", async () => {
  const limits = { networkWrite: only(3) };
  const { ask, simulator } = await smallWorld({ clock: new ManualClock(start), limits });
  const network = `${group}/providers/Microsoft.Network/virtualNetworks/v`;
  // Resource groups are not the network provider's.
  for (let i = 0; i < 5; i++) await ask("PUT", group, { location: "westeurope" });
  expect((await ask("PUT", network, networkBody())).status).toBe(201);
  expect((await ask("DELETE", network)).status).toBe(202);
  const other = { ...owner, objectId: "other-object" };
  simulator.roles.makeOwner(other);
  const authorization = `Bearer ${simulator.directory.tokenFor(other)}`;
  await ask("PUT", network, networkBody(), { authorization });
  const refused = await ask("PUT", network, networkBody());
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1000"]);
  expect(refused.headers.get("x-ms-failure-cause")).toBeNull();
  expect(refused.body.error).toMatchObject({ code: "TooManyRequests" });
  expect((await ask("GET", network)).status).not.toBe(429);
});

test("the network provider has a limit of its own for reads", async () => {
  const { ask } = await smallWorld({ limits: { networkRead: only(2) } });
  await ask("PUT", group, { location: "westeurope" });
  const list = `${group}/providers/Microsoft.Network/virtualNetworks`;
  const statuses = [];
  for (let i = 0; i < 3; i++) statuses.push((await ask("GET", list)).status);
  expect(statuses).toEqual([200, 200, 429]);
  expect((await ask("GET", group)).status).toBe(200);
});

test("DNS and private DNS share 500 reads in 5 minutes, polls and lists included", async () => {
  const { ask, simulator } = await smallWorld({
    clock: new ManualClock(start),
    operationMs: { "*": 60_000 },
  });
  const left = (headers: Headers) =>
    headers.get("x-ms-ratelimit-remaining-subscription-resource-requests");
  await ask("PUT", group, { location: "westeurope" });
  const zones = `${group}/providers/Microsoft.Network/privateDnsZones`;
  const put = await ask("PUT", `${zones}/a.example`, { location: "global" });
  const poll = String(put.headers.get("azure-asyncoperation"));
  const polled = await ask("GET", poll);
  expect([polled.status, left(polled.headers)]).toEqual([202, "499"]);
  expect(polled.headers.get("x-ms-ratelimit-remaining-subscription-reads")).toBeNull();
  expect(left((await ask("GET", zones)).headers)).toBe("498");
  const publicZones = `${group}/providers/Microsoft.Network/dnsZones`;
  expect(left((await ask("GET", publicZones)).headers)).toBe("497");
  for (let n = 0; n < 497; n++) {
    // Resource Manager's own bucket of reads must not be the first to run out.
    if (n % 200 === 199) simulator.throttle.setLimits({ dnsRead: only(497 - n) });
    expect((await ask("GET", zones)).status).toBe(200);
  }
  const refused = await ask("GET", zones);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1000"]);
  // A JSON string that contains JSON, as in kubernetes-sigs/external-dns#4811.
  expect(JSON.parse(refused.body as unknown as string)).toMatchObject({ code: "Throttled" });
  const network = `${group}/providers/Microsoft.Network/virtualNetworks`;
  expect((await ask("GET", network)).status).toBe(200);
});

test("DNS says to wait 10 seconds, and has 5 minutes' worth of reads again after 5 minutes", async () => {
  const { ask, simulator } = await smallWorld({
    clock: new ManualClock(start),
    limits: { read: { burst: 1_000, perSecond: 1_000 } },
  });
  await ask("PUT", group, { location: "westeurope" });
  const zones = `${group}/providers/Microsoft.Network/privateDnsZones`;
  const countReads = async () => {
    for (let n = 0; ; n++) {
      const { status, headers } = await ask("GET", zones);
      if (status !== 200) return { n, retryAfter: headers.get("retry-after") };
    }
  };
  expect(await countReads()).toEqual({ n: 500, retryAfter: "10" });
  simulator.moveClock(10_000);
  expect((await countReads()).n).toBe(16);
  simulator.moveClock(300_000);
  expect((await countReads()).n).toBe(500);
});
