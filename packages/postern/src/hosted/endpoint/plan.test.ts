import { describe, expect, test } from "vitest";
import {
  alias,
  guestNetwork,
  nowAfter,
  observed,
  PaperGuest,
} from "../../../../../test/hosted/paper-guest.ts";
import {
  addressOf,
  base,
  changeEndpoint,
  connection,
  internal,
  message,
  reachable,
  reported,
  settle,
  short,
  steps,
} from "../../../../../test/hosted/paper-links.ts";
import type { PrivateEndpoint } from "../../azure/gateways/private-endpoints.ts";
import { conditions } from "../names.ts";
import type { Observed } from "./observed.ts";
import { plan } from "./plan.ts";

test("a link that does not lead to the API server is not Available, and says so (law 5)", () => {
  const apiServerProblem = { reason: "APIServerNotBehindLink", message: "another port" };
  const { world } = reachable();
  const { guest, world: router } = reachable({
    cluster: { ...(world.cluster as NonNullable<Observed["cluster"]>), apiServerProblem },
  });
  expect(reported(router)).toBe("False APIServerNotBehindLink");
  expect(reported(router, conditions.endpoint)).toBe("True AzureSuccess");
  expect(addressOf(guest, `${internal}/A/api`)).toBe("192.168.0.4");
});

describe("a new link", () => {
  test("begins with the endpoint and both zones at once", () => {
    expect(steps(new PaperGuest(), observed())).toEqual([
      "make endpoint private-router-pe",
      "make zone one.hypershift.local",
      "make zone example.com",
    ]);
  });

  test("ends with names that lead to the endpoint, and says so (§6.2–6.5)", () => {
    const { guest, world } = reachable();
    expect(
      [...guest.resources.keys()]
        .map((id) => id.slice(id.indexOf("microsoft.network/") + 18))
        .sort(),
    ).toEqual([
      "privatednszones/example.com",
      "privatednszones/example.com/a/api-one",
      "privatednszones/example.com/a/oauth-one",
      "privatednszones/example.com/virtualnetworklinks/private-router-basedomain-vnet-link",
      "privatednszones/one.hypershift.local",
      "privatednszones/one.hypershift.local/a/*.apps",
      "privatednszones/one.hypershift.local/a/api",
      "privatednszones/one.hypershift.local/virtualnetworklinks/private-router-vnet-link",
      "privateendpoints/private-router-pe",
    ]);
    expect(world.conditions.map(({ status, reason }) => `${status} ${reason}`)).toEqual(
      Array(3).fill("True AzureSuccess"),
    );
    expect(world.status).toEqual({
      privateEndpointID: short,
      privateEndpointIP: "192.168.0.4",
      privateDNSZoneID: internal,
      dnsZoneName: "one.hypershift.local",
      baseDomainDNSZoneID: base,
    });
  });

  test("asks by alias, with a message that Azure takes", () => {
    const [step] = plan(new PaperGuest().observed(observed())).steps;
    const body = (step as { body: PrivateEndpoint }).body;
    const [asked] = body.properties.manualPrivateLinkServiceConnections ?? [];
    expect(asked?.properties.privateLinkServiceId).toBe(alias);
    expect(asked?.properties.requestMessage?.length).toBeLessThanOrEqual(140);
    expect(body.properties.subnet?.id).toBe(`${guestNetwork}/subnets/workers`);
  });

  test("waits for the alias with its endpoint and the base domain's link, not with the rest", () => {
    const world = observed({ link: { ...observed().link, alias: undefined } });
    const guest = new PaperGuest();
    expect(steps(guest, world)).toEqual([
      "make zone one.hypershift.local",
      "make zone example.com",
    ]);
    const withoutForeign = settle(guest, world);
    expect(guest.at(`${internal}/virtualNetworkLinks/private-router-vnet-link`)).toBeDefined();
    expect(guest.below(base)).toEqual([]);
    expect(reported(withoutForeign, conditions.endpoint)).toBe("False LinkServicePending");
  });

  test("makes nothing before the control plane is held", () => {
    const cluster = { ...observed().cluster, hasFinalizer: false } as NonNullable<
      Observed["cluster"]
    >;
    const planned = plan(observed({ cluster }));
    expect(planned).toMatchObject({ steps: [], requeue: "drift" });
    expect(planned.finalizer).toBeUndefined();
    expect(planned.conditions[0]?.reason).toBe("ControlPlaneNotHeld");
  });

  test.each([
    ["an owner", { cluster: undefined }, "ControlPlaneUnknown"],
    [
      "readable name of its cluster",
      { cluster: { ...(observed().cluster as NonNullable<Observed["cluster"]>), misnamed: true } },
      "InvalidAnnotation",
    ],
    ["a cluster id", { self: { ...observed().self, clusterID: undefined } }, "ClusterIDMissing"],
  ])("waits where it has no %s", (_what, over, reason) => {
    const planned = plan(observed(over));
    expect(planned.steps).toEqual([]);
    expect(planned.conditions[0]).toMatchObject({ status: "False", reason });
  });

  test("writes AAAA records for an IPv6 address, and A and AAAA records for both", () => {
    const guest = new PaperGuest();
    guest.addresses = ["192.168.0.4", "FD00::4"];
    const world = settle(guest, observed());
    expect(guest.at(`${internal}/AAAA/api`)).toMatchObject({
      properties: { aaaaRecords: [{ ipv6Address: "fd00::4" }] },
    });
    expect(addressOf(guest, `${internal}/A/api`)).toBe("192.168.0.4");
    expect(reported(world)).toBe("True AzureSuccess");
    changeEndpoint(guest, {
      networkInterfaces: [
        {
          id: "/nic",
          properties: { ipConfigurations: [{ properties: { privateIPAddress: "fd00::4" } }] },
        },
      ],
    });
    settle(guest, world);
    expect(guest.at(`${internal}/A/api`)).toBeUndefined();
  });

  test("takes the addresses of its names before those of its interfaces", () => {
    const { guest, world } = reachable();
    changeEndpoint(guest, { customDnsConfigs: [{ fqdn: "api", ipAddresses: ["192.168.0.9"] }] });
    settle(guest, world);
    expect(addressOf(guest, `${internal}/A/api`)).toBe("192.168.0.9");
  });
});

