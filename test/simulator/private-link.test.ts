import type { SimulatorOptions } from "@postern/azure-simulator/simulator.ts";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { describe, expect, test } from "vitest";
import {
  balancerBody,
  codeOf,
  done,
  endpointBody,
  frontend,
  idsIn,
  type LinkWorld,
  linkWorld,
  service,
  serviceBody,
  sibling,
  stateIn,
  stranger,
  strangeTenant,
} from "./link-world.ts";
import { group, subscription, tenant } from "./small-world.ts";

const mine = idsIn(subscription);
const near = idsIn(sibling);
const far = idsIn(stranger);

async function withService(
  more: JsonObject = {},
  options: SimulatorOptions = {},
): Promise<LinkWorld & { alias: string }> {
  const world = await linkWorld(options);
  const made = await done(world.ask, "PUT", service, serviceBody(more));
  return { ...world, alias: String((made.body.properties as JsonObject).alias) };
}

async function connections({
  ask,
}: LinkWorld): Promise<{ name: string; properties: JsonObject }[]> {
  const came = await ask("GET", `${service}/privateEndpointConnections`);
  return came.body.value as { name: string; properties: JsonObject }[];
}

async function decide(world: LinkWorld, status: string): Promise<void> {
  const [connection] = await connections(world);
  const properties = { privateLinkServiceConnectionState: { status, description: "so decided" } };
  const came = await world.ask("PUT", `${service}/privateEndpointConnections/${connection?.name}`, {
    properties,
  });
  expect(came.status).toBe(200);
}

describe("who may connect", () => {
  test("an endpoint of the same subscription is approved at once", async () => {
    const world = await withService();
    const body = endpointBody(subscription, service);
    (body.properties as JsonObject).subnet = { id: `${mine.network}/subnets/open` };
    expect(stateIn(await done(world.ask, "PUT", mine.endpoint("pe"), body))).toBe("Approved");
  });

  test("by alias only somebody who waits for approval", async () => {
    const { ask, alias } = await withService({ visibility: { subscriptions: ["*"] } });
    const made = (manual: boolean) =>
      done(ask, "PUT", near.endpoint("pe"), endpointBody(sibling, alias, { manual }));
    expect(codeOf(await made(false))).toBe("PrivateLinkServiceAliasRequiresManualConnection");
    expect(stateIn(await made(true))).toBe("Pending");
  });

  test("a stranger who is not in the visibility cannot connect by alias", async () => {
    const { strangerAsks, alias } = await withService({ visibility: { subscriptions: [sibling] } });
    const came = await strangerAsks(
      "PUT",
      far.endpoint("pe"),
      endpointBody(stranger, alias, { manual: true }),
    );
    expect([came.status, codeOf(came)]).toEqual([
      400,
      "ThirdPartyPrivateLinkServiceProvidedDuringPrivateEndpointCreationDoesNotExistOrIsNotVisible",
    ]);
  });

  test("a stranger with an automatic connection by id needs the right to approve it", async () => {
    const { strangerAsks } = await withService({ visibility: { subscriptions: ["*"] } });
    const came = await strangerAsks("PUT", far.endpoint("pe"), endpointBody(stranger, service));
    expect([came.status, codeOf(came)]).toEqual([403, "LinkedAuthorizationFailed"]);
    expect(came.text).toContain("PrivateEndpointConnectionsApproval/action");
  });

  test("a stranger in the visibility waits for approval", async () => {
    const { strangerAsks, alias } = await withService({ visibility: { subscriptions: ["*"] } });
    const body = endpointBody(stranger, alias, { manual: true, requestMessage: "please" });
    expect(stateIn(await done(strangerAsks, "PUT", far.endpoint("pe"), body))).toBe("Pending");
  });

  test("a subscription that is approved by list does not wait", async () => {
    const lists = { subscriptions: [stranger.toUpperCase()] };
    const { strangerAsks, alias } = await withService({ visibility: lists, autoApproval: lists });
    const body = endpointBody(stranger, alias, { manual: true });
    expect(stateIn(await done(strangerAsks, "PUT", far.endpoint("pe"), body))).toBe("Approved");
  });

  test("a place tells what a subscription sees and what approves it", async () => {
    const { ask, strangerAsks, alias } = await withService({
      visibility: { subscriptions: [sibling] },
      autoApproval: { subscriptions: [sibling] },
    });
    const at = (sub: string, word: string) =>
      `/subscriptions/${sub}/providers/Microsoft.Network/locations/westeurope/${word}`;
    const body = { privateLinkServiceAlias: alias };
    const seen = async (asks: typeof ask, sub: string) => {
      const first = await asks("POST", at(sub, "checkPrivateLinkServiceVisibility"), body);
      expect(first.status).toBe(202);
      return (await asks("GET", first.headers.get("location") ?? "")).body;
    };
    expect(await seen(ask, sibling)).toEqual({ visible: true });
    expect(await seen(strangerAsks, stranger)).toEqual({ visible: false });
    const approved = await ask("GET", at(sibling, "autoApprovedPrivateLinkServices"));
    expect(approved.body).toEqual({ value: [{ privateLinkService: service }] });
    const none = await strangerAsks("GET", at(stranger, "autoApprovedPrivateLinkServices"));
    expect(none.body).toEqual({ value: [] });
    expect(tenant).not.toBe(strangeTenant);
    // In the order in which they were made, also after one is written again.
    const lists = {
      visibility: { subscriptions: [sibling] },
      autoApproval: { subscriptions: [sibling] },
    };
    const later = {
      ...lists,
      loadBalancerFrontendIpConfigurations: [{ id: frontend.replace("/lb/", "/lb2/") }],
    };
    const balancer = frontend.replace("/lb/", "/lb2/").split("/frontendIPConfigurations/")[0] ?? "";
    await done(ask, "PUT", balancer, balancerBody("Standard"));
    await done(ask, "PUT", `${service}2`, serviceBody(later));
    await done(ask, "PUT", service, serviceBody({ ...lists, fqdns: ["a.example"] }));
    const both = await ask("GET", at(sibling, "autoApprovedPrivateLinkServices"));
    expect(both.body).toEqual({
      value: [{ privateLinkService: service }, { privateLinkService: `${service}2` }],
    });
  });
});

