import type { Simulator } from "@postern/azure-simulator/simulator.ts";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { describe, expect, test } from "vitest";
import { codeOf, done } from "./link-world.ts";
import { group, network, networkBody, type SmallWorld, smallWorld } from "./small-world.ts";

const zone = `${group}/providers/Microsoft.Network/privateDnsZones/corp.example`;
const publicZone = `${group}/providers/Microsoft.Network/dnsZones/corp.example`;

async function withZone(): Promise<SmallWorld> {
  const world = await smallWorld();
  await done(world.ask, "PUT", group, { location: "westeurope" });
  await done(world.ask, "PUT", network, networkBody());
  await done(world.ask, "PUT", zone, { location: "global" });
  return world;
}

function a(...addresses: string[]): JsonObject {
  return { properties: { ttl: 30, aRecords: addresses.map((ipv4Address) => ({ ipv4Address })) } };
}

function link(to = network, registrationEnabled = false): JsonObject {
  return { location: "global", properties: { virtualNetwork: { id: to }, registrationEnabled } };
}

/** Put a copy of a resource beside it, without a write. */
function copy({ store }: Simulator, from: string, to: string): void {
  const original = store.get(from);
  if (original === undefined) throw new Error(`there is no ${from}`);
  const name = to.slice(to.lastIndexOf("/") + 1);
  store.put({ ...original, id: to, key: to.toLowerCase(), name });
}

describe("record sets", () => {
  test("are made, counted, listed and deleted", async () => {
    const { ask } = await withZone();
    const made = await ask("PUT", `${zone}/A/API`, a("10.0.0.4"));
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      name: "api",
      type: "Microsoft.Network/privateDnsZones/A",
      properties: { ttl: 30, fqdn: "api.corp.example.", isAutoRegistered: false },
    });
    expect(made.body.properties).not.toHaveProperty("provisioningState");
    expect((await ask("PUT", `${zone}/A/api`, a("10.0.0.5"))).status).toBe(200);
    expect((await ask("GET", zone)).body.properties).toMatchObject({ numberOfRecordSets: 2 });
    const all = (await ask("GET", `${zone}/ALL`)).body.value as JsonObject[];
    expect(all.map(({ type, name }) => [String(type).split("/").at(-1), name])).toEqual([
      ["SOA", "@"],
      ["A", "api"],
    ]);
    expect((await ask("DELETE", `${zone}/A/api`)).status).toBe(200);
    expect((await ask("DELETE", `${zone}/A/api`)).status).toBe(204);
    expect((await ask("GET", `${zone}/A/api`)).status).toBe(404);
  });

  test("are guarded by If-Match and If-None-Match", async () => {
    const { ask } = await withZone();
    const first = await ask("PUT", `${zone}/A/api`, a("10.0.0.4"), { "if-none-match": "*" });
    expect(first.status).toBe(201);
    const requeue = await ask("PUT", `${zone}/A/api`, a("10.0.0.5"), { "if-none-match": "*" });
    expect(requeue.status).toBe(412);
    expect(requeue.text).toContain("The Record set api exists already");
    const etag = String(first.body.etag);
    expect((await ask("PUT", `${zone}/A/api`, a("10.0.0.5"), { "if-match": etag })).status).toBe(
      200,
    );
    expect((await ask("PUT", `${zone}/A/api`, a("10.0.0.6"), { "if-match": etag })).status).toBe(
      412,
    );
    expect((await ask("PUT", `${zone}/A/new`, a("10.0.0.6"), { "if-match": "*" })).status).toBe(
      412,
    );
  });

  test("are merged by PATCH", async () => {
    const { ask } = await withZone();
    await ask("PUT", `${zone}/A/api`, a("10.0.0.4"));
    const came = await ask("PATCH", `${zone}/A/api`, { properties: { metadata: { who: "me" } } });
    expect(came.status).toBe(200);
    expect(came.body.properties).toMatchObject({
      ttl: 30,
      metadata: { who: "me" },
      aRecords: [{ ipv4Address: "10.0.0.4" }],
    });
  });

  test.each([
    ["the same address twice", "A/x", a("10.0.0.4", "10.0.0.4"), "multiple entries"],
    ["what is not an address", "A/x", a("10.0.0.400"), "an IPv4 address"],
    ["no TTL", "A/x", { properties: { aRecords: [] } }, "TTL"],
    ["records of another type", "AAAA/x", a("10.0.0.4"), "cannot have the field"],
    ["a label of 64 characters", `A/${"x".repeat(64)}`, a("10.0.0.4"), "not valid"],
    ["a star that is not the first label", "A/a.*", a("10.0.0.4"), "not valid"],
    ["a CNAME beside it", "A/alias", a("10.0.0.4"), "CNAME record with the same name"],
    [
      "a CNAME at the top",
      "CNAME/@",
      { properties: { ttl: 1, cnameRecord: { cname: "a.b" } } },
      "'@'",
    ],
  ])("are refused with %s", async (_why, name, body, words) => {
    const { ask } = await withZone();
    await ask("PUT", `${zone}/CNAME/alias`, {
      properties: { ttl: 1, cnameRecord: { cname: "a.b" } },
    });
    const came = await ask("PUT", `${zone}/${name}`, body);
    expect([came.status, codeOf(came)]).toEqual([400, "BadRequest"]);
    expect(came.text).toContain(words);
  });

  test("may have no records and a TTL of 0, and a CNAME can lose its record", async () => {
    const { ask } = await withZone();
    const empty = await ask("PUT", `${zone}/A/empty`, { properties: { ttl: 0 } });
    expect(empty.body.properties).toMatchObject({ ttl: 0, aRecords: [] });
    const cnameRecord = { cname: "elsewhere.example" };
    await ask("PUT", `${zone}/CNAME/c`, { properties: { ttl: 1, cnameRecord } });
    const emptied = await ask("PUT", `${zone}/CNAME/c`, { properties: { ttl: 1 } });
    expect([emptied.status, emptied.body.properties]).toEqual([
      200,
      { fqdn: "c.corp.example.", ttl: 1, isAutoRegistered: false },
    ]);
  });

  test("are refused without an envelope, and say what changed", async () => {
    const { ask } = await withZone();
    await ask("PUT", `${zone}/A/api`, a("10.0.0.4"));
    const stale = await ask("PUT", `${zone}/A/api`, a("10.0.0.5"), { "if-match": "x" });
    expect([stale.status, stale.body]).toEqual([
      412,
      {
        code: "PreconditionFailed",
        message: "The Record set api has been modified (etag mismatch).",
      },
    ]);
  });

  test.each([
    ["private", zone, 25_000, a("10.0.0.4")],
    ["public", publicZone, 10_000, { properties: { TTL: 30 } }],
  ])("a %s zone holds as many as it says and no more", async (_kind, zone, most, body) => {
    const { ask, simulator } = await withZone();
    await ask("PUT", publicZone, { location: "global" });
    await ask("PUT", `${zone}/A/first`, body);
    const { numberOfRecordSets } = (await ask("GET", zone)).body.properties as JsonObject;
    for (let at = Number(numberOfRecordSets); at < most; at++)
      copy(simulator, `${zone}/A/first`, `${zone}/A/more${at}`);
    expect((await ask("GET", zone)).body.properties).toMatchObject({
      numberOfRecordSets: most,
      maxNumberOfRecordSets: most,
    });
    const refused = await ask("PUT", `${zone}/A/last`, body);
    expect([refused.status, codeOf(refused)]).toEqual([400, "BadRequest"]);
    expect((await ask("PUT", `${zone}/A/first`, body)).status).toBe(200);
  });

  test("the SOA record stays", async () => {
    const { ask } = await withZone();
    expect((await ask("DELETE", `${zone}/SOA/@`)).status).toBe(400);
    const soaRecord = { email: "me.example", refreshTime: 60, serialNumber: 7 };
    const came = await ask("PUT", `${zone}/SOA/@`, { properties: { ttl: 60, soaRecord } });
    expect(came.body.properties).toMatchObject({
      ttl: 60,
      soaRecord: {
        host: "azureprivatedns.net",
        email: "me.example",
        refreshTime: 60,
        serialNumber: 1,
      },
    });
  });
});

