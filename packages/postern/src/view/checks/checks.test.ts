import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { describe, expect, test } from "vitest";
import {
  balancer,
  cluster,
  endpointOf,
  guestGroup,
  ids,
  link,
  network,
  oneWorld,
  service,
  zoneOf,
} from "../../../../../test/cli/one-world.ts";
import type { World } from "../world.ts";
import { examine, worldChecks } from "./all.ts";

const nat = (over: { policy?: string; used?: number; prefix?: string } = {}) =>
  oneWorld({
    azure: {
      networks: [
        network(ids.home, "10.0.0.0/16", [
          { id: ids.nat, prefix: "10.0.9.0/24", policy: "Disabled", ...over },
        ]),
      ],
    },
  });
const withBalancer = (over: Parameters<typeof balancer>[0]) =>
  oneWorld({ azure: { loadBalancers: [balancer(over)] } });
const withService = (over: object) => oneWorld({ azure: { linkServices: [service(over)] } });
const withZones = (...zones: World["azure"]["zones"]) => oneWorld({ azure: { zones } });
const own = zoneOf(ids.zone, [ids.guest], { api: "192.168.0.4" });

/** Each check with worlds in which it finds something: which result, and words of what it says. */
const wrong: Record<string, [what: string, world: World, result: string, says: string][]> = {
  "cluster health": [
    [
      "a cluster whose connection is rejected",
      oneWorld({
        azure: endpointOf({
          id: ids.endpoint,
          subnet: ids.workers,
          address: "192.168.0.4",
          status: "Rejected",
        }),
      }),
      "failed",
      "Unavailable: The owner of the link service rejected the connection",
    ],
    [
      "a cluster whose operator is gone",
      { ...oneWorld(), operator: { state: "lost" } },
      "not checked",
      "Unknown: No operator is running",
    ],
  ],
  "NAT subnet policy": [
    [
      "a subnet that does not let it",
      nat({ policy: "Enabled" }),
      "failed",
      "creates no link service",
    ],
    [
      "one that a cluster asks for, before there is a link",
      oneWorld({
        kube: {
          links: [],
          hostedClusters: [
            cluster({
              platform: {
                type: "Azure",
                azure: {
                  topology: "Private",
                  private: { type: "PrivateLink", privateLink: { natSubnetID: ids.workers } },
                },
              },
            } as never),
          ],
        },
        azure: { linkServices: [] },
      }),
      "failed",
      "creates no link service",
    ],
  ],
  "link services per load balancer": [
    [
      "a load balancer that takes no more",
      oneWorld({
        azure: {
          linkServices: Array.from({ length: 8 }, (_, at) => ({
            ...service({}),
            id: `${ids.service}-${at}`,
          })),
        },
      }),
      "warning",
      "It has 8 link services; the limit is 8.",
    ],
  ],
  "NAT addresses": [
    [
      "more addresses than Azure gives",
      withService({ ipConfigurations: Array.from({ length: 9 }, () => ({ properties: {} })) }),
      "failed",
      "9 NAT addresses; the limit is 8.",
    ],
  ],
  "free addresses": [
    ["a full subnet", nat({ prefix: "10.0.9.0/29", used: 3 }), "failed", "0 free addresses"],
    ["a nearly full one", nat({ prefix: "10.0.9.0/29", used: 1 }), "warning", "2 free addresses"],
  ],
  "load balancer region and network": [
    ["another region", withBalancer({ location: "North Europe" }), "failed", "northeurope"],
    [
      "a NAT subnet in another network",
      withService({ ipConfigurations: [{ properties: { subnet: { id: ids.workers } } }] }),
      "failed",
      "another virtual network",
    ],
  ],
  "load balancer SKU": [
    ["a Basic one", withBalancer({ sku: "Basic" }), "failed", "needs Standard"],
    [
      "one with pools of IP addresses",
      withBalancer({
        properties: {
          backendAddressPools: [
            {
              properties: {
                loadBalancerBackendAddresses: [{ properties: { ipAddress: "10.0.0.9" } }],
              },
            },
          ],
        },
      }),
      "failed",
      "network interfaces",
    ],
  ],
  "visibility and approval": [
    [
      "everybody sees it",
      withService({ visibility: { subscriptions: ["*"] } }),
      "warning",
      "every",
    ],
    [
      "the cluster's subscription is not approved",
      withService({ autoApproval: {} }),
      "failed",
      "not approved automatically",
    ],
    [
      "the cluster's subscription does not see it",
      withService({ visibility: {} }),
      "failed",
      "not approved automatically",
    ],
  ],
  "pending connections": [
    [
      "one that is neither approved nor rejected",
      withService({
        privateEndpointConnections: [
          {
            name: "shop",
            properties: { privateLinkServiceConnectionState: { status: "Pending" } },
          },
        ],
      }),
      "warning",
      "Connection shop waits for approval.",
    ],
  ],
  "load balancer of the link service": [
    [
      "one that is deleted",
      oneWorld({ azure: { loadBalancers: [] } }),
      "warning",
      "does not exist",
    ],
  ],
  "conflicting DNS zones": [
    [
      "another zone of the name",
      withZones(own, zoneOf(`${guestGroup}/privateDnsZones/Example.com`, [ids.guest])),
      "failed",
      "Another zone example.com",
    ],
  ],
  "shadowed DNS records": [
    [
      "a zone below another with records for it",
      withZones(
        zoneOf(`${guestGroup}/privateDnsZones/example.com`, [ids.guest], { "api.one": "10.0.0.1" }),
        zoneOf(`${guestGroup}/privateDnsZones/one.example.com`, [ids.guest]),
      ),
      "failed",
      "hides api.one.example.com.",
    ],
  ],
  "custom DNS servers": [
    [
      "servers of their own",
      oneWorld({
        azure: { networks: [network(ids.guest, "192.168.0.0/16", [], ["10.1.1.1"])] },
      }),
      "warning",
      "10.1.1.1",
    ],
  ],
};

