import { ManualClock } from "@postern/azure-simulator/control/manual-clock.ts";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { expect, test } from "vitest";
import {
  balancerBody,
  done,
  endpointBody,
  frontend,
  idsIn,
  type LinkWorld,
  linkWorld,
  natSubnet,
  openSubnet,
  service,
  serviceBody,
  sibling,
} from "./link-world.ts";
import {
  type Came,
  group,
  network,
  networkBody,
  owner,
  subscription,
  tenant,
} from "./small-world.ts";

const provider = `${group}/providers/Microsoft.Network`;
const near = idsIn(sibling);
const zone = `${provider}/privateDnsZones/example.internal`;
const everywhere = { location: "global" };
const reader = "acdd72a7-3385-48ef-bd42-f606fba81ae7";
const networker = "4d97b98b-1d4f-4787-a291-c67834d212e7";

/** Who refused, and how: the front door names itself and sends no details, a provider sends its counters. */
function refusalIn({ status, headers, body }: Came) {
  const { code, message, details } = (body.error ?? {}) as {
    code?: string;
    message?: string;
    details?: { code: string; message: string }[];
  };
  const cause = headers.get("x-ms-failure-cause");
  const counted = [...headers.keys()].some((name) => name.startsWith("x-ms-ratelimit-remaining"));
  const by =
    cause === "gateway" && !counted ? "gateway" : cause === null && counted ? "provider" : "?";
  return { status, code, message, by, details };
}

async function world(): Promise<LinkWorld> {
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  return linkWorld({ clock });
}

test("one request that is wrong in every way is refused step by step, in the order of Resource Manager", async () => {
  const { ask, simulator } = await world();
  const { directory } = simulator;
  const someone = directory.addApplication({ tenant });
  const stranger = { ...someone, tenant: "55555555-5555-4555-8555-555555555555" };
  const bearer = (of: typeof someone, forMs = 3_600_000) => ({
    authorization: `Bearer ${directory.tokenFor(of, { forMs })}`,
  });
  const give = (scope: string, role: string, name: string) =>
    done(
      ask,
      "PUT",
      `${scope}/providers/Microsoft.Authorization/roleAssignments/${name}-0000-4000-8000-000000000000`,
      {
        properties: {
          roleDefinitionId: `/subscriptions/${subscription}/providers/Microsoft.Authorization/roleDefinitions/${role}`,
          principalId: someone.objectId,
        },
      },
    );
  const elsewhere = group.replace(/rg$/, "rg2");
  const path = `${elsewhere}/providers/Microsoft.Network/privateLinkServices/pls`;
  const wrong = serviceBody({}, [near.subnet]);
  const { location, ...nowhere } = wrong;
  const mine = bearer(someone);
  const put = async (body: JsonObject, headers: Record<string, string>, at = path) =>
    refusalIn(await ask("PUT", at, body, headers));

  expect(await put(nowhere, { authorization: "" })).toMatchObject({
    status: 401,
    code: "AuthenticationFailedInvalidHeader",
    by: "gateway",
  });
  expect(await put(nowhere, { authorization: "Bearer x.y.z" })).toMatchObject({
    status: 401,
    code: "InvalidAuthenticationToken",
  });
  expect(await put(nowhere, bearer(someone, -1000))).toMatchObject({
    status: 401,
    code: "ExpiredAuthenticationToken",
  });
  expect(await put(nowhere, bearer(stranger))).toMatchObject({
    status: 401,
    code: "InvalidAuthenticationTokenTenant",
    message: expect.stringContaining(`It must match the tenant '${tenant}'`),
  });
  expect(await put(nowhere, mine, `${path}?api-version=`)).toMatchObject({
    status: 400,
    code: "MissingApiVersionParameter",
    by: "gateway",
  });
  expect(await put(nowhere, mine)).toMatchObject({
    status: 403,
    code: "AuthorizationFailed",
    by: "gateway",
    message: `The client '${someone.appId}' with object id '${someone.objectId}' does not have authorization to perform action 'Microsoft.Network/privateLinkServices/write' over scope '${path}' or the scope is invalid. If access was recently granted, please refresh your credentials.`,
  });
  await give(`/subscriptions/${subscription}`, reader, "aaaaaaaa");
  expect(await put(nowhere, mine)).toMatchObject({ status: 403, code: "AuthorizationFailed" });
  await give(`/subscriptions/${subscription}`, networker, "bbbbbbbb");
  expect(await put(nowhere, mine)).toEqual({
    status: 404,
    code: "ResourceGroupNotFound",
    by: "gateway",
    message: "Resource group 'rg2' could not be found.",
    details: undefined,
  });
  await done(ask, "PUT", elsewhere, { location });
  expect(await put(nowhere, { ...mine, "if-match": 'W/"old"' })).toMatchObject({
    status: 412,
    code: "PreconditionFailed",
    by: "provider",
  });
  expect(await put(nowhere, mine)).toMatchObject({ status: 400, code: "LocationRequired" });
  expect(await put(wrong, mine)).toEqual({
    status: 403,
    code: "LinkedAuthorizationFailed",
    by: "gateway",
    message: `The client '${someone.appId}' with object id '${someone.objectId}' has permission to perform action 'Microsoft.Network/privateLinkServices/write' on scope '${path}'; however, it does not have permission to perform action(s) 'Microsoft.Network/virtualNetworks/subnets/join/action' on the linked scope(s) '${near.subnet}' (respectively) or the linked scope(s) are invalid.`,
    details: undefined,
  });
  await give(`/subscriptions/${sibling}`, networker, "cccccccc");
  expect(await put(wrong, mine)).toMatchObject({
    status: 400,
    code: "PrivateLinkServiceCannotBeCreatedInSubnetThatHasNetworkPoliciesEnabled",
    by: "provider",
    details: [],
  });
  expect((await ask("PUT", path, serviceBody(), mine)).status).toBe(201);
});

