import { describe, expect, test } from "vitest";
import {
  AzureModel,
  alias,
  clusterNetwork,
  nowAfter,
  observed,
} from "../../../../../test/hosted/azure-model.ts";
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
} from "../../../../../test/hosted/endpoint-worlds.ts";
import type { PrivateEndpoint } from "../../azure/gateways/private-endpoints.ts";
import { conditions } from "../names.ts";
import type { Observed } from "./observed.ts";
import { plan } from "./plan.ts";

test("a link that does not reach the API server is not Available, and says so (law 5)", () => {
  const apiServerProblem = { reason: "APIServerNotBehindLink", message: "another port" };
  const { world } = reachable();
  const { azure, world: router } = reachable({
    cluster: { ...(world.cluster as NonNullable<Observed["cluster"]>), apiServerProblem },
  });
  expect(reported(router)).toBe("False APIServerNotBehindLink");
  expect(reported(router, conditions.endpoint)).toBe("True AzureSuccess");
  expect(addressOf(azure, `${internal}/A/api`)).toBe("192.168.0.4");
});

describe("a new link", () => {
  test("begins with the endpoint and both zones at once", () => {
    expect(steps(new AzureModel(), observed())).toEqual([
      "create private endpoint private-router-pe",
      "create DNS zone one.hypershift.local",
      "create DNS zone example.com",
    ]);
  });

  test("ends with names that point to the endpoint, and says so (§6.2–6.5)", () => {
    const { azure, world } = reachable();
    expect(
      [...azure.resources.keys()]
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
    const [step] = plan(new AzureModel().observed(observed())).steps;
    const body = (step as { body: PrivateEndpoint }).body;
    const [asked] = body.properties.manualPrivateLinkServiceConnections ?? [];
    expect(asked?.properties.privateLinkServiceId).toBe(alias);
    expect(asked?.properties.requestMessage?.length).toBeLessThanOrEqual(140);
    expect(body.properties.subnet?.id).toBe(`${clusterNetwork}/subnets/workers`);
  });

  test("waits for the alias with its endpoint and the base domain's link, not with the rest", () => {
    const world = observed({ link: { ...observed().link, alias: undefined } });
    const azure = new AzureModel();
    expect(steps(azure, world)).toEqual([
      "create DNS zone one.hypershift.local",
      "create DNS zone example.com",
    ]);
    const withoutForeign = settle(azure, world);
    expect(azure.at(`${internal}/virtualNetworkLinks/private-router-vnet-link`)).toBeDefined();
    expect(azure.below(base)).toEqual([]);
    expect(reported(withoutForeign, conditions.endpoint)).toBe("False LinkServicePending");
  });

  test("creates nothing before the finalizer is on the control plane", () => {
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
    const azure = new AzureModel();
    azure.addresses = ["192.168.0.4", "FD00::4"];
    const world = settle(azure, observed());
    expect(azure.at(`${internal}/AAAA/api`)).toMatchObject({
      properties: { aaaaRecords: [{ ipv6Address: "fd00::4" }] },
    });
    expect(addressOf(azure, `${internal}/A/api`)).toBe("192.168.0.4");
    expect(reported(world)).toBe("True AzureSuccess");
    changeEndpoint(azure, {
      networkInterfaces: [
        {
          id: "/nic",
          properties: { ipConfigurations: [{ properties: { privateIPAddress: "fd00::4" } }] },
        },
      ],
    });
    settle(azure, world);
    expect(azure.at(`${internal}/A/api`)).toBeUndefined();
  });

  test("takes the addresses of its names before those of its interfaces", () => {
    const { azure, world } = reachable();
    changeEndpoint(azure, { customDnsConfigs: [{ fqdn: "api", ipAddresses: ["192.168.0.9"] }] });
    settle(azure, world);
    expect(addressOf(azure, `${internal}/A/api`)).toBe("192.168.0.9");
  });
});

describe("available", () => {
  test("is not True before the link service is created, and has its reason until then", () => {
    const { azure, world } = reachable();
    const condition = { status: "False", reason: "PLSCreationFailed", message: "no" } as const;
    const now = settle(azure, { ...world, link: { ...world.link, condition } });
    expect(reported(now)).toBe("False PLSCreationFailed");
    expect(message(now)).toBe("No.");
    expect(reported(now, conditions.endpoint)).toBe("True AzureSuccess");
  });

  test.each([
    ["says nothing yet", { condition: undefined }],
    ["was decided for an older spec", { current: false }],
  ])("is not True too early: it is False while the link service's condition %s", (_when, over) => {
    const { azure, world } = reachable();
    const now = settle(azure, { ...world, link: { ...world.link, ...over } });
    expect(reported(now)).toBe("False LinkServicePending");
  });

  test("becomes False when the endpoint breaks, and True when it works again", () => {
    const { azure, world } = reachable();
    connection(azure, "Rejected");
    const broken = settle(azure, world);
    expect(reported(broken)).toBe("False PrivateEndpointConnectionRejected");
    connection(azure, "Approved");
    expect(reported(settle(azure, broken))).toBe("True AzureSuccess");
  });

  test("becomes False while a name points elsewhere, and the name is corrected", () => {
    const { azure, world } = reachable();
    const id = `${internal}/A/api`;
    const found = azure.at<{ properties: object }>(id);
    azure.set(id, {
      ...found,
      properties: { ...found?.properties, aRecords: [{ ipv4Address: "10.9.9.9" }] },
    });
    const planned = plan(azure.observed(world));
    expect(planned.conditions[0]).toMatchObject({ status: "False" });
    expect(planned.steps).toMatchObject([{ do: "update record", ifMatch: azure.at(id)?.etag }]);
    expect(reported(settle(azure, world))).toBe("True AzureSuccess");
  });

  test("writes the same conditions in every reconcile at rest: a status write does not cause the next", () => {
    const { azure, world } = reachable();
    const planned = plan(azure.observed(world));
    expect(planned).toMatchObject({ steps: [], requeue: "drift", events: [] });
    expect(nowAfter(world, planned).conditions).toEqual(world.conditions);
    expect(planned.status).toEqual(world.status);
  });
});

describe("a pause", () => {
  test("stops every change of the endpoint and of DNS, and a broken connection is reported all the same", () => {
    const { azure, world } = reachable();
    connection(azure, "Disconnected");
    const planned = plan(azure.observed({ ...world, pause: { paused: true } }));
    expect(planned.steps).toEqual([]);
    expect(planned.conditions[0]).toMatchObject({ status: "False", reason: "Paused" });
    expect(planned.status).toEqual(world.status);
  });

  test("of a cluster that works says nothing", () => {
    const { azure, world } = reachable();
    const planned = plan(azure.observed({ ...world, pause: { paused: true, untilMs: 1_000 } }));
    expect(nowAfter(world, planned).conditions).toEqual(world.conditions);
    expect(planned.requeue).toEqual({ afterMs: 1_000 });
  });

  test("of a new cluster puts no finalizer on it", () => {
    const planned = plan(new AzureModel().observed(observed({ pause: { paused: true } })));
    expect(planned.finalizer).toBeUndefined();
    expect(planned.steps).toEqual([]);
  });
});