test("every check has a world in which it finds something", () => {
  expect(Object.keys(wrong).sort()).toEqual(worldChecks.map(({ name }) => name).sort());
});

test("a healthy world passes every check", () => {
  const results = new Set(examine(oneWorld()).map(({ result }) => result));
  expect([...results]).toEqual(["ok"]);
});

describe.each(Object.entries(wrong))("%s", (name, cases) => {
  const check = worldChecks.find((each) => each.name === name);

  test("passes where all is as it should be", () => {
    expect(check?.run(oneWorld()).filter(({ result }) => result !== "ok")).toEqual([]);
  });

  test.each(cases)("finds %s", (_what, world, result, says) => {
    const found = check?.run(world).filter((each) => each.result !== "ok") ?? [];
    expect(found).toMatchObject([{ result, found: expect.stringContaining(says) }]);
    expect(found[0]?.remedy).toBeTruthy();
  });
});

test("a connection that waits is selected by its cluster, and one of somebody else by its id", () => {
  const waiting = (name: string, endpoint: string) => ({
    name,
    properties: {
      privateEndpoint: { id: endpoint },
      privateLinkServiceConnectionState: { status: "Pending" },
    },
  });
  const another = ids.endpoint.replace("/one/", "/other/");
  const privateEndpointConnections = [waiting("a", ids.endpoint), waiting("b", another)];
  const remedies = examine(withService({ privateEndpointConnections }))
    .filter(({ check }) => check === "pending connections")
    .map(({ remedy }) => remedy);
  const id = `${ids.service}/privateEndpointConnections/b`;
  expect(remedies).toEqual([
    "Approve or reject it: postern approve clusters/one, or postern reject clusters/one",
    `Approve or reject it: postern approve ${id}, or postern reject ${id}`,
  ]);
});