test("who has asked too often is told before it is said what else is wrong", async () => {
  const { ask, simulator } = await world();
  simulator.throttle.setLimits({ write: { burst: 1, perSecond: 1 } });
  const someone = simulator.directory.addApplication({ tenant });
  const authorization = `Bearer ${simulator.directory.tokenFor(someone)}`;
  const refused = [];
  for (let i = 0; i < 2; i++) refused.push(await ask("PUT", network, {}, { authorization }));
  expect(refused.map(refusalIn)).toMatchObject([
    { status: 403, code: "AuthorizationFailed" },
    { status: 429, code: "TooManyRequests", by: "gateway" },
  ]);
  expect(refused[1]?.headers.get("retry-after")).toBe("1");
});

interface Row {
  what: string;
  before?: (world: LinkWorld) => Promise<unknown>;
  method?: string;
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  status: number;
  code: string;
  /** The detail under it, where there is one that tells more. */
  detail?: string;
  message: RegExp;
  by?: "gateway" | "provider";
}

const connected = async ({ ask }: LinkWorld) => {
  await done(ask, "PUT", service, serviceBody({ visibility: { subscriptions: ["*"] } }));
  await done(ask, "PUT", near.endpoint("pe"), endpointBody(sibling, service));
};
const nic = (pools: string[] = []) => ({
  location: "westeurope",
  properties: {
    ipConfigurations: [
      {
        name: "c",
        properties: {
          subnet: { id: `${network}/subnets/front` },
          loadBalancerBackendAddressPools: pools.map((id) => ({ id })),
        },
      },
    ],
  },
});
const pool = `${provider}/loadBalancers/lb/backendAddressPools/p`;
const byAddress = {
  properties: {
    loadBalancerBackendAddresses: [
      { name: "a", properties: { ipAddress: "10.0.2.50", virtualNetwork: { id: network } } },
    ],
  },
};
const mixed = "CannotMixIPBasedAddressesAndIPConfigurationsOnLoadBalancerBackendAddressPool";
const links =
  (body: JsonObject) =>
  ({ ask }: LinkWorld) =>
    done(ask, "PUT", zone, everywhere).then(() =>
      done(ask, "PUT", `${zone}/virtualNetworkLinks/l`, { ...everywhere, properties: body }),
    );
