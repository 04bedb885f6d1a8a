// Rules that Azure's recorded answers show, apart from the recordings themselves.
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { describe, expect, test } from "vitest";
import { ManualClock } from "../manual-clock.ts";
import { done, endpointBody, idsIn, linkWorld, service, serviceBody } from "./link-world.ts";
import { type Came, group, network, smallWorld, subscription } from "./small-world.ts";

const provider = `${group}/providers/Microsoft.Network`;
const location = "westeurope";
const nic = `${provider}/networkInterfaces/nic`;

describe("an interface", () => {
  async function world() {
    const { ask } = await smallWorld();
    await ask("PUT", group, { location });
    await ask("PUT", network, {
      location,
      properties: {
        addressSpace: { addressPrefixes: ["10.0.0.0/16", "fd00::/56"] },
        subnets: [
          { name: "s", properties: { addressPrefixes: ["10.0.0.0/24", "fd00::/64"] } },
          { name: "t", properties: { addressPrefix: "10.0.1.0/24" } },
        ],
      },
    });
    /** Write an interface with these configurations, by name. */
    const write = async (configurations: Record<string, JsonObject>, id = nic) => {
      const subnet = { id: `${network}/subnets/s` };
      const ipConfigurations = Object.entries(configurations).map(([name, given]) => ({
        name,
        properties: { subnet, ...given },
      }));
      const { status, body } = await ask("PUT", id, { location, properties: { ipConfigurations } });
      if (status >= 300) return (body.error as JsonObject).code;
      const { ipConfigurations: shown } = body.properties as Record<string, JsonObject[]>;
      return Object.fromEntries(
        (shown ?? []).map((each) => [each.name, (each.properties as JsonObject).privateIPAddress]),
      );
    };
    return { ask, write };
  }

  test("shows its primary configuration first", async () => {
    const { write } = await world();
    await write({ a: {} });
    const came = await write({ a: { primary: false }, b: { primary: true } });
    expect(Object.entries(came as JsonObject)).toEqual([
      ["b", "10.0.0.5"],
      ["a", "10.0.0.4"],
    ]);
  });

  test("gets an address anew in another subnet, and keeps its own in the same", async () => {
    const { ask, write } = await world();
    await write({ a: { privateIPAllocationMethod: "Static", privateIPAddress: "10.0.0.50" } });
    expect(await write({ a: {} })).toEqual({ a: "10.0.0.50" });
    expect(await write({ a: { subnet: { id: `${network}/subnets/t` } } })).toEqual({
      a: "10.0.1.4",
    });
    // A subnet of another network with the same prefix: the address would be free there.
    const other = `${provider}/virtualNetworks/w`;
    await ask("PUT", other, {
      location,
      properties: {
        addressSpace: { addressPrefixes: ["10.0.0.0/16"] },
        subnets: [{ name: "s", properties: { addressPrefix: "10.0.0.0/24" } }],
      },
    });
    await write({ a: { privateIPAllocationMethod: "Static", privateIPAddress: "10.0.0.50" } });
    expect(await write({ a: { subnet: { id: `${other}/subnets/s` } } })).toEqual({
      a: "10.0.0.4",
    });
  });

  test("takes a block of addresses, of which nobody else gets any", async () => {
    const { write } = await world();
    const block = { privateIPAddressPrefixLength: 28 };
    expect(await write({ a: {}, b: block, c: {} })).toEqual({
      a: "10.0.0.4",
      b: "10.0.0.16/28",
      c: "10.0.0.5",
    });
    expect(await write({ a: {}, d: block, b: block, c: block })).toEqual({
      a: "10.0.0.4",
      b: "10.0.0.16/28",
      c: "10.0.0.48/28",
      d: "10.0.0.32/28",
    });
    const within = { privateIPAllocationMethod: "Static", privateIPAddress: "10.0.0.20" };
    expect(await write({ a: within }, `${nic}2`)).toBe("PrivateIPAddressIsAllocated");
    await write({ a: {} });
    expect(await write({ a: within }, `${nic}2`)).toEqual({ a: "10.0.0.20" });
    const six = { privateIPAddressVersion: "IPv6", privateIPAddressPrefixLength: 80 };
    expect(await write({ a: {}, b: six, c: six })).toEqual({
      a: "10.0.0.4",
      b: "fd00::1:0:0:0/80",
      c: "fd00::2:0:0:0/80",
    });
    for (const each of [{ b: { privateIPAddressPrefixLength: 24 } }, { a: block }])
      expect(await write({ a: {}, ...each })).toBe("PrivateIPAddressPrefixLengthInvalid");
  });

  test("is named in capitals by its subnet", async () => {
    const { ask, write } = await world();
    await write({ a: {} });
    const { body } = await ask("GET", `${network}/subnets/s`);
    expect(body.properties).toMatchObject({
      ipConfigurations: [
        {
          id: `/subscriptions/${subscription}/resourceGroups/RG/providers/Microsoft.Network/networkInterfaces/NIC/ipConfigurations/A`,
        },
      ],
    });
  });
});