describe("links", () => {
  test("keep their zone from being deleted, until they have gone", async () => {
    const { ask } = await withZone();
    await done(ask, "PUT", `${zone}/virtualNetworkLinks/L1`, link());
    const refused = await ask("DELETE", zone);
    expect([refused.status, codeOf(refused)]).toEqual([409, "CannotDeleteResource"]);
    expect(refused.text).toContain("virtualNetworkLinks/l1");
    await done(ask, "DELETE", `${zone}/virtualNetworkLinks/L1`);
    expect((await done(ask, "DELETE", zone)).body).toEqual({ status: "Succeeded" });
  });

  test("of one zone to one network: the second is taken and fails", async () => {
    const { ask } = await withZone();
    await done(ask, "PUT", `${zone}/virtualNetworkLinks/one`, link());
    expect((await ask("PUT", `${zone}/virtualNetworkLinks/two`, link())).status).toBe(202);
    const came = await done(ask, "PUT", `${zone}/virtualNetworkLinks/two`, link());
    expect(came.body).toMatchObject({ status: "Failed", error: { code: "Conflict" } });
    expect(came.text).toContain("is already linked to the virtual network");
    expect((await ask("GET", `${zone}/virtualNetworkLinks/two`)).status).toBe(404);
    expect((await done(ask, "PUT", `${zone}/virtualNetworkLinks/one`, link())).status).toBe(200);
  });

  test("of a zone of the same name elsewhere fail too", async () => {
    const { ask } = await withZone();
    const twin = zone.replace("/rg/", "/rg2/");
    await done(ask, "PUT", `${group}2`, { location: "westeurope" });
    await done(ask, "PUT", twin, { location: "global" });
    await done(ask, "PUT", `${zone}/virtualNetworkLinks/one`, link());
    const came = await done(ask, "PUT", `${twin}/virtualNetworkLinks/one`, link());
    expect(codeOf(came)).toBe("BadRequest");
    expect(came.text).toContain("multiple zones with overlapping namespaces");
  });

  test("register machines in one zone of a network only", async () => {
    const { ask } = await withZone();
    await done(ask, "PUT", `${zone}.org`, { location: "global" });
    await done(ask, "PUT", `${zone}/virtualNetworkLinks/one`, link(network, true));
    const came = await done(ask, "PUT", `${zone}.org/virtualNetworkLinks/one`, link(network, true));
    expect(came.text).toContain("auto-registration enabled");
    expect((await ask("GET", zone)).body.properties).toMatchObject({
      numberOfVirtualNetworkLinks: 1,
      numberOfVirtualNetworkLinksWithRegistration: 1,
    });
  });

  test("of one network lead to 1,000 zones and no more", async () => {
    const { ask, simulator } = await withZone();
    await done(ask, "PUT", `${zone}/virtualNetworkLinks/l`, link());
    for (let at = 1; at < 1000; at++)
      copy(simulator, `${zone}/virtualNetworkLinks/l`, `${zone}.n${at}/virtualNetworkLinks/l`);
    const other = zone.replace("corp", "other");
    await done(ask, "PUT", other, { location: "global" });
    const refused = await done(ask, "PUT", `${other}/virtualNetworkLinks/l`, link());
    expect(codeOf(refused)).toBe("BadRequest");
    simulator.store.remove(`${zone}.n1/virtualNetworkLinks/l`.toLowerCase());
    const taken = await done(ask, "PUT", `${other}/virtualNetworkLinks/l`, link());
    expect([taken.status, codeOf(taken)]).toEqual([200, undefined]);
  });

  test("in a zone that is not there are refused by the front door", async () => {
    const { ask } = await withZone();
    const came = await ask("PUT", `${zone}.none/virtualNetworkLinks/one`, link());
    expect([came.status, codeOf(came)]).toEqual([404, "ParentResourceNotFound"]);
  });
});