const otherNetwork =
  (location: string) =>
  ({ ask }: LinkWorld) =>
    done(ask, "PUT", `${network}2`, {
      location,
      properties: {
        addressSpace: { addressPrefixes: ["10.9.0.0/16"] },
        subnets: [
          {
            name: "nat",
            properties: {
              addressPrefix: "10.9.0.0/29",
              privateLinkServiceNetworkPolicies: "Disabled",
            },
          },
        ],
      },
    });

const rows: Row[] = [
  {
    what: "a top-level resource that is not there",
    method: "GET",
    path: `${provider}/privateLinkServices/none`,
    status: 404,
    code: "ResourceNotFound",
    message:
      /^The Resource 'Microsoft.Network\/privateLinkServices\/none' under resource group 'rg' was not found. For more details please go to https:\/\/aka.ms\/ARMResourceNotFoundFix$/,
    by: "gateway",
  },
  {
    what: "a child that is not there",
    method: "GET",
    path: `${network}/subnets/none`,
    status: 404,
    code: "NotFound",
    message: /^Resource \/subscriptions\/.*\/virtualNetworks\/v\/subnets\/none not found.$/,
  },
  {
    what: "a list in a group that is not there",
    method: "GET",
    path: provider.replace("/rg/", "/none/").concat("/virtualNetworks"),
    status: 404,
    code: "ResourceGroupNotFound",
    message: /^Resource group 'none' could not be found.$/,
    by: "gateway",
  },
  {
    what: "a subscription that is not there",
    method: "GET",
    path: network.replace(subscription, "99999999-9999-4999-8999-999999999999"),
    status: 404,
    code: "SubscriptionNotFound",
    message: /^The subscription '99999999-.*' could not be found.$/,
    by: "gateway",
  },
  {
    what: "a network in no subscription",
    path: network.replace("subscriptions", "elsewhere"),
    body: networkBody(),
    status: 404,
    code: "MissingSubscription",
    message: /^The request did not have a subscription or a valid tenant level resource provider.$/,
    by: "gateway",
  },
  {
    what: "a network in no group",
    path: `/subscriptions/${subscription}/providers/Microsoft.Network/virtualNetworks/w`,
    body: networkBody(),
    status: 404,
    code: "InvalidResourceType",
    message: /'virtualNetworks' could not be found in the namespace 'Microsoft.Network'/,
    by: "gateway",
  },
  {
    what: "an api-version that is none",
    method: "GET",
    path: `${network}?api-version=latest`,
    status: 400,
    code: "InvalidApiVersionParameter",
    message: /'latest' is invalid/,
    by: "gateway",
  },
  {
    what: "a body that is no JSON",
    path: network,
    body: "{",
    status: 400,
    code: "InvalidRequestContent",
    message: /could not be deserialized/,
    by: "gateway",
  },
  {
    what: "a type that the simulator does not know",
    method: "GET",
    path: `${provider}/natGateways/n`,
    status: 501,
    code: "NotSupportedBySimulator",
    message: /'GET Microsoft.Network\/natGateways'/,
    by: "gateway",
  },
  {
    what: "an old etag",
    path: network,
    body: networkBody(),
    headers: { "if-match": "invalid" },
    status: 412,
    code: "PreconditionFailed",
    detail: "PreconditionFailedEtagMismatch",
    message:
      /^Etag provided in if-match header W\/"invalid" does not match etag W\/".*" of resource .*\/virtualNetworks\/v in NRP data store.$/,
  },
  {
    what: "the creation of what is there",
    path: network,
    body: networkBody(),
    headers: { "if-none-match": "*" },
    status: 412,
    code: "PreconditionFailed",
    message: /exists already/,
  },
  {
    what: "another place for what is there",
    path: network,
    body: { ...networkBody(), location: "northeurope" },
    status: 409,
    code: "InvalidResourceLocation",
    message: /already exists in location 'westeurope'/,
    by: "gateway",
  },
  {
    what: "a link service in a subnet with network policies",
    path: service,
    body: serviceBody({}, [openSubnet]),
    status: 400,
    code: "PrivateLinkServiceCannotBeCreatedInSubnetThatHasNetworkPoliciesEnabled",
    message:
      /^Private link service .*\/pls cannot be created in a subnet .*\/open since it has private link service network policies enabled.$/,
  },
  {
    what: "a NAT subnet in another network than the load balancer",
    before: otherNetwork("westeurope"),
    path: service,
    body: serviceBody({}, [`${network}2/subnets/nat`]),
    status: 400,
    code: "PrivateLinkServiceAndLoadBalancerNotInSameVirtualNetwork",
    message: /not in the virtual network of load balancer/,
  },
  {
    what: "a NAT subnet in another region than the load balancer",
    before: otherNetwork("northeurope"),
    path: service,
    body: serviceBody({}, [`${network}2/subnets/nat`]),
    status: 400,
    code: "InvalidResourceReference",
    message: /both resources are in the same region.$/,
  },
  {
    what: "a link service behind a Basic load balancer",
    before: ({ ask }) => done(ask, "PUT", `${provider}/loadBalancers/basic`, balancerBody("Basic")),
    path: service,
    body: serviceBody({
      loadBalancerFrontendIpConfigurations: [{ id: frontend.replace("/lb/", "/basic/") }],
    }),
    status: 400,
    code: "PrivateLinkServiceIsNotSupportedForLoadBalancer",
    message: /its sku is Basic/,
  },
  {
    what: "a link service with nine NAT addresses",
    path: service,
    body: serviceBody({}, Array(9).fill(natSubnet)),
    status: 400,
    code: "PrivateLinkServiceIpConfigurationCountExceedsLimit",
    message: /cannot have more than 8/,
  },
  {
    what: "automatic approval of who does not see the service",
    path: service,
    body: serviceBody({ autoApproval: { subscriptions: [sibling] } }),
    status: 400,
    code: "PrivateLinkServiceAutoApprovalMustBeSubsetOfVisibility",
    message: /must be a subset of visibility/,
  },
  {
    what: "an address from a subnet that has none left",
    before: async ({ ask }) => {
      for (const name of ["e1", "e2", "e3"])
        await done(
          ask,
          "PUT",
          `${near.group}/providers/Microsoft.Network/networkInterfaces/${name}`,
          {
            location: "westeurope",
            properties: {
              ipConfigurations: [{ name: "c", properties: { subnet: { id: near.subnet } } }],
            },
          },
        );
    },
    path: `${near.group}/providers/Microsoft.Network/networkInterfaces/e4`,
    body: {
      location: "westeurope",
      properties: {
        ipConfigurations: [{ name: "c", properties: { subnet: { id: near.subnet } } }],
      },
    },
    status: 400,
    code: "SubnetIsFull",
    message:
      /^Subnet s with address prefix 10.1.0.0\/29 does not have enough capacity for 1 IP addresses.$/,
  },
  {
    what: "a subnet that overlaps another",
    path: `${network}/subnets/again`,
    body: { properties: { addressPrefix: "10.0.1.128/25" } },
    status: 400,
    code: "NetcfgSubnetRangesOverlap",
    message: /overlaps with that of an existing subnet in virtual network 'v'/,
  },
  {
    what: "a subnet outside its network",
    path: `${network}/subnets/outside`,
    body: { properties: { addressPrefix: "10.8.0.0/24" } },
    status: 400,
    code: "NetcfgInvalidSubnet",
    message: /outside the IP address range of virtual network 'v'/,
  },
  {
    what: "the deletion of a link service that has connections",
    before: connected,
    method: "DELETE",
    path: service,
    status: 409,
    code: "PrivateLinkServiceWithPrivateEndpointConnectionsCannotBeDeleted",
    message: /since it has 1 private endpoint connections/,
  },
  {
    what: "the deletion of a subnet in use",
    method: "DELETE",
    path: `${network}/subnets/front`,
    status: 400,
    code: "InUseSubnetCannotBeDeleted",
    message: /^Subnet front is in use by .*\/loadBalancers\/lb.* and cannot be deleted/,
  },
  {
    what: "the deletion of a network with a subnet in use",
    method: "DELETE",
    path: network,
    status: 400,
    code: "InUseSubnetCannotBeDeleted",
    message: /^Subnet front is in use by/,
  },
  {
    what: "a network written without a subnet that is in use",
    path: network,
    body: {
      location: "westeurope",
      properties: { addressSpace: { addressPrefixes: ["10.0.0.0/16"] }, subnets: [] },
    },
    status: 400,
    code: "InUseSubnetCannotBeDeleted",
    message: /^Subnet front is in use by/,
  },
  {
    what: "another prefix for a subnet in use",
    path: `${network}/subnets/front`,
    body: { properties: { addressPrefix: "10.0.7.0/24" } },
    status: 400,
    code: "InUsePrefixCannotBeDeleted",
    message:
      /^IpPrefix 10.0.2.0\/24 on Subnet front has active allocations and cannot be deleted.$/,
  },
  {
    what: "a network whose addresses no longer hold its subnets",
    path: network,
    body: {
      location: "westeurope",
      properties: { addressSpace: { addressPrefixes: ["10.7.0.0/16"] } },
    },
    status: 400,
    code: "NetcfgInvalidSubnet",
    message: /outside the IP address range of virtual network 'v'/,
  },
  {
    what: "the deletion of a zone with links",
    before: links({ virtualNetwork: { id: network }, registrationEnabled: false }),
    method: "DELETE",
    path: zone,
    status: 409,
    code: "CannotDeleteResource",
    message: /^Cannot delete resource while nested resources exist.*virtualNetworkLinks\/l/,
    by: "gateway",
  },
  {
    what: "members by address in a pool that has interfaces",
    before: async ({ ask }) => {
      await done(ask, "PUT", pool, { properties: {} });
      await done(ask, "PUT", `${provider}/networkInterfaces/n`, nic([pool]));
    },
    path: pool,
    body: byAddress,
    status: 400,
    code: mixed,
    message: /./,
  },
  {
    what: "an interface in a pool that has members by address",
    before: ({ ask }) => done(ask, "PUT", pool, byAddress),
    path: `${provider}/networkInterfaces/n`,
    body: nic([pool]),
    status: 400,
    code: mixed,
    message: /./,
  },
  {
    what: "an endpoint moved to another subnet",
    before: connected,
    path: near.endpoint("pe"),
    body: endpointBody(sibling, service, { subnet: { id: `${near.network}/subnets/t` } }),
    status: 400,
    code: "CannotChangeSubnetOnExistingPrivateEndpoint",
    message: /Current subnet: '.*\/subnets\/s.' Requested subnet: '.*\/subnets\/t.'/,
  },
  ...["virtualNetworks", "loadBalancers", "networkInterfaces", "publicIPAddresses"].map(
    (type): Row => ({
      what: `a name that ends with a hyphen, of ${type}`,
      path: `${provider}/${type}/name-`,
      body:
        type === "networkInterfaces"
          ? nic()
          : type === "virtualNetworks"
            ? networkBody()
            : { location: "westeurope" },
      status: 400,
      code: "InvalidResourceName",
      message: /^Resource name name- is invalid/,
    }),
  ),
  {
    what: "a subnet whose name ends with a hyphen",
    path: `${network}/subnets/name-`,
    body: { properties: { addressPrefix: "10.0.9.0/24" } },
    status: 400,
    code: "InvalidResourceName",
    message: /^Resource name name- is invalid. The name can be up to 80 characters long/,
  },
  {
    what: "a reference that is no id",
    path: `${provider}/networkInterfaces/n`,
    body: {
      location: "westeurope",
      properties: { ipConfigurations: [{ name: "c", properties: { subnet: { id: "/s" } } }] },
    },
    status: 400,
    code: "InvalidRequestFormat",
    detail: "InvalidJsonReferenceFormat",
    message: /^Reference Id \/s is not formatted correctly. Path subnet.$/,
  },
  {
    what: "a rule for a pool that its load balancer has not",
    path: `${provider}/loadBalancers/lb`,
    body: {
      ...balancerBody("Standard"),
      properties: {
        ...(balancerBody("Standard").properties as JsonObject),
        loadBalancingRules: [
          {
            name: "r",
            properties: {
              frontendIPConfiguration: { id: frontend },
              backendAddressPool: { id: `${provider}/loadBalancers/lb/backendAddressPools/p` },
              protocol: "Tcp",
              frontendPort: 80,
              backendPort: 80,
            },
          },
        ],
      },
    },
    status: 400,
    code: "InvalidResourceReference",
    message:
      /backendAddressPools\/p referenced by resource .*\/loadBalancingRules\/r was not found/,
  },
  {
    what: "the name of an endpoint that is too short",
    path: near.endpoint("e"),
    body: endpointBody(sibling, service),
    status: 400,
    code: "InvalidResourceName",
    message: /^Resource name e is invalid/,
  },
  {
    what: "the name of a group that ends with a dot",
    path: `/subscriptions/${subscription}/resourceGroups/rg.`,
    body: { location: "westeurope" },
    status: 400,
    code: "InvalidResourceGroup",
    message: /'rg.' is not valid/,
    by: "gateway",
  },
];

