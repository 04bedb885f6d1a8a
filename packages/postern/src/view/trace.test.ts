import type { Trace } from "@postern/core/dashboard/trace.ts";
import { describe, expect, test } from "vitest";
import {
  address,
  balancer,
  cluster,
  endpointOf,
  guestGroup,
  host,
  ids,
  oneWorld,
  service,
  zoneOf,
} from "../../../../test/cli/one-world.ts";
import { unreadIn } from "./gather.ts";
import { pictureOf } from "./picture.ts";
import { aliasesOf, publishedBy, tracesOf } from "./trace.ts";
import type { World } from "./world.ts";

const only = (world: World, name = host): Trace => {
  const [trace, ...more] = tracesOf(world, name);
  expect(more).toEqual([]);
  return trace as Trace;
};
const last = (world: World, name = host) => only(world, name).hops.at(-1);

test("a way that is whole goes by every hop to the machines", () => {
  const { network, works, known, hops } = only(oneWorld());
  expect({ network, works, known }).toEqual({ network: "guest", works: true, known: true });
  expect(hops.map(({ what, found }) => `${what}: ${found}`)).toEqual([
    "zone: linked to network guest",
    `record: ${address}`,
    `endpoint: ${address}`,
    "approval: Approved",
    "link service: pls-one.guid.westeurope.azure.privatelinkservice",
    "load balancer: port 443",
    "backend: 2 machines",
  ]);
});

test("case and a dot at the end mean nothing", () => {
  expect(only(oneWorld(), "API.One.hypershift.local.").works).toBe(true);
});

describe("a name", () => {
  test("that no zone could have has no way", () => {
    expect(tracesOf(oneWorld(), "api.elsewhere.example")).toEqual([]);
    expect(tracesOf(oneWorld(), "notone.hypershift.local")).toEqual([]);
  });

  test("that its zone does not have is not known there", () => {
    expect(only(oneWorld(), "nothing.one.hypershift.local")).toMatchObject({
      works: false,
      known: false,
      hops: [{ state: "ok" }, { what: "record", state: "broken" }],
    });
  });

  test("in a zone that is linked to no network is reached by nobody", () => {
    const zones = [zoneOf(ids.zone, [], { api: address })];
    const trace = only(oneWorld({ azure: { zones } }));
    expect(trace).not.toHaveProperty("network");
    expect(trace).toMatchObject({
      known: true,
      hops: [{ what: "zone", state: "broken", remedy: expect.stringContaining("Link the zone") }],
    });
  });

  describe("in a zone that Azure failed to write", () => {
    const world = (linkState: object, zoneState = {}) => {
      const zone = zoneOf(ids.zone, [ids.guest], { api: address });
      const links = zone.links.map((link) => ({
        ...link,
        properties: { ...link.properties, ...linkState },
      }));
      const of = { ...zone.zone, properties: { ...zone.zone.properties, ...zoneState } };
      return oneWorld({ azure: { zones: [{ ...zone, zone: of, links }] } });
    };
    const failed = { provisioningState: "Failed" };

    test.each([
      ["link is Failed", world(failed), "broken"],
      ["link is Canceled", world({ provisioningState: "Canceled" }), "broken"],
      ["link is being written", world({ provisioningState: "Updating" }), "working"],
      ["link is InProgress", world({ virtualNetworkLinkState: "InProgress" }), "working"],
      ["zone is Failed", world({}, failed), "broken"],
    ] as const)("is not resolved: its %s", (_what, given, state) => {
      expect(only(given)).toMatchObject({
        works: false,
        known: true,
        hops: [{ what: "zone", state, remedy: expect.any(String) }],
      });
    });

    test("is drawn so", () => {
      const zoneNode = (given: World) => pictureOf(given).nodes.find(({ kind }) => kind === "zone");
      expect(zoneNode(world(failed))).toMatchObject({ state: "broken", reason: "Failed" });
      expect(zoneNode(world({ virtualNetworkLinkState: "InProgress" }))).toMatchObject({
        state: "working",
        reason: "InProgress",
      });
      expect(zoneNode(world({}, failed))).toMatchObject({ state: "broken", reason: "Failed" });
      expect(zoneNode(world({}))).toMatchObject({ state: "ok" });
    });
  });

  test("is hidden by a more specific zone without it", () => {
    const inner = `${guestGroup}/privateDnsZones/api.one.hypershift.local`;
    const zones = [
      zoneOf(ids.zone, [ids.guest], { api: address }),
      zoneOf(inner, [ids.guest], { other: address }),
    ];
    expect(only(oneWorld({ azure: { zones } }))).toMatchObject({
      known: true,
      hops: [
        { name: "api.one.hypershift.local" },
        { found: expect.stringContaining("hides the record in zone one.hypershift.local") },
      ],
    });
  });

  test("is not hidden by a more specific zone of another network", () => {
    const inner = `${guestGroup}/privateDnsZones/api.one.hypershift.local`;
    const zones = [zoneOf(ids.zone, [ids.guest], { api: address }), zoneOf(inner, [ids.home])];
    const traces = tracesOf(oneWorld({ azure: { zones } }), host);
    expect(traces.map(({ network, works }) => [network, works])).toEqual([
      ["home", false],
      ["guest", true],
    ]);
    expect(tracesOf(oneWorld({ azure: { zones } }), host, "guest")).toHaveLength(1);
    expect(tracesOf(oneWorld({ azure: { zones } }), host, ids.home)).toHaveLength(1);
  });
});

