import { expect, test } from "vitest";
import { all, headers, inNetwork, location, names, rg, sdkWorld, soon } from "./clients.ts";

const space = { addressSpace: { addressPrefixes: ["10.0.0.0/16"] } };

test("a network is made, read, tagged and deleted", async () => {
  const { clients, simulator } = await sdkWorld();
  const { virtualNetworks } = clients.network;
  const body = { location, ...space, subnets: [{ name: "a", addressPrefix: "10.0.0.0/24" }] };
  const made = await virtualNetworks.createOrUpdate(rg, "v", body, soon);
  expect(made).toMatchObject({
    id: `${inNetwork}/virtualNetworks/v`,
    provisioningState: "Succeeded",
    subnets: [{ name: "a", privateLinkServiceNetworkPolicies: "Enabled" }],
  });
  expect(await virtualNetworks.get(rg, "v")).toEqual(made);
  const tagged = await virtualNetworks.updateTags(rg, "v", { tags: { team: "net" } });
  expect(tagged.tags).toEqual({ team: "net" });
  expect(tagged.etag).not.toBe(made.etag);
  expect(await virtualNetworks.updateTags(rg, "v", {})).toEqual(tagged);
  await virtualNetworks.delete(rg, "v", soon);
  expect(simulator.store.get(made.id ?? "")).toBeUndefined();
  await expect(virtualNetworks.get(rg, "v")).rejects.toMatchObject({
    name: "RestError",
    statusCode: 404,
    code: "ResourceNotFound",
  });
});

test("networks are listed page by page, in a group and in a subscription", async () => {
  const { clients } = await sdkWorld();
  const { virtualNetworks } = clients.network;
  for (const name of ["v1", "v2", "v3", "v4", "v5"])
    await virtualNetworks.createOrUpdate(rg, name, { location, ...space }, soon);
  const sizes: number[] = [];
  for await (const page of virtualNetworks.list(rg).byPage()) sizes.push(page.length);
  expect(sizes).toEqual([2, 2, 1]);
  expect(await names(virtualNetworks.list(rg))).toEqual(["v1", "v2", "v3", "v4", "v5"]);
  expect(await names(virtualNetworks.listAll())).toEqual(["v1", "v2", "v3", "v4", "v5"]);
});

test("a subnet is made, changed, listed and deleted", async () => {
  const { clients, simulator } = await sdkWorld();
  const { virtualNetworks, subnets } = clients.network;
  await virtualNetworks.createOrUpdate(rg, "v", { location, ...space }, soon);
  for (const at of [0, 1, 2])
    await subnets.createOrUpdate(rg, "v", `s${at}`, { addressPrefix: `10.0.${at}.0/24` }, soon);
  const held = await subnets.get(rg, "v", "s1");
  const changed = await subnets.createOrUpdate(
    rg,
    "v",
    "s1",
    { ...held, privateLinkServiceNetworkPolicies: "Disabled" },
    soon,
  );
  expect(changed.privateLinkServiceNetworkPolicies).toBe("Disabled");
  expect(await names(subnets.list(rg, "v"))).toEqual(["s0", "s1", "s2"]);
  await subnets.delete(rg, "v", "s1", soon);
  const network = await virtualNetworks.get(rg, "v");
  expect(network.subnets?.map(({ name }) => name)).toEqual(["s0", "s2"]);
  expect(simulator.store.get(held.id ?? "")).toBeUndefined();
  await expect(subnets.get(rg, "v", "s1")).rejects.toMatchObject({
    statusCode: 404,
    code: "NotFound",
    message: expect.stringContaining(`Resource ${held.id} not found.`),
  });
});

test("a write with an old etag is refused and changes nothing", async () => {
  const { clients } = await sdkWorld();
  const { virtualNetworks } = clients.network;
  const made = await virtualNetworks.createOrUpdate(rg, "v", { location, ...space }, soon);
  const write = (color: string, etag: string) =>
    virtualNetworks.createOrUpdate(
      rg,
      "v",
      { location, ...space, tags: { color } },
      { ...soon, ...headers({ "If-Match": etag }) },
    );
  const changed = await write("red", made.etag ?? "");
  expect(changed.tags).toEqual({ color: "red" });
  const refused = { name: "RestError", statusCode: 412, code: "PreconditionFailed" };
  await expect(write("blue", made.etag ?? "")).rejects.toMatchObject(refused);
  expect((await virtualNetworks.get(rg, "v")).tags).toEqual({ color: "red" });
});