test.each(rows.map((row) => [row.what, row] as const))(
  "%s is refused, and nothing changes",
  async (_what, row) => {
    const made = await world();
    await row.before?.(made);
    const before = made.simulator.snapshot();
    const { method = "PUT", path, body, headers } = row;
    const refused = refusalIn(await made.ask(method, path, body, headers));
    const { status, code, by = "provider", detail, message } = row;
    expect(refused).toMatchObject({ status, code, by });
    const told = detail === undefined ? refused : refused.details?.[0];
    if (detail !== undefined) expect(told?.code).toBe(detail);
    expect(told?.message).toMatch(message);
    expect(made.simulator.snapshot()).toEqual(before);
  },
);

test("a second zone of the same name for one network is taken, and fails in its operation", async () => {
  const made = await world();
  const { ask } = made;
  const link = { virtualNetwork: { id: network }, registrationEnabled: false };
  await links(link)(made);
  const elsewhere = group.replace(/rg$/, "rg2");
  await done(ask, "PUT", elsewhere, { location: "westeurope" });
  const second = zone.replace(group, elsewhere);
  await done(ask, "PUT", second, everywhere);
  const path = `${second}/virtualNetworkLinks/l`;
  const taken = await ask("PUT", path, { ...everywhere, properties: link });
  expect(taken.status).toBe(202);
  const ended = await ask("GET", taken.headers.get("azure-asyncoperation") ?? "");
  expect(ended.body).toMatchObject({
    status: "Failed",
    error: { message: expect.stringContaining("example.internal") },
  });
  expect((await ask("GET", path)).status).toBe(404);
});

