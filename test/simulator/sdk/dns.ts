import { expect, test } from "vitest";
import { all, inNetwork, location, names, rg, sdkWorld, soon } from "./clients.ts";

const zone = "example.internal";
const everywhere = { location: "global" };

test("a private zone is made with its SOA record, tagged, listed and deleted", async () => {
  const { clients, simulator } = await sdkWorld();
  const { privateZones } = clients.privateDns;
  const made = await privateZones.createOrUpdate(rg, zone, everywhere, soon);
  expect(made).toMatchObject({ provisioningState: "Succeeded", numberOfRecordSets: 1 });
  const tagged = await privateZones.update(rg, zone, { tags: { a: "b" } }, soon);
  expect(tagged.tags).toEqual({ a: "b" });
  for (const other of ["b.internal", "c.internal"])
    await privateZones.createOrUpdate(rg, other, everywhere, soon);
  const three = ["b.internal", "c.internal", zone];
  expect((await names(privateZones.list())).sort()).toEqual(three);
  expect((await names(privateZones.listByResourceGroup(rg))).sort()).toEqual(three);
  await privateZones.delete(rg, zone, soon);
  expect(simulator.store.get(`${inNetwork}/privateDnsZones/${zone}`)).toBeUndefined();
  await expect(privateZones.get(rg, zone)).rejects.toMatchObject({ statusCode: 404 });
});

test("a private zone is linked to a network, and the link is changed, listed and deleted", async () => {
  const { clients } = await sdkWorld();
  const { privateZones, virtualNetworkLinks: links } = clients.privateDns;
  const virtualNetworks = clients.network.virtualNetworks;
  await privateZones.createOrUpdate(rg, zone, everywhere, soon);
  for (const name of ["l1", "l2", "l3"]) {
    const space = { addressSpace: { addressPrefixes: ["10.0.0.0/16"] } };
    const network = await virtualNetworks.createOrUpdate(rg, name, { location, ...space }, soon);
    const virtualNetwork = { id: network.id ?? "" };
    const made = await links.createOrUpdate(
      rg,
      zone,
      name,
      { ...everywhere, virtualNetwork, registrationEnabled: false },
      soon,
    );
    expect(made.virtualNetworkLinkState).toBe("Completed");
  }
  const changed = await links.update(rg, zone, "l1", { tags: { a: "b" } }, soon);
  expect(changed).toMatchObject({ tags: { a: "b" }, registrationEnabled: false });
  expect(await links.get(rg, zone, "l1")).toMatchObject({ tags: { a: "b" } });
  await links.delete(rg, zone, "l2", soon);
  expect(await names(links.list(rg, zone))).toEqual(["l1", "l3"]);
  expect((await privateZones.get(rg, zone)).numberOfVirtualNetworkLinks).toBe(2);
});

const privateRecords = {
  A: { aRecords: [{ ipv4Address: "10.0.0.4" }] },
  AAAA: { aaaaRecords: [{ ipv6Address: "fd00::4" }] },
  CNAME: { cnameRecord: { cname: "api.example.com" } },
  MX: { mxRecords: [{ preference: 10, exchange: "mail.example.com" }] },
  PTR: { ptrRecords: [{ ptrdname: "api.example.com" }] },
  SRV: { srvRecords: [{ priority: 1, weight: 2, port: 443, target: "api.example.com" }] },
  TXT: { txtRecords: [{ value: ["one", "two"] }] },
} as const;

test.each(Object.entries(privateRecords))(
  "a private record set of type %s is made, changed, listed and deleted",
  async (type, body) => {
    const { clients } = await sdkWorld();
    const { privateZones, recordSets } = clients.privateDns;
    await privateZones.createOrUpdate(rg, zone, everywhere, soon);
    const kind = type as keyof typeof privateRecords;
    const wanted = structuredClone(body) as object;
    for (const name of ["x", "y", "z"])
      await recordSets.createOrUpdate(rg, zone, kind, name, { ttl: 30, ...wanted });
    const made = await recordSets.get(rg, zone, kind, "x");
    expect(made).toMatchObject({ ttl: 30, fqdn: `x.${zone}.`, ...body });
    const changed = await recordSets.update(rg, zone, kind, "x", { ttl: 60 });
    expect(changed).toMatchObject({ ttl: 60, ...body });
    await expect(
      recordSets.update(rg, zone, kind, "x", { ttl: 90 }, { ifMatch: made.etag ?? "" }),
    ).rejects.toMatchObject({ name: "RestError", statusCode: 412, code: "PreconditionFailed" });
    await recordSets.delete(rg, zone, kind, "y");
    expect(await names(recordSets.listByType(rg, zone, kind))).toEqual(["x", "z"]);
    expect((await names(recordSets.list(rg, zone))).sort()).toEqual(["@", "x", "z"]);
    await expect(
      recordSets.createOrUpdate(rg, zone, kind, "x", { ttl: 1, ...wanted }, { ifNoneMatch: "*" }),
    ).rejects.toMatchObject({ statusCode: 412 });
    expect((await recordSets.get(rg, zone, kind, "x")).ttl).toBe(60);
  },
);