describe("both sides", () => {
  test("show what the owner decides, with a new etag", async () => {
    const world = await withService({ visibility: { subscriptions: ["*"] } });
    const { strangerAsks, alias } = world;
    const path = far.endpoint("pe");
    await done(strangerAsks, "PUT", path, endpointBody(stranger, alias, { manual: true }));
    const before = await strangerAsks("GET", path);
    for (const status of ["Approved", "Rejected", "Removed"]) {
      await decide(world, status);
      expect(stateIn(await strangerAsks("GET", path))).toBe(status);
    }
    expect((await strangerAsks("GET", path)).headers.get("etag")).not.toBe(
      before.headers.get("etag"),
    );
    const shown = (await world.ask("GET", service)).body.properties as {
      privateEndpointConnections: JsonObject[];
    };
    expect(shown.privateEndpointConnections).toMatchObject([
      {
        properties: {
          privateEndpoint: { id: path },
          privateLinkServiceConnectionState: { status: "Removed" },
        },
      },
    ]);
  });

  test("a connection that was rejected cannot be approved any more", async () => {
    const world = await withService({ visibility: { subscriptions: ["*"] } });
    const { ask, strangerAsks, alias } = world;
    const path = far.endpoint("pe");
    await done(strangerAsks, "PUT", path, endpointBody(stranger, alias, { manual: true }));
    await decide(world, "Rejected");
    const [connection] = await connections(world);
    const refused = await ask("PUT", `${service}/privateEndpointConnections/${connection?.name}`, {
      properties: { privateLinkServiceConnectionState: { status: "Approved" } },
    });
    expect([refused.status, codeOf(refused)]).toEqual([
      400,
      "PrivateEndpointConnectionStateCannotBeChanged",
    ]);
    expect(stateIn(await strangerAsks("GET", path))).toBe("Rejected");
  });

  test("a service with connections stays; without them its endpoints are disconnected", async () => {
    const world = await withService({ visibility: { subscriptions: ["*"] } });
    const { ask, strangerAsks, alias } = world;
    await done(
      strangerAsks,
      "PUT",
      far.endpoint("pe"),
      endpointBody(stranger, alias, { manual: true }),
    );
    await decide(world, "Rejected");
    const refused = await ask("DELETE", service);
    expect([refused.status, codeOf(refused)]).toEqual([
      409,
      "PrivateLinkServiceWithPrivateEndpointConnectionsCannotBeDeleted",
    ]);
    const [connection] = await connections(world);
    await done(ask, "DELETE", `${service}/privateEndpointConnections/${connection?.name}`);
    expect(stateIn(await strangerAsks("GET", far.endpoint("pe")))).toBe("Disconnected");
    expect((await done(ask, "DELETE", service)).body).toEqual({ status: "Succeeded" });
    const requeue = await done(
      ask,
      "PUT",
      service,
      serviceBody({ visibility: { subscriptions: ["*"] } }),
    );
    expect((requeue.body.properties as JsonObject).alias).not.toBe(alias);
    expect(stateIn(await strangerAsks("GET", far.endpoint("pe")))).toBe("Disconnected");
  });

  test("rejected connections do not hold a service where that is switched off; others do", async () => {
    const switches = { rejectedConnectionsHoldServices: false };
    const world = await withService({ visibility: { subscriptions: ["*"] } }, { switches });
    const { ask, strangerAsks, alias } = world;
    const path = far.endpoint("pe");
    await done(strangerAsks, "PUT", path, endpointBody(stranger, alias, { manual: true }));
    expect((await ask("DELETE", service)).status).toBe(409);
    await decide(world, "Rejected");
    expect((await done(ask, "DELETE", service)).body).toEqual({ status: "Succeeded" });
    expect(stateIn(await strangerAsks("GET", path))).toBe("Disconnected");
  });

  test("deleting the group of a service disconnects its endpoints", async () => {
    const { ask, strangerAsks, alias } = await withService({
      visibility: { subscriptions: ["*"] },
    });
    await done(
      strangerAsks,
      "PUT",
      far.endpoint("pe"),
      endpointBody(stranger, alias, { manual: true }),
    );
    await done(ask, "DELETE", group);
    expect(stateIn(await strangerAsks("GET", far.endpoint("pe")))).toBe("Disconnected");
  });

  test("deleting an endpoint frees its connection, its address and its interface", async () => {
    const world = await withService({ visibility: { subscriptions: [sibling] } });
    const { ask, alias, simulator } = world;
    const before = simulator.store.size;
    const body = endpointBody(sibling, alias, { manual: true });
    const made = await done(ask, "PUT", `${near.endpoint("pe")}?$expand=networkInterfaces`, body);
    const [nic] = (made.body.properties as { networkInterfaces: JsonObject[] }).networkInterfaces;
    expect(nic).toMatchObject({
      properties: { ipConfigurations: [{ properties: { privateIPAddress: "10.1.0.4" } }] },
    });
    const held = await ask("DELETE", String(nic?.id));
    expect(codeOf(held)).toBe("NicInUseWithPrivateEndpoint");
    expect(await connections(world)).toHaveLength(1);
    await done(ask, "DELETE", near.endpoint("pe"));
    expect(await connections(world)).toEqual([]);
    expect(simulator.store.size).toBe(before);
  });
});

