import { worst } from "@postern/core/dashboard/picture.ts";
import { describe, expect, test } from "vitest";
import {
  address,
  cluster,
  clusterID,
  endpointOf,
  guestGroup,
  ids,
  link,
  type Over,
  oneWorld,
  service,
  zoneOf,
} from "../../../../test/cli/one-world.ts";
import { conditions as capiConditions } from "../cluster-api/names.ts";
import { conditions } from "../hosted/names.ts";
import { unreadIn } from "./gather.ts";
import { pictureOf } from "./picture.ts";
import { type Branch, treeOf } from "./tree.ts";
import type { World } from "./world.ts";

/** A tree as lines: how deep, what, its state and why. */
function lines(world: World, only?: string): string[] {
  const row = ({ kind, label, state, reason, under }: Branch, indent: string): string[] => [
    `${indent}${kind} ${label}: ${state}${reason && state !== "ok" ? ` ${reason}` : ""}`,
    ...under.flatMap((each) => row(each, `${indent}  `)),
  ];
  return treeOf(pictureOf(world, only)).flatMap((each) => row(each, ""));
}
const node = (over: Over, kind: string) =>
  pictureOf(oneWorld(over)).nodes.filter((each) => each.kind === kind);

test("a hosted cluster is drawn from its load balancer to its records", () => {
  expect(lines(oneWorld())).toEqual([
    "cluster clusters/one: ok",
    "  load-balancer kubernetes-internal: ok",
    "    link-service pls-one: ok",
    "      endpoint private-router-pe: ok",
    "        zone one.hypershift.local: ok",
    "          record api.one.hypershift.local: ok",
    "          record *.apps.one.hypershift.local: ok",
    "    backend kubernetes: ok",
  ]);
});

test("every line leads from one node to another, and every node is in a network that is drawn", () => {
  const { nodes, lines: drawn, networks } = pictureOf(oneWorld());
  const known = new Set(nodes.map(({ id }) => id));
  for (const { from, to } of drawn) expect([known.has(from), known.has(to)]).toEqual([true, true]);
  expect(networks.map(({ label }) => label)).toEqual(["home", "guest"]);
  const places = new Set(networks.map(({ id }) => id));
  for (const { network } of nodes) if (network) expect(places).toContain(network);
});

test("an endpoint that is being made is ours by its tags, before the status has it", () => {
  const status = { privateEndpointID: undefined, privateEndpointIP: undefined };
  const { endpoints, ...rest } = endpointOf({ id: ids.endpoint, subnet: ids.workers, address });
  const tags = { postern_owner: `${clusterID}/u-link` };
  const made = endpoints.map((each) => ({
    ...each,
    tags,
    properties: { ...each.properties, provisioningState: "Updating" },
  }));
  const drawn = node(
    { kube: { links: [link({ status })] }, azure: { endpoints: made, ...rest } },
    "endpoint",
  );
  expect(drawn.map(({ label, state }) => `${label}: ${state}`)).toEqual([
    "private-router-pe: working",
  ]);
});

test("one cluster alone leaves the others out, and the appliances", () => {
  const two = { ...cluster(), metadata: { namespace: "clusters", name: "two" } };
  const world = oneWorld({ kube: { hostedClusters: [cluster(), two] } });
  expect(pictureOf(world).clusters).toHaveLength(2);
  expect(lines(world, "clusters/two")).toEqual(["cluster clusters/two: ok"]);
});

describe("the state of", () => {
  test("a public cluster is as it was asked for", () => {
    const platform = { type: "Azure", azure: { topology: "Public" } } as never;
    const over = { kube: { hostedClusters: [cluster({ platform })], links: [] } };
    expect(node(over, "cluster")).toMatchObject([{ state: "ok", health: "Healthy" }]);
  });

  test("a cluster without a condition is being created, and is unknown when it is no longer new", () => {
    const bare = (creationTimestamp: string) => {
      const { metadata, ...rest } = cluster();
      return { ...rest, metadata: { ...metadata, creationTimestamp }, status: {} };
    };
    const one = (created: string) => node({ kube: { hostedClusters: [bare(created)] } }, "cluster");
    expect(one(new Date().toISOString())).toMatchObject([{ state: "working", reason: "Waiting" }]);
    expect(one("2020-01-01T00:00:00Z")).toMatchObject([
      { state: "unknown", reason: "NotReported" },
    ]);
  });

  test.each([
    ["Pending", "pending"],
    ["Rejected", "broken"],
    ["Disconnected", "broken"],
  ])("an endpoint whose connection is %s", (status, state) => {
    const azure = endpointOf({ id: ids.endpoint, subnet: ids.workers, address, status });
    expect(node({ azure }, "endpoint")).toMatchObject([{ state, reason: status }]);
  });

  test("an endpoint that was there and is gone, and one that is not there yet", () => {
    const azure = { endpoints: [], interfaces: [] };
    const condition = (status: string, reason: string) => ({
      kube: {
        links: [link({ status: { conditions: [{ type: conditions.endpoint, status, reason }] } })],
      },
      azure,
    });
    expect(node(condition("True", "AzureSuccess"), "endpoint")).toMatchObject([
      { state: "absent", reason: "NotFound" },
    ]);
    expect(node(condition("False", "PrivateEndpointCreating"), "endpoint")).toMatchObject([
      { state: "working" },
    ]);
    expect(node(condition("False", "AzureError"), "endpoint")).toMatchObject([{ state: "broken" }]);
  });

  test("a record that names another address, and a zone that is not linked", () => {
    const other = { api: "192.168.0.99", shop: "10.9.9.9", "*.apps": "10.9.9.9" };
    const zone = zoneOf(ids.zone, [ids.home], other);
    const [api, ...others] = zone.records;
    const metadata = { postern_owner: `${clusterID}/u-link` };
    // A record of other people in the same zone is none of the cluster's business.
    const records = [{ ...api, properties: { ...api?.properties, metadata } }, ...others];
    const zones = [{ ...zone, records }] as (typeof zone)[];
    expect(node({ azure: { zones } }, "record")).toMatchObject([
      { state: "broken", reason: "WrongAddress", message: expect.stringContaining(address) },
    ]);
    expect(node({ azure: { zones } }, "zone")).toMatchObject([
      { state: "broken", reason: "NotLinked" },
    ]);
  });
});

