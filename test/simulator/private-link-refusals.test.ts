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
  natSubnet,
  service,
  serviceBody,
  sibling,
  stranger,
} from "./link-world.ts";
import { group, network } from "./small-world.ts";

const balancer = `${group}/providers/Microsoft.Network/loadBalancers`;
const near = idsIn(sibling);
const far = idsIn(stranger);
const other = `${group}/providers/Microsoft.Network/privateLinkServices/other`;

interface Row {
  why: string;
  code: string;
  status?: number;
  before?: (world: LinkWorld) => Promise<unknown>;
  path?: string;
  body: JsonObject;
}

const made = ({ ask }: LinkWorld) => done(ask, "PUT", service, serviceBody());
const visible = ({ ask }: LinkWorld) =>
  done(ask, "PUT", service, serviceBody({ visibility: { subscriptions: ["*"] } }));
const connected = async (world: LinkWorld) => {
  await visible(world);
  return done(world.ask, "PUT", near.endpoint("pe"), endpointBody(sibling, service));
};
const before = (name: string) => [{ id: `${balancer}/${name}/frontendIPConfigurations/fe` }];

const services: Row[] = [
  {
    why: "another region than the load balancer's",
    code: "InvalidResourceReference",
    body: { ...serviceBody(), location: "northeurope" },
  },
  {
    why: "a frontend that is not there",
    code: "InvalidResourceReference",
    body: serviceBody({ loadBalancerFrontendIpConfigurations: before("none") }),
  },
  {
    why: "a frontend of another service",
    code: "LoadBalancerFrontendIPConfigurationInUseByPrivateLinkService",
    before: made,
    path: other,
    body: serviceBody(),
  },
  {
    why: "a subnet that is full",
    code: "SubnetIsFull",
    // 16 addresses, of which Azure keeps 5: with 8 taken there are 3.
    before: ({ ask }) => done(ask, "PUT", service, serviceBody({}, Array(8).fill(natSubnet))),
    path: other,
    body: serviceBody(
      { loadBalancerFrontendIpConfigurations: [], destinationIPAddress: "10.0.2.9" },
      Array(4).fill(natSubnet),
    ),
  },
  {
    why: "another load balancer than before",
    code: "PrivateLinkServiceLoadBalancerFrontendIpConfigurationCannotBeChanged",
    before: async (world) => {
      await made(world);
      await done(world.ask, "PUT", `${balancer}/second`, balancerBody("Standard"));
    },
    body: serviceBody({ loadBalancerFrontendIpConfigurations: before("second") }),
  },
  {
    why: "a name of more than 80 characters",
    code: "InvalidResourceName",
    path: `${group}/providers/Microsoft.Network/privateLinkServices/${"x".repeat(81)}`,
    body: serviceBody(),
  },
];

const endpoints: Row[] = [
  {
    why: "a region that is not its network's",
    code: "InvalidResourceReference",
    body: { ...endpointBody(sibling, service), location: "northeurope" },
  },
  {
    why: "another service than before",
    code: "CannotChangePrivateLinkConnectionOnPrivateEndpoint",
    before: connected,
    body: endpointBody(sibling, other),
  },
  {
    why: "a message of more than 140 characters",
    code: "PrivateLinkServiceConnectionRequestMessageTooLong",
    body: endpointBody(sibling, service, { manual: true, requestMessage: "x".repeat(141) }),
  },
  {
    why: "a target that is not a link service",
    code: "InvalidPrivateLinkServiceIdType",
    body: endpointBody(sibling, `${group}/providers/Microsoft.KeyVault/vaults/a`),
  },
  {
    why: "no connection",
    code: "PrivateEndpointMustHaveOneConnection",
    body: endpointBody(sibling, service, { privateLinkServiceConnections: [] }),
  },
  {
    why: "an address that is taken",
    code: "PrivateIPAddressIsAllocated",
    before: connected,
    path: near.endpoint("second"),
    body: endpointBody(sibling, service, {
      ipConfigurations: [{ name: "a", properties: { privateIPAddress: "10.1.0.4" } }],
    }),
  },
  {
    why: "a subnet that is full",
    code: "SubnetIsFull",
    before: async (world) => {
      await connected(world);
      for (const name of ["p2", "p3"])
        await done(world.ask, "PUT", near.endpoint(name), endpointBody(sibling, service));
    },
    path: near.endpoint("p4"),
    body: endpointBody(sibling, service),
  },
];