describe("attack: a cluster names a subnet that is not its own", () => {
  const remedyFor = (name: string) => {
    const id = ids.nat.replace(/[^/]+$/, name);
    const subnet = { id, prefix: "10.0.9.0/24", policy: "Enabled" };
    const links = [{ ...link(), spec: { ...link().spec, natSubnetID: id } }];
    const networks = [network(ids.home, "10.0.0.0/16", [subnet])];
    const world = oneWorld({ kube: { links }, azure: { networks, linkServices: [] } });
    return examine(world).find(({ check, about }) => check === "NAT subnet policy" && about === id)
      ?.remedy;
  };

  test("and no command is given that would change it", () => {
    expect(remedyFor("database")).toContain("Ask the subnet's owner");
    expect(remedyFor("database")).not.toContain("az ");
  });

  test("and for a subnet under a name that Postern computes there is one", () => {
    expect(remedyFor("postern-nat-0f0f0f0f-0")).toMatch(
      /^Disable them: az network vnet subnet update --ids \//,
    );
  });
});

describe("a check ignores", () => {
  const quiet = (name: string, world: World) =>
    expect(examine(world).filter(({ check, result }) => check === name && result !== "ok")).toEqual(
      [],
    );

  test("a link that has no load balancer yet", () => {
    const links = [link({ status: { internalLoadBalancerID: undefined } })];
    quiet("load balancer SKU", oneWorld({ kube: { links } }));
  });

  test("a zone of the same name in another network", () => {
    const other = zoneOf(`${guestGroup}/privateDnsZones/example.com`, [ids.home]);
    quiet("conflicting DNS zones", withZones(own, other));
    const inner = zoneOf(`${guestGroup}/privateDnsZones/api.one.hypershift.local`, [ids.home]);
    quiet("shadowed DNS records", withZones(own, inner));
  });

  test("resources of other owners", () => {
    const subnet = `${ids.guest}/subnets/theirs`;
    const theirs = `${guestGroup}/privateEndpoints/theirs`;
    const others = endpointOf({ id: theirs, subnet, address: "192.168.9.4" });
    const networks = [
      network(ids.guest, "192.168.0.0/16", [{ id: subnet, prefix: "192.168.9.0/29", used: 3 }]),
    ];
    quiet("free addresses", oneWorld({ azure: { ...others, networks } }));
    const many = Array.from({ length: 9 }, () => ({ properties: {} }));
    const service9 = { ...service({ ipConfigurations: many }), id: `${guestGroup}/x/theirs` };
    quiet("NAT addresses", oneWorld({ azure: { linkServices: [service9] } }));
    const shop = `${guestGroup}/privateDnsZones/shop.org`;
    const outer = zoneOf(shop, [ids.guest], { "a.b": "10.0.0.1" });
    const inner = zoneOf(`${guestGroup}/privateDnsZones/b.shop.org`, [ids.guest]);
    quiet("shadowed DNS records", withZones(outer, inner));
  });

  test("the subnet of an AzureCluster's endpoint only while it has room, whoever made the endpoint", () => {
    const subnet = `${ids.guest}/subnets/nodes`;
    const made = endpointOf({
      id: `${guestGroup}/privateEndpoints/asked`,
      subnet,
      address: "192.168.9.4",
    });
    const networks = (used: number) => [
      network(ids.guest, "192.168.0.0/16", [{ id: subnet, prefix: "192.168.9.0/28", used }]),
    ];
    const cluster = {
      metadata: { namespace: "org", name: "one" },
      spec: {
        subscriptionID: "g",
        networkSpec: { subnets: [{ name: "nodes", privateEndpoints: [{ name: "asked" }] }] },
      },
    } as unknown as AzureCluster;
    const world = (used: number) =>
      oneWorld({
        kube: { azureClusters: [cluster] },
        azure: { ...made, networks: networks(used) },
      });
    quiet("free addresses", world(3));
    const found = examine(world(11)).filter(({ about }) => about === subnet);
    expect(found).toMatchObject([{ check: "free addresses", result: "failed" }]);
  });

  test("servers that are Azure's own", () => {
    const networks = [network(ids.guest, "192.168.0.0/16", [], ["168.63.129.16"])];
    quiet("custom DNS servers", oneWorld({ azure: { networks } }));
  });
});

test("what could not be read is said, and nothing is concluded from it", () => {
  const unread = [{ what: "networks in g", why: "it may not be read" }];
  expect(examine(oneWorld({ unread, azure: { networks: [] } }))).toContainEqual(
    expect.objectContaining({ result: "not checked", about: "networks in g" }),
  );
});