test("a write to a network that is being changed is refused with the operation that is running", async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const { ask, simulator } = await linkWorld({ clock });
  simulator.addFault({
    match: { method: "PUT", type: "Microsoft.Network/virtualNetworks/subnets" },
    effect: { kind: "operation", ms: 5000 },
    count: 1,
  });
  const subnet = (name: string, addressPrefix: string) =>
    ask("PUT", `${network}/subnets/${name}`, { properties: { addressPrefix } });
  const running = await subnet("one", "10.0.8.0/24");
  const operation = running.headers.get("azure-asyncoperation")?.split("?")[0] ?? "none";
  const refused = refusalIn(await subnet("two", "10.0.9.0/24"));
  expect(refused).toMatchObject({
    status: 409,
    code: "AnotherOperationInProgress",
    by: "provider",
    details: [],
    message: expect.stringContaining(operation),
  });
  expect((await ask("GET", `${network}/subnets/two`)).status).toBe(404);
  const busy = { status: 409, code: "AnotherOperationInProgress" };
  expect(refusalIn(await ask("DELETE", `${network}/subnets/open`))).toMatchObject(busy);
  expect(refusalIn(await ask("PUT", network, networkBody()))).toMatchObject(busy);
  expect(refusalIn(await ask("DELETE", network))).toMatchObject(busy);
  simulator.moveClock(5000);
  expect((await subnet("two", "10.0.9.0/24")).status).toBe(201);
});

