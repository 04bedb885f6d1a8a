import { expect, test } from "vitest";
import { subscription } from "../small-world.ts";
import { all, inNetwork, location, names, rg, sdkWorld, withNetwork } from "./clients.ts";

test("a subscription lists its resources, those of a group and those of a filter", async () => {
  const { clients } = await sdkWorld();
  const { resources, resourceGroups } = clients.resources;
  await withNetwork(clients);
  await resourceGroups.createOrUpdate("rg2", { location });
  await clients.dns.zones.createOrUpdate("rg2", "corp.example", { location: "global" });
  expect(await names(resources.list())).toEqual(["v", "corp.example"]);
  expect(await all(resources.listByResourceGroup(rg))).toMatchObject([
    { id: `${inNetwork}/virtualNetworks/v`, type: "Microsoft.Network/virtualNetworks", location },
  ]);
  const filter = "resourceType eq 'Microsoft.Network/dnszones' and name eq 'corp.example'";
  expect(await names(resources.list({ filter }))).toEqual(["corp.example"]);
  await expect(all(resources.list({ filter: "name gt 'a'" }))).rejects.toMatchObject({
    code: "InvalidFilterInQueryString",
  });
});

test("a subscription lists its locations", async () => {
  const { clients } = await sdkWorld();
  const found = await all(clients.subscriptions.subscriptions.listLocations(subscription));
  expect(found).toContainEqual(
    expect.objectContaining({ name: "westeurope", displayName: "West Europe" }),
  );
});

test("nothing is created of a provider whose registration was taken back", async () => {
  const { clients } = await sdkWorld();
  const { providers } = clients.resources;
  const state = async () => (await providers.get("Microsoft.Network")).registrationState;
  expect(await state()).toBe("Registered");
  expect(await all(providers.list())).toContainEqual(
    expect.objectContaining({ namespace: "Microsoft.Network" }),
  );
  await providers.unregister("Microsoft.Network");
  expect(await state()).toBe("Unregistered");
  await expect(withNetwork(clients)).rejects.toMatchObject({
    statusCode: 409,
    code: "MissingSubscriptionRegistration",
  });
  await providers.register("Microsoft.Network");
  await withNetwork(clients);
});