describe("what should be there by a link and is not", () => {
  const waiting = (reason: string) => ({
    links: [
      link({
        status: {
          conditions: [
            { type: conditions.dns, status: reason === "AzureSuccess" ? "True" : "False", reason },
          ],
        },
      }),
    ],
  });

  test("a zone that is gone, and one that nobody may list", () => {
    const kube = waiting("AzureSuccess");
    const azure = { zones: [] };
    expect(node({ kube, azure }, "zone")).toMatchObject([
      { label: "one.hypershift.local", state: "absent", reason: "NotFound" },
    ]);
    const unread = [unreadIn("private zones", "/subscriptions/g", "lacks the right")];
    expect(node({ kube: waiting("NamesPending"), azure, unread }, "zone")).toMatchObject([
      { state: "working" },
    ]);
    expect(node({ kube: { links: [link()] }, azure, unread }, "zone")).toMatchObject([
      { state: "unknown", reason: "NotRead" },
    ]);
  });

  test("a zone that was not opened is not drawn", () => {
    const azure = { zones: [], unopened: [ids.zone] };
    expect(node({ kube: waiting("AzureSuccess"), azure }, "zone")).toEqual([]);
  });

  test("a record that is gone, and one that is being written", () => {
    const azure = { zones: [zoneOf(ids.zone, [ids.guest], { api: address })] };
    const record = (reason: string) =>
      node({ kube: waiting(reason), azure }, "record").map(({ label, state }) => [label, state]);
    expect(record("AzureSuccess")).toEqual([
      ["api.one.hypershift.local", "ok"],
      ["*.apps.one.hypershift.local", "absent"],
    ]);
    expect(record("NamesPending")).toContainEqual(["*.apps.one.hypershift.local", "working"]);
  });
});

test("an endpoint of somebody else that asks to be let in hangs under the link service", () => {
  const foreign = `${guestGroup}/privateEndpoints/shop`;
  const linkServices = [
    service({
      privateEndpointConnections: [
        {
          name: "shop.1",
          properties: {
            privateEndpoint: { id: foreign },
            privateLinkServiceConnectionState: { status: "Pending", description: "please" },
          },
        },
      ],
    }),
  ];
  expect(lines(oneWorld({ azure: { linkServices } }))).toContain(
    "      endpoint shop: pending Pending",
  );
});

test("an endpoint has the link id of the PROXY protocol where its link service sends that", () => {
  const foreign = `${guestGroup}/privateEndpoints/shop`;
  const connection = (id: string, linkIdentifier: string) => ({
    properties: {
      privateEndpoint: { id },
      privateLinkServiceConnectionState: { status: "Approved" },
      linkIdentifier,
    },
  });
  const drawn = (enableProxyProtocol: boolean) => {
    const privateEndpointConnections = [
      connection(foreign, "536870913"),
      connection(ids.endpoint.toUpperCase(), "536870912"),
    ];
    const linkServices = [service({ enableProxyProtocol, privateEndpointConnections })];
    const world = oneWorld({ azure: { linkServices } });
    const all = (branch: Branch): Branch[] => [branch, ...branch.under.flatMap(all)];
    return treeOf(pictureOf(world))
      .flatMap(all)
      .filter(({ kind }) => kind === "endpoint")
      .map(({ label, facts }) => [label, facts.linkId]);
  };
  expect(drawn(true)).toEqual([
    ["private-router-pe", "536870912"],
    ["shop", "536870913"],
  ]);
  expect(drawn(false)).toEqual([
    ["private-router-pe", undefined],
    ["shop", undefined],
  ]);
});