describe("a wildcard", () => {
  const wild = (records: Parameters<typeof zoneOf>[2]) =>
    oneWorld({ azure: { zones: [zoneOf(ids.zone, [ids.guest], records)] } });

  test("answers for every name below it", () => {
    expect(only(oneWorld(), "a.b.apps.one.hypershift.local").works).toBe(true);
  });

  test("does not answer for the name that it is below", () => {
    expect(only(oneWorld(), "apps.one.hypershift.local").known).toBe(false);
  });

  test("does not answer below a name that exists", () => {
    const world = wild({ "*": address, "x.apps": "192.168.0.9" });
    expect(only(world, "y.apps.one.hypershift.local").known).toBe(false);
    expect(only(world, "y.other.one.hypershift.local").known).toBe(true);
  });
});

describe("another name", () => {
  const named = (records: Parameters<typeof zoneOf>[2], more: World["azure"]["zones"] = []) =>
    oneWorld({ azure: { zones: [zoneOf(ids.zone, [ids.guest], records), ...more] } });

  test("is followed, also into another zone", () => {
    const other = zoneOf(`${guestGroup}/privateDnsZones/example.com`, [ids.guest], {
      real: address,
    });
    const world = named({ api: { cname: "Real.example.com." } }, [other]);
    expect(only(world)).toMatchObject({ works: true });
    expect(only(world).hops[1]?.found).toBe("alias of real.example.com");
    expect(aliasesOf(world, host)).toEqual([host, "real.example.com"]);
  });

  test("that leads back is a circle and no endless way", () => {
    const world = named({
      api: { cname: "b.one.hypershift.local" },
      b: { cname: "api.one.hypershift.local" },
    });
    expect(last(world)).toMatchObject({
      state: "broken",
      found: expect.stringContaining("alias of this name again"),
    });
    expect(aliasesOf(world, host)).toHaveLength(2);
  });

  test("of the public DNS is not judged", () => {
    expect(last(named({ api: { cname: "www.example.org" } }))).toMatchObject({
      state: "unknown",
      found: expect.stringContaining("public DNS"),
    });
  });
});