test("the SOA record of a private zone is read, listed and changed", async () => {
  const { clients } = await sdkWorld();
  const { privateZones, recordSets } = clients.privateDns;
  await privateZones.createOrUpdate(rg, zone, everywhere, soon);
  const made = await recordSets.get(rg, zone, "SOA", "@");
  expect(made.soaRecord?.host).toBe("azureprivatedns.net");
  expect(await names(recordSets.listByType(rg, zone, "SOA"))).toEqual(["@"]);
  const soaRecord = { ...made.soaRecord, email: "dns.example.com" };
  await recordSets.createOrUpdate(rg, zone, "SOA", "@", { ttl: 60, soaRecord });
  await recordSets.update(rg, zone, "SOA", "@", { ttl: 90 });
  expect(await recordSets.get(rg, zone, "SOA", "@")).toMatchObject({
    ttl: 90,
    soaRecord: { email: "dns.example.com", host: "azureprivatedns.net" },
  });
  await expect(recordSets.delete(rg, zone, "SOA", "@")).rejects.toMatchObject({ statusCode: 400 });
});

test("a public zone is made with its name servers, tagged, listed and deleted", async () => {
  const { clients, simulator } = await sdkWorld();
  const { zones, recordSets } = clients.dns;
  const made = await zones.createOrUpdate(rg, "example.com", everywhere);
  expect(made.nameServers).toHaveLength(4);
  expect(await zones.get(rg, "example.com")).toEqual(made);
  const tagged = await zones.update(rg, "example.com", { tags: { a: "b" } });
  expect(tagged.tags).toEqual({ a: "b" });
  for (const other of ["b.example", "c.example"]) await zones.createOrUpdate(rg, other, everywhere);
  const three = ["b.example", "c.example", "example.com"];
  expect((await names(zones.list())).sort()).toEqual(three);
  expect((await names(zones.listByResourceGroup(rg))).sort()).toEqual(three);
  const kinds = async (list: AsyncIterable<{ type?: string }>) =>
    (await all(list)).map(({ type }) => type?.split("/").at(-1)).sort();
  expect(await kinds(recordSets.listByDnsZone(rg, "example.com"))).toEqual(["NS", "SOA"]);
  expect(await kinds(recordSets.listAllByDnsZone(rg, "example.com"))).toEqual(["NS", "SOA"]);
  await zones.beginDeleteAndWait(rg, "example.com", soon);
  expect(simulator.store.get(made.id ?? "")).toBeUndefined();
  await expect(zones.get(rg, "example.com")).rejects.toMatchObject({
    name: "RestError",
    statusCode: 404,
    code: "ResourceNotFound",
  });
});

const publicRecords = {
  A: { aRecords: [{ ipv4Address: "20.0.0.4" }] },
  AAAA: { aaaaRecords: [{ ipv6Address: "2603::4" }] },
  CAA: { caaRecords: [{ flags: 0, tag: "issue", value: "ca.example.com" }] },
  CNAME: { cnameRecord: { cname: "api.example.com" } },
  MX: { mxRecords: [{ preference: 10, exchange: "mail.example.com" }] },
  NS: { nsRecords: [{ nsdname: "ns.example.com" }] },
  PTR: { ptrRecords: [{ ptrdname: "api.example.com" }] },
  SRV: { srvRecords: [{ priority: 1, weight: 2, port: 443, target: "api.example.com" }] },
  TXT: { txtRecords: [{ value: ["one", "two"] }] },
} as const;

test.each(Object.entries(publicRecords))(
  "a public record set of type %s is made, changed, listed and deleted",
  async (type, body) => {
    const { clients } = await sdkWorld();
    const { zones, recordSets } = clients.dns;
    const [kind, name] = [type as keyof typeof publicRecords, "example.com"];
    const wanted = structuredClone(body) as object;
    await zones.createOrUpdate(rg, name, everywhere);
    for (const each of ["x", "y", "z"])
      await recordSets.createOrUpdate(rg, name, each, kind, { ttl: 30, ...wanted });
    const made = await recordSets.get(rg, name, "x", kind);
    expect(made).toMatchObject({ ttl: 30, fqdn: `x.${name}.`, ...body });
    expect(await recordSets.update(rg, name, "x", kind, { ttl: 60 })).toMatchObject({ ttl: 60 });
    const late = recordSets.update(rg, name, "x", kind, { ttl: 90 }, { ifMatch: made.etag ?? "" });
    await expect(late).rejects.toMatchObject({ statusCode: 412, code: "PreconditionFailed" });
    await recordSets.delete(rg, name, "y", kind);
    const listed = await names(recordSets.listByType(rg, name, kind));
    expect(listed.filter((each) => each !== "@")).toEqual(["x", "z"]);
    expect((await recordSets.get(rg, name, "x", kind)).ttl).toBe(60);
  },
);

test("the SOA record of a public zone is read, listed and changed", async () => {
  const { clients } = await sdkWorld();
  const { zones, recordSets } = clients.dns;
  await zones.createOrUpdate(rg, "example.com", everywhere);
  const made = await recordSets.get(rg, "example.com", "@", "SOA");
  expect(await names(recordSets.listByType(rg, "example.com", "SOA"))).toEqual(["@"]);
  const soaRecord = { ...made.soaRecord, email: "dns.example.com" };
  await recordSets.createOrUpdate(rg, "example.com", "@", "SOA", { ttl: 60, soaRecord });
  await recordSets.update(rg, "example.com", "@", "SOA", { ttl: 90 });
  expect(await recordSets.get(rg, "example.com", "@", "SOA")).toMatchObject({
    ttl: 90,
    soaRecord: { email: "dns.example.com" },
  });
  await expect(recordSets.delete(rg, "example.com", "@", "SOA")).rejects.toMatchObject({
    statusCode: 400,
  });
});
