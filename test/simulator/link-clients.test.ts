import { DnsManagementClient } from "@azure/arm-dns";
import { NetworkManagementClient } from "@azure/arm-network";
import { PrivateDnsManagementClient } from "@azure/arm-privatedns";
import type { Pipeline } from "@azure/core-rest-pipeline";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { expect, test } from "vitest";
import { idsIn, type LinkWorld, linkWorld, serviceBody, sibling } from "./link-world.ts";
import { group, network, subscription } from "./small-world.ts";

const near = idsIn(sibling);
const credential = { getToken: async () => ({ token: "unused", expiresOnTimestamp: 2 ** 42 }) };
const fast = { updateIntervalInMs: 1 };

/** The clients refuse to send tokens in plain text, so the token is put in by hand. */
function at<C extends { pipeline: Pipeline }>(client: C, { token }: LinkWorld): C {
  client.pipeline.removePolicy({ name: "bearerTokenAuthenticationPolicy" });
  client.pipeline.addPolicy({
    name: "token",
    sendRequest(request, next) {
      request.headers.set("authorization", `Bearer ${token}`);
      return next(request);
    },
  });
  return client;
}

function options({ simulator }: LinkWorld) {
  return { endpoint: simulator.url, allowInsecureConnection: true };
}

test("the network client connects an endpoint and approves it", async () => {
  const world = await linkWorld();
  const here = at(new NetworkManagementClient(credential, subscription, options(world)), world);
  const there = at(new NetworkManagementClient(credential, sibling, options(world)), world);
  const { privateLinkServices: services } = here;
  const { location, properties } = serviceBody({ visibility: { subscriptions: [sibling] } });
  const { ipConfigurations, ...rest } = properties as { ipConfigurations: JsonObject[] };
  const body = {
    location: String(location),
    ...rest,
    ipConfigurations: ipConfigurations.map(({ name, properties: fields }) => ({
      name: String(name),
      ...(fields as JsonObject),
    })),
  };
  const service = await services.createOrUpdate("rg", "pls", body, fast);
  expect(service.alias).toMatch(/^pls\.[-0-9a-f]{36}\.westeurope\.azure\.privatelinkservice$/);
  const seen = await there.privateLinkServices.checkPrivateLinkServiceVisibility(
    "westeurope",
    { privateLinkServiceAlias: service.alias ?? "" },
    fast,
  );
  expect(seen).toMatchObject({ visible: true });
  const endpoint = await there.privateEndpoints.createOrUpdate(
    "rg",
    "pe",
    {
      location: "westeurope",
      subnet: { id: near.subnet },
      manualPrivateLinkServiceConnections: [
        { name: "c", privateLinkServiceId: service.alias ?? "", requestMessage: "please" },
      ],
    },
    fast,
  );
  expect(endpoint.manualPrivateLinkServiceConnections).toMatchObject([
    { requestMessage: "please", privateLinkServiceConnectionState: { status: "Pending" } },
  ]);
  for await (const { name = "" } of services.listPrivateEndpointConnections("rg", "pls"))
    await services.updatePrivateEndpointConnection("rg", "pls", name, {
      name,
      privateLinkServiceConnectionState: { status: "Approved", description: "fine" },
    });
  const after = await there.privateEndpoints.get("rg", "pe", { expand: "networkInterfaces" });
  expect(after.manualPrivateLinkServiceConnections).toMatchObject([
    { privateLinkServiceConnectionState: { status: "Approved", description: "fine" } },
  ]);
  expect(after.networkInterfaces?.[0]?.ipConfigurations?.[0]?.privateIPAddress).toBe("10.1.0.4");
  await expect(services.delete("rg", "pls", fast)).rejects.toMatchObject({
    code: "PrivateLinkServiceWithPrivateEndpointConnectionsCannotBeDeleted",
  });
  await there.privateEndpoints.delete("rg", "pe", fast);
  await services.delete("rg", "pls", fast);
});

test("the Private DNS client makes a zone, links it and writes a record", async () => {
  const world = await linkWorld();
  const client = at(
    new PrivateDnsManagementClient(credential, subscription, options(world)),
    world,
  );
  const { privateZones, virtualNetworkLinks, recordSets } = client;
  const zone = await privateZones.createOrUpdate(
    "rg",
    "corp.example",
    { location: "global" },
    fast,
  );
  expect(zone).toMatchObject({ name: "corp.example", numberOfRecordSets: 1 });
  const link = { location: "global", virtualNetwork: { id: network }, registrationEnabled: false };
  await virtualNetworkLinks.createOrUpdate("rg", "corp.example", "one", link, fast);
  await expect(
    virtualNetworkLinks.createOrUpdate("rg", "corp.example", "two", link, fast),
  ).rejects.toThrow("already linked to the virtual network");
  const patched = await virtualNetworkLinks.update(
    "rg",
    "corp.example",
    "one",
    { registrationEnabled: true },
    fast,
  );
  expect(patched.registrationEnabled).toBe(true);
  const set = { ttl: 30, aRecords: [{ ipv4Address: "10.0.0.4" }] };
  const made = await recordSets.createOrUpdate("rg", "corp.example", "A", "api", set, {
    ifNoneMatch: "*",
  });
  expect(made).toMatchObject({ fqdn: "api.corp.example.", ...set });
  await expect(
    recordSets.createOrUpdate("rg", "corp.example", "A", "api", set, { ifNoneMatch: "*" }),
  ).rejects.toMatchObject({ statusCode: 412 });
  const names: (string | undefined)[] = [];
  for await (const each of recordSets.list("rg", "corp.example")) names.push(each.name);
  expect(names).toEqual(["@", "api"]);
  await recordSets.delete("rg", "corp.example", "A", "api");
  await virtualNetworkLinks.delete("rg", "corp.example", "one", fast);
  await privateZones.delete("rg", "corp.example", fast);
});

test("the DNS client makes a public zone and writes into it", async () => {
  const world = await linkWorld();
  const client = at(new DnsManagementClient(credential, subscription, options(world)), world);
  const zone = await client.zones.createOrUpdate("rg", "corp.example", { location: "global" });
  expect(zone.nameServers).toHaveLength(4);
  expect(zone.numberOfRecordSets).toBe(2);
  const set = { ttl: 60, aRecords: [{ ipv4Address: "192.0.2.1" }] };
  const record = await client.recordSets.createOrUpdate("rg", "corp.example", "www", "A", set);
  expect(record).toMatchObject({ fqdn: "www.corp.example.", aRecords: set.aRecords });
  const types: (string | undefined)[] = [];
  for await (const each of client.recordSets.listByDnsZone("rg", "corp.example"))
    types.push(each.type?.split("/").at(-1));
  expect(types).toEqual(["NS", "SOA", "A"]);
  await client.recordSets.delete("rg", "corp.example", "www", "A");
  await client.zones.beginDeleteAndWait("rg", "corp.example");
  expect(
    (await world.ask("GET", `${group}/providers/Microsoft.Network/dnsZones/corp.example`)).status,
  ).toBe(404);
});