describe("a cluster of Cluster API", () => {
  const group = "/subscriptions/w/resourceGroups/amber/providers/Microsoft.Network";
  const its = { ...service(), id: `${group}/privateLinkServices/amber-api`, name: "amber-api" };
  const amber = {
    metadata: { namespace: "org", name: "amber" },
    spec: {
      subscriptionID: "w",
      resourceGroup: "amber",
      networkSpec: { apiServerLB: { type: "Internal", privateLinks: [{ name: "amber-api" }] } },
    },
    status: { conditions: [{ type: capiConditions.links, status: "True", reason: "Ready" }] },
  } as never;
  /** Another cluster, whose spec requests endpoints to the link service of amber. */
  const requester = (key: string, endpoint: string) => {
    const [, , subscriptionID, , resourceGroup] = endpoint.split("/");
    const [namespace, name] = key.split("/");
    const privateLinkServiceConnections = [{ privateLinkServiceID: its.id }];
    const privateEndpoints = [{ name: endpoint.split("/").at(-1), privateLinkServiceConnections }];
    return {
      metadata: { namespace, name },
      spec: { subscriptionID, resourceGroup, networkSpec: { subnets: [{ privateEndpoints }] } },
      status: { conditions: [{ type: capiConditions.privateEndpoints, status: "True" }] },
    } as never;
  };
  const worldWith = (azureClusters: never[], status = "Approved") => ({
    ...oneWorld({
      kube: { hostedClusters: [], links: [], azureClusters: [amber, ...azureClusters] },
      azure: {
        linkServices: [its],
        ...endpointOf({ id: ids.endpoint, subnet: ids.workers, address, to: its.id, status }),
      },
    }),
    management: "org/mc",
  });
  const clusterOf = (world: World) =>
    pictureOf(world).clusters.find(({ key }) => key === "org/amber");

  test("is drawn by its links, the endpoints to them, and the names of these", () => {
    const world = worldWith([requester("org/mc", ids.endpoint)]);
    const orphaned = { ...world, azure: { ...world.azure, linkServices: [] } };
    expect(lines(orphaned).slice(0, 2)).toEqual([
      "cluster org/amber: broken NotFound",
      "  link-service amber-api: absent NotFound",
    ]);
    expect(lines(world).slice(0, 5)).toEqual([
      "cluster org/amber: ok",
      "  load-balancer kubernetes-internal: ok",
      "    link-service amber-api: ok",
      "      endpoint private-router-pe: ok",
      "        zone one.hypershift.local: ok",
    ]);
  });

  test("attack: another cluster requests an endpoint to its link service that does not exist, and it stays healthy", () => {
    const evil = requester("evil/x", `${group}/privateEndpoints/missing`);
    const world = worldWith([requester("org/mc", ids.endpoint), evil]);
    expect(clusterOf(world)).toMatchObject({ health: "Healthy", causes: [] });
    expect(clusterOf(world)).not.toHaveProperty("isContradicted");
    expect(clusterOf({ ...world, management: "evil/x" })).toMatchObject({ health: "Unavailable" });
  });

  test("attack: another cluster's endpoint waits for approval, and nobody is told to approve it", () => {
    const evil = requester("evil/x", ids.endpoint);
    const world = worldWith([evil], "Pending");
    expect(clusterOf(world)).toMatchObject({ health: "Healthy", causes: [], endpointIds: [] });
    expect(lines(world)[3]).toBe("      endpoint private-router-pe: pending Pending");
  });
});

test("appliances hang under their pool, which is reported when it is empty", () => {
  const gateway = (members: object[], interfaces: object[] = []) =>
    oneWorld({
      kube: { hostedClusters: [], links: [] },
      azure: {
        loadBalancers: [
          {
            id: `${guestGroup}/loadBalancers/gw`,
            name: "gw",
            sku: { name: "Gateway" },
            properties: {
              backendAddressPools: [
                {
                  id: `${guestGroup}/loadBalancers/gw/backendAddressPools/p`,
                  name: "p",
                  properties: {
                    loadBalancerBackendAddresses: members,
                    backendIPConfigurations: interfaces,
                  },
                },
              ],
            },
          } as never,
        ],
      },
    });
  expect(lines(gateway([]))).toEqual(["load-balancer gw: ok", "  pool p: absent Empty"]);
  expect(lines(gateway([], [{ id: "/nic" }]))).toEqual(["load-balancer gw: ok", "  pool p: ok"]);
  const members = [
    { name: "a", properties: { ipAddress: "10.9.0.4" } },
    { name: "b", properties: { ipAddress: "10.9.0.5", adminState: "Down" } },
  ];
  expect(lines(gateway(members)).slice(1)).toEqual([
    "  pool p: ok",
    "    appliance a: ok",
    "    appliance b: working Draining",
  ]);
});

test("of several states the most important one is shown", () => {
  expect(worst(["ok", "pending", "broken", "working"])).toBe("broken");
  expect(worst(["ok", "unknown", "working"])).toBe("working");
  expect(worst([])).toBe("ok");
});
