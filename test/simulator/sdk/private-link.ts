import { expect, test } from "vitest";
import { subscription } from "../small-world.ts";
import type { Clients } from "./clients.ts";
import { all, inNetwork, location, names, rg, sdkWorld, soon } from "./clients.ts";

const frontend = { id: `${inNetwork}/loadBalancers/lb/frontendIPConfigurations/f` };
const serviceId = `${inNetwork}/privateLinkServices/s`;
const subnet = (name: string) => ({ id: `${inNetwork}/virtualNetworks/v/subnets/${name}` });

async function withService({ network }: Clients, names: readonly string[] = ["s"]) {
  await network.virtualNetworks.createOrUpdate(
    rg,
    "v",
    {
      location,
      addressSpace: { addressPrefixes: ["10.0.0.0/16"] },
      subnets: [
        {
          name: "nat",
          addressPrefix: "10.0.0.0/24",
          privateLinkServiceNetworkPolicies: "Disabled",
        },
        { name: "in", addressPrefix: "10.0.1.0/24" },
      ],
    },
    soon,
  );
  const made = [];
  for (const name of names) {
    const lb = name === "s" ? "lb" : `lb-${name}`;
    const body = {
      location,
      sku: { name: "Standard" },
      frontendIPConfigurations: [{ name: "f", subnet: subnet("in") }],
    };
    const balancer = await network.loadBalancers.createOrUpdate(rg, lb, body, soon);
    made.push(
      await network.privateLinkServices.createOrUpdate(
        rg,
        name,
        {
          location,
          loadBalancerFrontendIpConfigurations: [
            { id: balancer.frontendIPConfigurations?.[0]?.id ?? "" },
          ],
          ipConfigurations: [{ name: "n", subnet: subnet("nat") }],
          visibility: { subscriptions: ["*"] },
          fqdns: ["api.example.internal"],
        },
        soon,
      ),
    );
  }
  return made;
}

function endpoint(target: string, manual: boolean) {
  const connection = [{ name: "c", privateLinkServiceId: target, requestMessage: "please" }];
  return {
    location,
    subnet: subnet("in"),
    ...(manual
      ? { manualPrivateLinkServiceConnections: connection }
      : { privateLinkServiceConnections: connection }),
  };
}

test("a private link service is made, changed, listed and deleted", async () => {
  const { clients, simulator } = await sdkWorld();
  const { privateLinkServices, networkInterfaces } = clients.network;
  const [made] = await withService(clients, ["s", "t", "u"]);
  expect(made).toMatchObject({
    id: serviceId,
    provisioningState: "Succeeded",
    alias: expect.stringMatching(/^s\.[-0-9a-f]{36}\.westeurope\.azure\.privatelinkservice$/),
    loadBalancerFrontendIpConfigurations: [frontend],
  });
  expect(await privateLinkServices.get(rg, "s")).toEqual(made);
  const changed = await privateLinkServices.createOrUpdate(
    rg,
    "s",
    { ...made, location, enableProxyProtocol: true },
    soon,
  );
  expect(changed).toMatchObject({ enableProxyProtocol: true, alias: made?.alias });
  const nic = made?.networkInterfaces?.[0]?.id ?? "";
  expect(await networkInterfaces.get(rg, nic.slice(nic.lastIndexOf("/") + 1))).toMatchObject({
    ipConfigurations: [{ privateIPAddress: "10.0.0.4" }],
  });
  expect(await names(privateLinkServices.list(rg))).toEqual(["s", "t", "u"]);
  expect(await names(privateLinkServices.listBySubscription())).toEqual(["s", "t", "u"]);
  await privateLinkServices.delete(rg, "s", soon);
  expect(simulator.store.get(serviceId)).toBeUndefined();
  expect(simulator.store.get(nic)).toBeUndefined();
});

test("an endpoint by id is approved at once, listed and deleted", async () => {
  const { clients, simulator } = await sdkWorld();
  const { privateEndpoints, privateLinkServices } = clients.network;
  await withService(clients);
  for (const name of ["e1", "e2", "e3"])
    await privateEndpoints.createOrUpdate(rg, name, endpoint(serviceId, false), soon);
  const made = await privateEndpoints.get(rg, "e1");
  expect(made).toMatchObject({
    provisioningState: "Succeeded",
    privateLinkServiceConnections: [
      { privateLinkServiceConnectionState: { status: "Approved", description: "Auto Approved" } },
    ],
  });
  expect(await names(privateEndpoints.list(rg))).toEqual(["e1", "e2", "e3"]);
  expect(await names(privateEndpoints.listBySubscription())).toEqual(["e1", "e2", "e3"]);
  await privateEndpoints.delete(rg, "e1", soon);
  expect(simulator.store.get(made.id ?? "")).toBeUndefined();
  const { privateEndpointConnections } = await privateLinkServices.get(rg, "s");
  expect(privateEndpointConnections).toHaveLength(2);
});