test("where the switch says so, such a write is taken and fails in its operation", async () => {
  const { ask, simulator } = await linkWorld({ switches: { concurrentNetworkWrites: "fail" } });
  simulator.addFault({
    match: { method: "PUT", type: "Microsoft.Network/virtualNetworks/subnets" },
    effect: { kind: "operation", never: true },
    count: 1,
  });
  const subnet = (name: string, addressPrefix: string) =>
    ask("PUT", `${network}/subnets/${name}`, { properties: { addressPrefix } });
  await subnet("one", "10.0.8.0/24");
  const taken = await subnet("two", "10.0.9.0/24");
  expect(taken.status).toBe(201);
  expect(taken.body.properties).toMatchObject({ provisioningState: "Updating" });
  const ended = await ask("GET", taken.headers.get("azure-asyncoperation") ?? "");
  expect(ended.body).toMatchObject({
    status: "Failed",
    error: { code: "AnotherOperationInProgress" },
  });
  expect((await ask("GET", `${network}/subnets/two`)).status).toBe(404);
});

const third = frontend.replace("/lb/", "/third/");
const other = `${provider}/privateLinkServices/other`;

/** Writes that name a subnet, by path. */
const inSubnet = (id: string): Record<string, JsonObject> => ({
  [`${provider}/networkInterfaces/n`]: {
    location: "westeurope",
    properties: { ipConfigurations: [{ name: "c", properties: { subnet: { id } } }] },
  },
  [`${provider}/loadBalancers/two`]: balancerBody("Standard", id),
  [service]: serviceBody({ loadBalancerFrontendIpConfigurations: [{ id: third }] }, [id]),
  [`${provider}/privateEndpoints/pe`]: endpointBody(subscription, other, { subnet: { id } }),
});