describe("an address", () => {
  const elsewhere = (name: string) =>
    endpointOf({
      id: `/subscriptions/x/resourceGroups/x/providers/Microsoft.Network/privateEndpoints/${name}`,
      subnet: `/subscriptions/x/resourceGroups/x/providers/Microsoft.Network/virtualNetworks/${name}/subnets/s`,
      address,
      to: "/subscriptions/x/nothing",
    });
  const own = endpointOf({ id: ids.endpoint, subnet: ids.workers, address });
  const having = (...all: ReturnType<typeof endpointOf>[]) => havingPeers([], ...all);
  const peering = (name: string) => ({
    properties: {
      remoteVirtualNetwork: {
        id: `/subscriptions/x/resourceGroups/x/providers/Microsoft.Network/virtualNetworks/${name}`,
      },
    },
  });
  const havingPeers = (peers: string[], ...all: ReturnType<typeof endpointOf>[]) => {
    const world = plainlyHaving(...all);
    const networks = world.azure.networks.map((network) => ({
      ...network,
      properties: { ...network.properties, virtualNetworkPeerings: peers.map(peering) },
    }));
    return { ...world, azure: { ...world.azure, networks } };
  };
  const plainlyHaving = (...all: ReturnType<typeof endpointOf>[]) =>
    oneWorld({
      azure: {
        endpoints: all.flatMap((each) => each.endpoints),
        interfaces: all.flatMap((each) => each.interfaces),
      },
    });

  test("that two networks have is that of the client's own", () => {
    expect(only(having(elsewhere("other"), own)).works).toBe(true);
  });

  test("that only a network has with which the client's is peered is followed there", () => {
    const world = havingPeers(["other"], elsewhere("other"));
    expect(only(world).hops[2]).toMatchObject({ name: "other", state: "ok" });
  });

  test("that only a network has which the client cannot reach is where it breaks", () => {
    expect(last(having(elsewhere("other")))).toMatchObject({ what: "endpoint", state: "broken" });
  });

  test("that several peers have leads to nobody knows which", () => {
    expect(last(havingPeers(["a", "b"], elsewhere("a"), elsewhere("b")))).toMatchObject({
      what: "endpoint",
      state: "unknown",
      found: expect.stringContaining("other networks do: a, b"),
    });
  });

  test("of no endpoint is where it breaks", () => {
    expect(last(having())).toMatchObject({ what: "endpoint", state: "broken" });
  });
});

describe("it breaks", () => {
  const withEndpoint = (status: string, to?: string) =>
    oneWorld({
      azure: endpointOf({
        id: ids.endpoint,
        subnet: ids.workers,
        address,
        status,
        ...(to !== undefined && { to }),
      }),
    });

  test("at the approval that nobody has given, and says how to give it", () => {
    expect(last(withEndpoint("Pending"))).toMatchObject({
      what: "approval",
      state: "pending",
      remedy: `Approve it: postern approve ${ids.endpoint}`,
    });
  });

  test.each(["Rejected", "Disconnected"])("at a connection that is %s, for good", (status) => {
    expect(last(withEndpoint(status))).toMatchObject({
      what: "approval",
      state: "broken",
      remedy: expect.stringContaining("Ask the owner of the link service to accept"),
    });
  });

  test("at a link service that cannot be seen, which is not judged", () => {
    expect(last(withEndpoint("Approved", "/subscriptions/x/a/b"))).toMatchObject({
      what: "link service",
      state: "unknown",
    });
  });

  test("at a link service that Azure failed to make", () => {
    const linkServices = [service({ provisioningState: "Failed" })];
    expect(last(oneWorld({ azure: { linkServices } }))).toMatchObject({
      what: "link service",
      state: "broken",
    });
  });

  test("at a load balancer that Azure failed to write", () => {
    const properties = { provisioningState: "Failed" };
    expect(last(oneWorld({ azure: { loadBalancers: [balancer({ properties })] } }))).toMatchObject({
      what: "load balancer",
      state: "broken",
    });
  });

  test("at a load balancer that is gone", () => {
    expect(last(oneWorld({ azure: { loadBalancers: [] } }))).toMatchObject({
      what: "load balancer",
      found: "does not exist",
    });
  });

  test("at a load balancer without rules, and at one without machines", () => {
    const of = (properties: object) =>
      oneWorld({ azure: { loadBalancers: [balancer({ properties })] } });
    expect(last(of({ loadBalancingRules: [] }))).toMatchObject({ what: "load balancer" });
    const id = `${ids.balancer}/backendAddressPools/kubernetes`;
    const empty = { backendAddressPools: [{ id, name: "kubernetes", properties: {} }] };
    expect(last(of(empty))).toMatchObject({ what: "backend", found: "0 machines" });
  });
});