test("a Basic public address has no protection against floods to inherit", async () => {
  const { ask } = await smallWorld();
  await ask("PUT", group, { location });
  const settings = async (name: string) => {
    const path = `${provider}/publicIPAddresses/${name}`;
    const { body } = await ask("PUT", path, { location, sku: { name } });
    return (body.properties as JsonObject).ddosSettings;
  };
  expect(await settings("Standard")).toEqual({ protectionMode: "VirtualNetworkInherited" });
  expect(await settings("Basic")).toBeUndefined();
});

test.each([
  ["virtualNetworks", { addressSpace: { addressPrefixes: ["10.0.0.0/16"] } }],
  ["loadBalancers", {}],
  ["publicIPAddresses", {}],
])("%s stay in the edge zone that they were written to", async (type, properties) => {
  const { ask } = await smallWorld();
  await ask("PUT", group, { location });
  const extendedLocation = { type: "EdgeZone", name: "microsoftrrdclab1" };
  const path = `${provider}/${type}/x`;
  await ask("PUT", path, { location, extendedLocation, properties });
  expect((await ask("GET", path)).body.extendedLocation).toEqual(extendedLocation);
});

describe("a private endpoint", () => {
  const mine = idsIn(subscription);
  const endpoint = mine.endpoint("pe");
  const account = `${group}/providers/Microsoft.Storage/storageAccounts/acc1`;
  const zone = `${provider}/privateDnsZones/blob.core.windows.net`;
  const fqdn = "acc1.blob.core.windows.net";

  test("has its names and its account's words when it is written, and keeps the names in later writes", async () => {
    const clock = new ManualClock(Date.now());
    const { ask } = await linkWorld({
      clock,
      operationMs: { "Microsoft.Network/privateEndpoints": 1000 },
    });
    await ask("PUT", account, { location });
    await ask("PUT", zone, { location: "global" });
    const body = (tags: JsonObject = {}) => ({
      location,
      tags,
      properties: {
        subnet: { id: `${mine.network}/subnets/open` },
        privateLinkServiceConnections: [
          { name: "c", properties: { privateLinkServiceId: account, groupIds: ["blob"] } },
        ],
      },
    });
    const shown = ({ body: { properties } }: Came) => {
      const { customDnsConfigs, privateLinkServiceConnections } = properties as Record<
        string,
        { fqdn: string; properties: { privateLinkServiceConnectionState: JsonObject } }[]
      >;
      const [connection] = privateLinkServiceConnections ?? [];
      return [
        connection?.properties.privateLinkServiceConnectionState.description,
        ...(customDnsConfigs ?? []).map((each) => each.fqdn),
      ];
    };
    const record = async () => (await ask("GET", `${zone}/A/acc1`)).status;
    expect(shown(await ask("PUT", endpoint, body()))).toEqual(["Auto Approved"]);
    await ask("PUT", `${endpoint}/privateDnsZoneGroups/g`, {
      properties: {
        privateDnsZoneConfigs: [{ name: "z", properties: { privateDnsZoneId: zone } }],
      },
    });
    expect(await record()).toBe(404);
    clock.moveTo(clock.now() + 1000);
    expect(shown(await ask("GET", endpoint))).toEqual(["Auto-Approved", fqdn]);
    expect(await record()).toBe(200);
    expect(shown(await ask("PUT", endpoint, body({ a: "b" })))).toEqual(["Auto Approved", fqdn]);
    expect(await record()).toBe(200);
    clock.moveTo(clock.now() + 1000);
    expect(shown(await ask("GET", endpoint))).toEqual(["Auto-Approved", fqdn]);
  });

  test("to a link service is approved in the words of the network provider", async () => {
    const { ask } = await linkWorld();
    await done(ask, "PUT", service, serviceBody());
    const body = endpointBody(subscription, service);
    (body.properties as JsonObject).subnet = { id: `${mine.network}/subnets/open` };
    expect((await done(ask, "PUT", endpoint, body)).body.properties).toMatchObject({
      privateLinkServiceConnections: [
        {
          properties: { privateLinkServiceConnectionState: { description: "Auto Approved" } },
        },
      ],
    });
  });
});