describe("a link service is refused with", () => {
  test.each(services)(
    "$why",
    async ({ code, status = 400, before: first, path = service, body }) => {
      const world = await linkWorld({ switches: { privateLinkServiceUdr: true } });
      await first?.(world);
      const size = world.simulator.store.size;
      const came = await world.ask("PUT", path, body);
      expect([came.status, codeOf(came)]).toEqual([status, code]);
      expect(world.simulator.store.size).toBe(size);
    },
  );
});

describe("an endpoint is refused with", () => {
  test.each(endpoints)("$why", async ({ code, before: first = visible, path, body }) => {
    const world = await linkWorld();
    await first(world);
    const size = world.simulator.store.size;
    const came = await world.ask("PUT", path ?? near.endpoint("pe"), body);
    expect([came.status, codeOf(came)]).toEqual([400, code]);
    expect(world.simulator.store.size).toBe(size);
  });
});

test("a load balancer behind a link service cannot be deleted", async () => {
  const world = await linkWorld();
  await made(world);
  const came = await world.ask("DELETE", frontend.slice(0, frontend.indexOf("/frontend")));
  expect(codeOf(came)).toBe("CannotDeleteLoadBalancerWithPrivateLinkService");
});

test("network policies cannot be enabled where a link service takes addresses", async () => {
  const world = await linkWorld();
  await made(world);
  const came = await world.ask("PUT", natSubnet, { properties: { addressPrefix: "10.0.0.0/28" } });
  expect(codeOf(came)).toBe(
    "PrivateLinkServiceNetworkPoliciesCannotBeEnabledOnPrivateLinkServiceSubnet",
  );
});

test("link services and pools of IP addresses do not go together, in either order", async () => {
  const code = "PrivateLinkServiceIsNotSupportedForIPBasedLoadBalancer";
  const balancer = frontend.slice(0, frontend.indexOf("/frontend"));
  const pool = `${balancer}/backendAddressPools/addresses`;
  const members = {
    properties: {
      loadBalancerBackendAddresses: [
        { name: "a", properties: { ipAddress: "10.0.2.9", virtualNetwork: { id: network } } },
      ],
    },
  };
  const first = await linkWorld();
  await made(first);
  expect(codeOf(await first.ask("PUT", pool, members))).toBe(code);
  const second = await linkWorld();
  await done(second.ask, "PUT", pool, members);
  expect(codeOf(await second.ask("PUT", service, serviceBody()))).toBe(code);
});

test("a load balancer takes eight link services", async () => {
  const { ask } = await linkWorld();
  const balancer = frontend.slice(0, frontend.indexOf("/frontend"));
  const front = (await ask("GET", balancer)).body;
  const names = Array.from({ length: 9 }, (_, at) => `f${at}`);
  const frontends = names.map((name) => ({
    name,
    properties: { subnet: { id: `${network}/subnets/front` } },
  }));
  await done(ask, "PUT", balancer, {
    location: front.location,
    sku: front.sku,
    properties: { frontendIPConfigurations: frontends },
  });
  const codes: (string | undefined)[] = [];
  for (const name of names) {
    const loadBalancerFrontendIpConfigurations = [
      { id: `${balancer}/frontendIPConfigurations/${name}` },
    ];
    const body = serviceBody({ loadBalancerFrontendIpConfigurations });
    codes.push(codeOf(await done(ask, "PUT", service.replace(/[^/]+$/, name), body)));
  }
  expect(codes).toEqual([
    ...Array(8).fill(undefined),
    "PrivateLinkServiceCountPerLoadBalancerExceeded",
  ]);
});

test.each([
  [{ destinationIPAddress: "10.0.2.9" }, "PrivateLinkServiceUdrIsDisabled"],
  [{ visibility: { subscriptions: ["everybody"] } }, "InvalidRequestFormat"],
])("a link service with %j is refused", async (more, code) => {
  const { ask } = await linkWorld();
  expect(codeOf(await ask("PUT", service, serviceBody(more)))).toBe(code);
});

test("who has no rights in another tenant is told that the tenant has none", async () => {
  const { strangerAsks, ask } = await linkWorld();
  await done(ask, "PUT", service, serviceBody());
  const came = await strangerAsks("PUT", far.endpoint("pe"), endpointBody(stranger, service));
  expect([came.status, codeOf(came)]).toEqual([403, "LinkedAuthorizationFailed"]);
  expect(came.text).toContain("is not authorized to access linked subscription");
});