describe("available", () => {
  test("is not True before the link service is created, and has its reason until then", () => {
    const { guest, world } = reachable();
    const condition = { status: "False", reason: "PLSCreationFailed", message: "no" } as const;
    const now = settle(guest, { ...world, link: { ...world.link, condition } });
    expect(reported(now)).toBe("False PLSCreationFailed");
    expect(message(now)).toBe("no");
    expect(reported(now, conditions.endpoint)).toBe("True AzureSuccess");
  });

  test.each([
    ["says nothing yet", { condition: undefined }],
    ["was decided for an older spec", { current: false }],
  ])("is not True too early: it is False while the link service's condition %s", (_when, over) => {
    const { guest, world } = reachable();
    const now = settle(guest, { ...world, link: { ...world.link, ...over } });
    expect(reported(now)).toBe("False LinkServicePending");
  });

  test("goes False when the endpoint breaks, and True when it works again", () => {
    const { guest, world } = reachable();
    connection(guest, "Rejected");
    const broken = settle(guest, world);
    expect(reported(broken)).toBe("False PrivateEndpointConnectionNotApproved");
    connection(guest, "Approved");
    expect(reported(settle(guest, broken))).toBe("True AzureSuccess");
  });

  test("goes False while a name leads elsewhere, and the name is put right", () => {
    const { guest, world } = reachable();
    const id = `${internal}/A/api`;
    const found = guest.at<{ properties: object }>(id);
    guest.set(id, {
      ...found,
      properties: { ...found?.properties, aRecords: [{ ipv4Address: "10.9.9.9" }] },
    });
    const planned = plan(guest.observed(world));
    expect(planned.conditions[0]).toMatchObject({ status: "False" });
    expect(planned.steps).toMatchObject([{ do: "write name", ifMatch: guest.at(id)?.etag }]);
    expect(reported(settle(guest, world))).toBe("True AzureSuccess");
  });

  test("writes the same conditions in every reconcile at rest: a status write does not cause the next", () => {
    const { guest, world } = reachable();
    const planned = plan(guest.observed(world));
    expect(planned).toMatchObject({ steps: [], requeue: "drift", events: [] });
    expect(nowAfter(world, planned).conditions).toEqual(world.conditions);
    expect(planned.status).toEqual(world.status);
  });
});

describe("a pause", () => {
  test("stops every change of the endpoint and of DNS, and a broken connection is reported all the same", () => {
    const { guest, world } = reachable();
    connection(guest, "Disconnected");
    const planned = plan(guest.observed({ ...world, pause: { paused: true } }));
    expect(planned.steps).toEqual([]);
    expect(planned.conditions[0]).toMatchObject({ status: "False", reason: "Paused" });
    expect(planned.status).toEqual(world.status);
  });

  test("of a cluster that works says nothing", () => {
    const { guest, world } = reachable();
    const planned = plan(guest.observed({ ...world, pause: { paused: true, untilMs: 1_000 } }));
    expect(nowAfter(world, planned).conditions).toEqual(world.conditions);
    expect(planned.requeue).toEqual({ afterMs: 1_000 });
  });

  test("of a new cluster puts no finalizer on it", () => {
    const planned = plan(new PaperGuest().observed(observed({ pause: { paused: true } })));
    expect(planned.finalizer).toBeUndefined();
    expect(planned.steps).toEqual([]);
  });
});