describe("zone groups", () => {
  const zone = `${near.group}/providers/Microsoft.Network/privateDnsZones/svc.example`;

  test("follow the names of an approved service and let go of them", async () => {
    const world = await withService({
      visibility: { subscriptions: [sibling] },
      fqdns: ["api.svc.example", "else.where"],
    });
    const { ask, alias } = world;
    await done(ask, "PUT", zone, { location: "global" });
    await done(ask, "PUT", near.endpoint("pe"), endpointBody(sibling, alias, { manual: true }));
    const path = `${near.endpoint("pe")}/privateDnsZoneGroups/g`;
    const properties = {
      privateDnsZoneConfigs: [{ name: "z", properties: { privateDnsZoneId: zone } }],
    };
    await done(ask, "PUT", path, { properties });
    expect((await ask("GET", `${zone}/A/api`)).status).toBe(404);
    await decide(world, "Approved");
    expect((await ask("GET", `${zone}/A/api`)).body.properties).toMatchObject({
      aRecords: [{ ipv4Address: "10.1.0.4" }],
    });
    // The service is given another name: its endpoints and their records follow, and their readers are told.
    const etag = (await ask("GET", near.endpoint("pe"))).body.etag;
    const renamed = serviceBody({
      visibility: { subscriptions: [sibling] },
      fqdns: ["next.svc.example"],
    });
    await done(ask, "PUT", service, renamed);
    expect((await ask("GET", `${zone}/A/api`)).status).toBe(404);
    expect((await ask("GET", `${zone}/A/next`)).status).toBe(200);
    expect((await ask("GET", near.endpoint("pe"))).body.etag).not.toBe(etag);
    const second = await ask("PUT", `${near.endpoint("pe")}/privateDnsZoneGroups/h`, {
      properties,
    });
    expect(codeOf(second)).toBe("MoreThanOnePrivateDnsZoneGroupPerPrivateEndpointNotAllowed");
    await done(ask, "DELETE", near.endpoint("pe"));
    expect((await ask("GET", `${zone}/A/next`)).status).toBe(404);
  });
});