test("an endpoint by alias waits for the owner, whose decisions show on both sides", async () => {
  const { clients } = await sdkWorld();
  const { privateEndpoints, privateLinkServices } = clients.network;
  const [service] = await withService(clients);
  await privateEndpoints.createOrUpdate(rg, "pe", endpoint(service?.alias ?? "", true), soon);
  const state = async () => {
    const { manualPrivateLinkServiceConnections } = await privateEndpoints.get(rg, "pe");
    return manualPrivateLinkServiceConnections?.[0]?.privateLinkServiceConnectionState?.status;
  };
  expect(await state()).toBe("Pending");
  const [connection] = await all(privateLinkServices.listPrivateEndpointConnections(rg, "s"));
  const name = connection?.name ?? "";
  for (const status of ["Approved", "Rejected"]) {
    const decided = await privateLinkServices.updatePrivateEndpointConnection(rg, "s", name, {
      name,
      privateLinkServiceConnectionState: { status, description: "decided" },
    });
    expect(decided.privateLinkServiceConnectionState).toMatchObject({ status });
    await expect.poll(state).toBe(status);
  }
  const held = await privateLinkServices.getPrivateEndpointConnection(rg, "s", name);
  expect(held.privateLinkServiceConnectionState?.status).toBe("Rejected");
  await privateLinkServices.deletePrivateEndpointConnection(rg, "s", name, soon);
  expect(await state()).toBe("Disconnected");
  expect(await all(privateLinkServices.listPrivateEndpointConnections(rg, "s"))).toEqual([]);
});

test("a subscription asks which services it sees, and which approve it by themselves", async () => {
  const { clients } = await sdkWorld();
  const { privateLinkServices } = clients.network;
  const [made] = await withService(clients);
  const privateLinkServiceAlias = made?.alias ?? "";
  const ask = (alias: string) =>
    privateLinkServices.checkPrivateLinkServiceVisibility(
      location,
      { privateLinkServiceAlias: alias },
      soon,
    );
  expect(await ask(privateLinkServiceAlias)).toMatchObject({ visible: true });
  expect(await ask(`${privateLinkServiceAlias}x`)).toMatchObject({ visible: false });
  expect(
    await privateLinkServices.checkPrivateLinkServiceVisibilityByResourceGroup(
      rg,
      location,
      { privateLinkServiceAlias },
      soon,
    ),
  ).toMatchObject({ visible: true });
  const approved = () => all(privateLinkServices.listAutoApprovedPrivateLinkServices(location));
  expect(await approved()).toEqual([]);
  const autoApproval = { subscriptions: [subscription] };
  await privateLinkServices.createOrUpdate(rg, "s", { ...made, location, autoApproval }, soon);
  expect(await approved()).toMatchObject([{ privateLinkService: serviceId }]);
  expect(
    await all(privateLinkServices.listAutoApprovedPrivateLinkServicesByResourceGroup(rg, location)),
  ).toMatchObject([{ privateLinkService: serviceId }]);
});

test("a zone group writes the names of an endpoint into its zone", async () => {
  const { clients } = await sdkWorld();
  const { privateEndpoints, privateDnsZoneGroups } = clients.network;
  const { privateZones, recordSets } = clients.privateDns;
  await withService(clients);
  await privateEndpoints.createOrUpdate(rg, "pe", endpoint(serviceId, false), soon);
  const zone = await privateZones.createOrUpdate(
    rg,
    "example.internal",
    { location: "global" },
    soon,
  );
  const made = await privateDnsZoneGroups.createOrUpdate(
    rg,
    "pe",
    "g",
    { privateDnsZoneConfigs: [{ name: "z", privateDnsZoneId: zone.id ?? "" }] },
    soon,
  );
  expect(made.provisioningState).toBe("Succeeded");
  const held = await privateDnsZoneGroups.get(rg, "pe", "g");
  expect(held.privateDnsZoneConfigs?.[0]?.recordSets).toMatchObject([{ recordType: "A" }]);
  expect(await names(privateDnsZoneGroups.list(rg, "pe"))).toEqual(["g"]);
  const record = await recordSets.get(rg, "example.internal", "A", "api");
  expect(record.aRecords).toHaveLength(1);
  await privateDnsZoneGroups.delete(rg, "pe", "g", soon);
  await expect(recordSets.get(rg, "example.internal", "A", "api")).rejects.toMatchObject({
    statusCode: 404,
  });
});