/** A world in which each of those writes can be done in the subnet `open`. */
async function subnetWorld() {
  const world = await linkWorld({ clock: new ManualClock() });
  const { ask } = world;
  await done(ask, "PUT", other, serviceBody());
  await done(ask, "PUT", `${provider}/loadBalancers/third`, balancerBody("Standard"));
  const properties = {
    addressPrefix: "10.0.1.0/24",
    privateLinkServiceNetworkPolicies: "Disabled",
  };
  await done(ask, "PUT", openSubnet, { properties });
  return { ...world, properties };
}

test.each([
  ["being deleted", "DELETE", "Deleting", "DeleteSubnetOperation"],
  ["being written", "PUT", "Updating", "PutSubnetOperation"],
])("what refers to a subnet that is %s is to be tried again", async (_, method, state, by) => {
  const { ask, simulator, properties } = await subnetWorld();
  simulator.addFault({ match: { method }, effect: { kind: "operation", ms: 5000 }, count: 1 });
  await ask(method, openSubnet, {
    properties: { ...properties, privateEndpointNetworkPolicies: "Enabled" },
  });
  const bodies = Object.entries(inSubnet(openSubnet));
  for (const [path, body] of bodies) {
    const refused = refusalIn(await ask("PUT", path, body));
    expect([path, refused]).toMatchObject([
      path,
      {
        status: 429,
        code: "RetryableError",
        message: "A retryable error occurred.",
        details: [
          {
            code: "ReferencedResourceNotProvisioned",
            message: `Cannot proceed with operation because resource ${openSubnet} used by resource ${path} is not in Succeeded state. Resource is in ${state} state and the last operation that updated/is updating the resource is ${by}.`,
          },
        ],
      },
    ]);
    expect((await ask("GET", path)).status).toBe(404);
  }
  simulator.moveClock(5000);
  if (method === "DELETE") return;
  for (const [path, body] of bodies) expect((await ask("PUT", path, body)).status).toBe(201);
});