test("of a load balancer that others share only the link's own frontend and pool count", () => {
  const at = (kind: string, name: string) => ({ id: `${ids.balancer}/${kind}/${name}` });
  const rule = (front: string, pool: string, frontendPort: number) => ({
    properties: {
      frontendPort,
      frontendIPConfiguration: at("frontendIPConfigurations", front),
      backendAddressPool: at("backendAddressPools", pool),
    },
  });
  const pool = (name: string, machines: number) => ({
    ...at("backendAddressPools", name),
    name,
    properties: {
      backendIPConfigurations: Array.from({ length: machines }, (_, one) => ({ id: `/${one}` })),
    },
  });
  const shared = (...rules: object[]) =>
    oneWorld({
      azure: {
        loadBalancers: [
          balancer({
            properties: {
              loadBalancingRules: rules,
              backendAddressPools: [pool("own", 1), pool("others", 5), pool("empty", 0)],
            },
          }),
        ],
      },
    });
  const whole = only(shared(rule("a1", "own", 443), rule("b2", "others", 80)));
  expect(whole.hops.slice(-2).map(({ found }) => found)).toEqual(["port 443", "1 machine"]);
  expect(last(shared(rule("b2", "others", 80)))).toMatchObject({
    what: "load balancer",
    state: "broken",
    found: "no load balancing rule for this frontend",
  });
  expect(last(shared(rule("a1", "empty", 443), rule("b2", "others", 80)))).toMatchObject({
    what: "backend",
    state: "broken",
    found: "0 machines",
  });
});

describe("what could not be read is reported as unknown", () => {
  const why = "lacks the right";
  test.each(["endpoints", "network interfaces"])(
    "where %s of a subscription could not be listed",
    (what) => {
      const unread = [unreadIn(what, "/subscriptions/g", why)];
      const azure = what === "endpoints" ? { endpoints: [] } : { interfaces: [] };
      expect(last(oneWorld({ azure, unread }))).toMatchObject({
        what: "endpoint",
        state: "unknown",
      });
      expect(last(oneWorld({ azure }))).toMatchObject({ what: "endpoint", state: "broken" });
    },
  );

  test("where the records of a zone could not be listed", () => {
    const zones = [zoneOf(ids.zone, [ids.guest])];
    const unread = [unreadIn("records", ids.zone, why)];
    const trace = only(oneWorld({ azure: { zones }, unread }));
    expect(trace).toMatchObject({ known: true, works: false });
    expect(trace.hops.at(-1)).toMatchObject({ what: "record", state: "unknown" });
  });

  test("where the links of a zone could not be listed", () => {
    const zones = [zoneOf(ids.zone, [], { api: address })];
    const unread = [unreadIn("links", ids.zone, why)];
    expect(last(oneWorld({ azure: { zones }, unread }))).toMatchObject({
      what: "zone",
      state: "unknown",
    });
  });
});

test("the alias of a link service leads to it as its id does", () => {
  const alias = "PLS-one.guid.westeurope.azure.privatelinkservice";
  const world = oneWorld({
    azure: endpointOf({ id: ids.endpoint, subnet: ids.workers, address, to: alias }),
  });
  expect(only(world).works).toBe(true);
});

test("a public name is known by the cluster that publishes it", () => {
  const services = [
    {
      service: "APIServer",
      servicePublishingStrategy: { type: "Route", route: { hostname: "api-one.example.com" } },
    },
  ] as never;
  const world = oneWorld({ kube: { hostedClusters: [cluster({ services })] } });
  expect(publishedBy(world, "API-one.example.com.")).toBe("clusters/one");
  expect(publishedBy(world, "api-two.example.com")).toBeUndefined();
});