test("a write with If-None-Match does not take the place of what is there", async () => {
  const { clients } = await sdkWorld();
  const { virtualNetworks, subnets } = clients.network;
  await virtualNetworks.createOrUpdate(rg, "v", { location, ...space }, soon);
  const write = (addressPrefix: string) =>
    subnets.createOrUpdate(
      rg,
      "v",
      "s",
      { addressPrefix },
      { ...soon, ...headers({ "If-None-Match": "*" }) },
    );
  await write("10.0.0.0/24");
  await expect(write("10.0.1.0/24")).rejects.toMatchObject({ statusCode: 412 });
  expect((await subnets.get(rg, "v", "s")).addressPrefix).toBe("10.0.0.0/24");
});

test("public addresses are made, tagged, listed and deleted", async () => {
  const { clients, simulator } = await sdkWorld();
  const { publicIPAddresses } = clients.network;
  const body = { location, sku: { name: "Standard" }, publicIPAllocationMethod: "Static" };
  for (const name of ["p1", "p2", "p3"])
    await publicIPAddresses.createOrUpdate(rg, name, body, soon);
  const made = await publicIPAddresses.get(rg, "p1");
  expect(made.ipAddress).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
  const tagged = await publicIPAddresses.updateTags(rg, "p1", { tags: { a: "b" } });
  expect(tagged).toMatchObject({ tags: { a: "b" }, ipAddress: made.ipAddress });
  await publicIPAddresses.delete(rg, "p2", soon);
  expect(await names(publicIPAddresses.list(rg))).toEqual(["p1", "p3"]);
  expect(await names(publicIPAddresses.listAll())).toEqual(["p1", "p3"]);
  expect(simulator.store.get(`${inNetwork}/publicIPAddresses/p2`)).toBeUndefined();
});

test("an interface takes an address of its subnet, and gives it back", async () => {
  const { clients } = await sdkWorld();
  const { virtualNetworks, networkInterfaces, networkInterfaceIPConfigurations } = clients.network;
  const subnet = { name: "a", addressPrefix: "10.0.0.0/24" };
  await virtualNetworks.createOrUpdate(rg, "v", { location, ...space, subnets: [subnet] }, soon);
  const body = {
    location,
    ipConfigurations: [{ name: "one", subnet: { id: `${inNetwork}/virtualNetworks/v/subnets/a` } }],
  };
  const addresses: (string | undefined)[] = [];
  for (const name of ["n1", "n2", "n3"]) {
    const made = await networkInterfaces.createOrUpdate(rg, name, body, soon);
    addresses.push(made.ipConfigurations?.[0]?.privateIPAddress);
  }
  expect(addresses).toEqual(["10.0.0.4", "10.0.0.5", "10.0.0.6"]);
  await networkInterfaces.delete(rg, "n2", soon);
  const requeue = await networkInterfaces.createOrUpdate(rg, "n4", body, soon);
  expect(requeue.ipConfigurations?.[0]?.privateIPAddress).toBe("10.0.0.5");
  expect(await networkInterfaceIPConfigurations.get(rg, "n4", "one")).toMatchObject({
    privateIPAddress: "10.0.0.5",
  });
  expect(await names(networkInterfaceIPConfigurations.list(rg, "n4"))).toEqual(["one"]);
  const tagged = await networkInterfaces.updateTags(rg, "n1", { tags: { a: "b" } });
  expect(tagged.tags).toEqual({ a: "b" });
  expect(await networkInterfaces.get(rg, "n1")).toMatchObject({ tags: { a: "b" } });
  expect(await names(networkInterfaces.list(rg))).toEqual(["n1", "n3", "n4"]);
  expect(await all(networkInterfaces.listAll())).toHaveLength(3);
});