test("writes to zones and links with an etag that does not match are taken, and fail", async () => {
  const { ask } = await withZone();
  await done(ask, "PUT", `${zone}/virtualNetworkLinks/l`, link());
  const outcome = async (path: string, body: unknown, headers: Record<string, string>) => {
    const taken = await ask("PUT", path, body, headers);
    expect(taken.status).toBe(202);
    return (await ask("GET", String(taken.headers.get("azure-asyncoperation")))).body;
  };
  const tags = { location: "global", tags: { a: "b" } };
  expect(await outcome(zone, tags, { "if-match": "x" })).toEqual({
    status: "Failed",
    error: {
      code: "PreconditionFailed",
      message: "The Zone corp.example has been modified (etag mismatch).",
    },
  });
  expect(
    await outcome(`${zone}/virtualNetworkLinks/l`, link(), { "if-none-match": "*" }),
  ).toMatchObject({
    status: "Failed",
    error: {
      message:
        "The Virtual Network link l for the Private DNS zone corp.example exists already and hence cannot be created again.",
    },
  });
  const removal = await ask("DELETE", zone, undefined, { "if-match": "x" });
  expect(removal.status).toBe(409);
  expect((await ask("GET", zone)).body.tags).toBeUndefined();
});

test.each(["single", "azure.com", `${"x".repeat(64)}.example`])(
  "a private zone cannot be named %s",
  async (name) => {
    const { ask } = await withZone();
    const came = await ask("PUT", zone.replace("corp.example", name), { location: "global" });
    expect(came.status).toBe(400);
  },
);

test("a zone is nowhere but everywhere", async () => {
  const { ask } = await withZone();
  const came = await ask("PUT", `${zone}.org`, { location: "westeurope" });
  expect(codeOf(came)).toBe("LocationNotAvailableForResourceType");
});

test("a public zone comes with its servers", async () => {
  const { ask } = await withZone();
  const made = await ask("PUT", publicZone, { location: "global" });
  expect(made.status).toBe(201);
  const { nameServers } = made.body.properties as { nameServers: string[] };
  expect(nameServers).toHaveLength(4);
  const records = (await ask("GET", `${publicZone}/recordsets`)).body.value as JsonObject[];
  expect(records.map(({ type }) => type)).toEqual([
    "Microsoft.Network/dnszones/NS",
    "Microsoft.Network/dnszones/SOA",
  ]);
  const body = { properties: { TTL: 60, ARecords: [{ ipv4Address: "192.0.2.1" }] } };
  const record = await ask("PUT", `${publicZone}/A/www`, body);
  expect(record.body.properties).toMatchObject({
    TTL: 60,
    fqdn: "www.corp.example.",
    ARecords: [{ ipv4Address: "192.0.2.1" }],
    provisioningState: "Succeeded",
  });
  expect((await ask("DELETE", `${publicZone}/NS/@`)).status).toBe(400);
  expect((await ask("DELETE", publicZone)).status).toBe(202);
  expect((await ask("GET", publicZone)).status).toBe(404);
});