test("a network that is written whole holds up nobody who refers to its subnets", async () => {
  const { ask, simulator } = await subnetWorld();
  const { properties, location } = (await ask("GET", network)).body;
  const effect = { kind: "operation", ms: 5000 } as const;
  simulator.addFault({ match: { method: "PUT" }, effect, count: 1 });
  await ask("PUT", network, { location, properties, tags: { a: "b" } });
  for (const [path, body] of Object.entries(inSubnet(openSubnet)))
    expect([path, (await ask("PUT", path, body)).status]).toEqual([path, 201]);
});

test("a rule lets an endpoint fail in its operation for a subnet that is not ready", async () => {
  const { ask, simulator } = await subnetWorld();
  const error = { code: "RetryableError", message: "A retryable error occurred." };
  simulator.addFault({
    match: { method: "PUT", type: "Microsoft.Network/privateEndpoints" },
    effect: { kind: "operation", error },
    count: 1,
  });
  const path = `${provider}/privateEndpoints/pe`;
  const body = endpointBody(subscription, other, { subnet: { id: openSubnet } });
  expect((await done(ask, "PUT", path, body)).body).toMatchObject({ status: "Failed", error });
  expect((await ask("GET", path)).body.properties).toMatchObject({ provisioningState: "Failed" });
  expect((await done(ask, "PUT", path, body)).body.properties).toMatchObject({
    provisioningState: "Succeeded",
  });
});

test("a later write ends the earlier one with the names of both", async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const operationMs = { "Microsoft.Network/loadBalancers": 1000 };
  const { ask } = await linkWorld({ clock, operationMs });
  const write = () =>
    ask("PUT", `${provider}/loadBalancers/two`, {
      location: "westeurope",
      sku: { name: "Standard" },
    });
  const earlier = await write();
  await write();
  const ended = await ask("GET", earlier.headers.get("azure-asyncoperation") ?? "");
  expect(ended.body).toMatchObject({
    status: "Canceled",
    error: {
      code: "Canceled",
      message: "Operation was canceled.",
      details: [
        {
          code: "CanceledAndSupersededDueToAnotherOperation",
          message: expect.stringMatching(
            /^Operation PutLoadBalancerOperation \([-0-9a-f]{36}\) was canceled and superseded by operation PutLoadBalancerOperation \([-0-9a-f]{36}\).$/,
          ),
        },
      ],
    },
  });
});

test("an owner of one subscription is nobody in another tenant's", async () => {
  const { ask } = await world();
  const refused = refusalIn(await ask("GET", idsIn("44444444-4444-4444-8444-444444444444").group));
  expect(refused).toMatchObject({ status: 401, code: "InvalidAuthenticationTokenTenant" });
  expect(owner.tenant).toBe(tenant);
});
