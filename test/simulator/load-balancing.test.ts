import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { network } from "./small-world.ts";
import {
  balancer,
  location,
  pool,
  provider,
  type SubnetWorld,
  subnet,
  subnetWorld,
} from "./subnet-world.ts";

let world: SubnetWorld;

beforeEach(async () => {
  world = await subnetWorld();
});

const made = (path: string, body: JsonObject) => world.made(path, body);

async function seen(path: string): Promise<JsonObject> {
  return (await world.seen(path)).properties as JsonObject;
}

async function refused(method: string, path: string, body?: unknown): Promise<string> {
  const { code, details } = (await world.refused(method, path, body)) as {
    code: string;
    details?: { code: string }[];
  };
  return code === "InvalidRequestFormat" ? (details?.[0]?.code ?? code) : code;
}

function balancerBody(sku: string, properties: JsonObject = {}): JsonObject {
  return {
    location,
    sku: { name: sku },
    properties: {
      frontendIPConfigurations: [{ name: "fe", properties: { subnet } }],
      backendAddressPools: [{ name: "pool", properties: {} }],
      ...properties,
    },
  };
}

function rule(properties: JsonObject = {}): JsonObject {
  return {
    name: "rule",
    properties: {
      frontendIPConfiguration: { id: `${balancer}/frontendIPConfigurations/fe` },
      backendAddressPool: { id: pool },
      probe: { id: `${balancer}/probes/probe` },
      protocol: "Tcp",
      frontendPort: 443,
      backendPort: 6443,
      ...properties,
    },
  };
}

const probes = [{ name: "probe", properties: { protocol: "Tcp", port: 6443 } }];

function interfaceBody(properties: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return {
    location,
    properties: {
      ipConfigurations: [{ name: "ip", properties: { subnet, ...properties } }],
      ...more,
    },
  };
}

function member(address: string, name = address.replaceAll(".", "-")): JsonObject {
  return { name, properties: { ipAddress: address, virtualNetwork: { id: network } } };
}

describe("a load balancer", () => {
  test("fills in who uses what", async () => {
    await made(balancer, balancerBody("Standard", { loadBalancingRules: [rule()], probes }));
    const shown = await seen(balancer);
    const users = [{ id: `${balancer}/loadBalancingRules/rule` }];
    for (const list of ["frontendIPConfigurations", "backendAddressPools", "probes"]) {
      const [only] = shown[list] as JsonObject[];
      expect(only?.properties, list).toMatchObject({ loadBalancingRules: users });
    }
    expect(await seen(`${balancer}/probes/probe`)).toMatchObject({ loadBalancingRules: users });
    expect(await seen(`${balancer}/frontendIPConfigurations/fe`)).toMatchObject({
      privateIPAddress: "10.0.0.4",
    });
    const { value } = (await world.ask("GET", `${balancer}/loadBalancingRules`)).body;
    expect(value).toHaveLength(1);
  });

  test("loses the pools that a write leaves out, and interfaces lose them too", async () => {
    await made(balancer, balancerBody("Standard"));
    const nic = `${provider}/networkInterfaces/n`;
    await made(nic, interfaceBody({ loadBalancerBackendAddressPools: [{ id: pool }] }));
    await made(balancer, balancerBody("Standard", { backendAddressPools: [] }));
    expect((await world.ask("GET", pool)).status).toBe(404);
    const [only] = (await seen(nic)).ipConfigurations as JsonObject[];
    expect(only?.properties).not.toHaveProperty("loadBalancerBackendAddressPools");
  });

  test("keeps the address of a frontend that is written again, and frees it in the end", async () => {
    await made(balancer, balancerBody("Standard"));
    await made(balancer, balancerBody("Standard", { probes }));
    await made(`${provider}/networkInterfaces/n`, interfaceBody());
    expect(await seen(`${balancer}/frontendIPConfigurations/fe`)).toMatchObject({
      privateIPAddress: "10.0.0.4",
    });
    await world.ask("DELETE", balancer);
    await made(`${provider}/networkInterfaces/m`, interfaceBody());
    const [first] = (await seen(`${provider}/networkInterfaces/m`))
      .ipConfigurations as JsonObject[];
    expect(first?.properties).toMatchObject({ privateIPAddress: "10.0.0.4" });
  });

  test.each<[string, JsonObject, string]>([
    ["names a pool that it has not", { loadBalancingRules: [rule()] }, "InvalidResourceReference"],
    [
      "has a frontend in a subnet and outside",
      {
        frontendIPConfigurations: [
          {
            name: "fe",
            properties: { subnet, publicIPAddress: { id: `${provider}/publicIPAddresses/p` } },
          },
        ],
      },
      "FrontendIPConfigHasBothSubnetAndPublicIP",
    ],
    [
      "has two rules for one port",
      {
        loadBalancingRules: [rule(), { ...rule(), name: "other" }],
        probes,
      },
      "RulesUseSameFrontendPortProtocolAndIPConfig",
    ],
    ["has a name with a space", { probes: [{ ...probes[0], name: "a b" }] }, "InvalidResourceName"],
    [
      "asks for an address that Azure keeps",
      {
        frontendIPConfigurations: [
          {
            name: "fe",
            properties: {
              subnet,
              privateIPAllocationMethod: "Static",
              privateIPAddress: "10.0.0.1",
            },
          },
        ],
      },
      "PrivateIPAddressInReservedRange",
    ],
  ])("is refused that %s", async (_, properties, code) => {
    expect(await refused("PUT", balancer, balancerBody("Standard", properties))).toBe(code);
    expect((await world.ask("GET", balancer)).status).toBe(404);
  });

  test("of SKU Gateway has tunnels, takes HA ports only and chains behind a public frontend", async () => {
    const all = { protocol: "All", frontendPort: 0, backendPort: 0 };
    expect(
      await refused(
        "PUT",
        balancer,
        balancerBody("Gateway", { loadBalancingRules: [rule()], probes }),
      ),
    ).toBe("GatewayLoadBalancerRuleNotSupported");
    await made(balancer, balancerBody("Gateway", { loadBalancingRules: [rule(all)], probes }));
    expect((await seen(pool)).tunnelInterfaces).toEqual([
      { port: 10800, identifier: 900, protocol: "VXLAN", type: "Internal" },
    ]);
    const tunnelInterfaces = [
      { port: 2000, identifier: 800, protocol: "VXLAN", type: "Internal" },
      { port: 2001, identifier: 801, protocol: "VXLAN", type: "External" },
    ];
    await made(pool, { properties: { tunnelInterfaces } });
    await made(pool, { properties: {} });
    expect((await seen(pool)).tunnelInterfaces).toEqual(tunnelInterfaces);
    const address = `${provider}/publicIPAddresses/p`;
    await made(address, { location, sku: { name: "Standard" } });
    const chained = {
      location,
      sku: { name: "Standard" },
      properties: {
        frontendIPConfigurations: [
          {
            name: "out",
            properties: {
              publicIPAddress: { id: address },
              gatewayLoadBalancer: { id: `${balancer}/frontendIPConfigurations/fe` },
            },
          },
        ],
      },
    };
    await made(`${provider}/loadBalancers/front`, chained);
    expect(await refused("DELETE", balancer)).toBe("LoadBalancerFrontendIPConfigurationInUse");
    expect(await refused("DELETE", address)).toBe("PublicIPAddressCannotBeDeleted");
  });
});

test("an inbound NAT rule is written alone, leads to an interface, and goes from it when it goes", async () => {
  await made(balancer, balancerBody("Standard"));
  const nat = `${balancer}/inboundNatRules/ssh`;
  const frontendIPConfiguration = { id: `${balancer}/frontendIPConfigurations/fe` };
  const ports = { protocol: "Tcp", frontendPort: 2222, backendPort: 22 };
  const lost = { id: `${balancer}/frontendIPConfigurations/none` };
  expect(
    await refused("PUT", nat, { properties: { frontendIPConfiguration: lost, ...ports } }),
  ).toBe("InvalidResourceReference");
  await made(nat, { properties: { frontendIPConfiguration, ...ports } });
  const nic = `${provider}/networkInterfaces/n`;
  await made(nic, interfaceBody({ loadBalancerInboundNatRules: [{ id: nat }] }));
  expect((await seen(nat)).backendIPConfiguration).toEqual({ id: `${nic}/ipConfigurations/ip` });
  expect(await seen(`${balancer}/frontendIPConfigurations/fe`)).toMatchObject({
    inboundNatRules: [{ id: nat }],
  });
  expect((await world.ask("DELETE", nat)).status).toBe(202);
  const [only] = (await seen(nic)).ipConfigurations as JsonObject[];
  expect(only?.properties).not.toHaveProperty("loadBalancerInboundNatRules");
});

describe("a backend pool", () => {
  beforeEach(() => made(balancer, balancerBody("Standard")));

  test("takes members by address and gives its load balancer another etag", async () => {
    const before = (await world.ask("GET", balancer)).body.etag;
    await made(pool, { properties: { loadBalancerBackendAddresses: [member("10.0.0.9")] } });
    const after = await world.ask("GET", pool);
    expect(after.body.etag).not.toBe(before);
    expect(after.body.etag).toBe((await world.ask("GET", balancer)).body.etag);
    expect((after.body.properties as JsonObject).loadBalancerBackendAddresses).toMatchObject([
      {
        ...member("10.0.0.9"),
        id: `${pool}/loadBalancerBackendAddresses/${member("10.0.0.9").name}`,
        etag: after.body.etag,
        properties: { provisioningState: "Succeeded" },
      },
    ]);
  });

  test("refuses a write with the etag of before another's write", async () => {
    const { etag } = (await world.ask("GET", pool)).body;
    const write = (address: string) =>
      world.ask(
        "PUT",
        pool,
        { properties: { loadBalancerBackendAddresses: [member(address)] } },
        { "if-match": String(etag) },
      );
    expect((await write("10.0.0.9")).status).toBe(200);
    expect((await write("10.0.0.10")).status).toBe(412);
    expect((await seen(pool)).loadBalancerBackendAddresses).toMatchObject([member("10.0.0.9")]);
  });

  test("has members by address or by interface, never both", async () => {
    const nic = `${provider}/networkInterfaces/n`;
    const joining = interfaceBody({ loadBalancerBackendAddressPools: [{ id: pool }] });
    const code = "CannotMixIPBasedAddressesAndIPConfigurationsOnLoadBalancerBackendAddressPool";
    await made(pool, { properties: { loadBalancerBackendAddresses: [member("10.0.0.9")] } });
    expect(await refused("PUT", nic, joining)).toBe(code);
    await made(pool, { properties: {} });
    await made(nic, joining);
    const shown = await seen(pool);
    const configuration = { id: `${nic}/ipConfigurations/ip` };
    expect(shown.backendIPConfigurations).toEqual([configuration]);
    expect(shown.loadBalancerBackendAddresses).toEqual([
      { name: "rg_nip", properties: { networkInterfaceIPConfiguration: configuration } },
    ]);
    const body = { properties: { loadBalancerBackendAddresses: [member("10.0.0.9")] } };
    expect(await refused("PUT", pool, body)).toBe(code);
    // What was read may be sent back, and may carry an admin state.
    const [read] = shown.loadBalancerBackendAddresses as JsonObject[];
    const down = {
      ...read,
      properties: { ...(read?.properties as JsonObject), adminState: "Down" },
    };
    await made(pool, { properties: { loadBalancerBackendAddresses: [down] } });
    expect((await seen(pool)).loadBalancerBackendAddresses).toEqual([down]);
    await made(nic, interfaceBody());
    expect((await seen(pool)).loadBalancerBackendAddresses).toEqual([]);
  });

  test.each<[string, JsonObject, string]>([
    ["outside of its network", member("10.1.0.9"), "BackendAddressNotInVirtualNetwork"],
    ["that is none", member("10.0.0", "a"), "InvalidLoadBalancerBackendAddress"],
    [
      "in no network",
      { name: "a", properties: { ipAddress: "10.0.0.9" } },
      "InvalidLoadBalancerBackendAddress",
    ],
  ])("refuses an address %s", async (_, address, code) => {
    const body = { properties: { loadBalancerBackendAddresses: [address] } };
    expect(await refused("PUT", pool, body)).toBe(code);
  });

  test("cannot go while a rule uses it", async () => {
    await made(balancer, balancerBody("Standard", { loadBalancingRules: [rule()], probes }));
    expect(await refused("DELETE", pool)).toBe("InUseBackendAddressPoolCannotBeDeleted");
    await made(balancer, balancerBody("Standard"));
    expect((await world.ask("DELETE", pool)).status).toBe(202);
    expect((await world.ask("GET", pool)).status).toBe(404);
  });
});

test("a pool of a Gateway load balancer takes no addresses where the switch says so", async () => {
  world = await subnetWorld({ switches: { gatewayPoolsTakeAddresses: false } });
  await made(balancer, balancerBody("Gateway"));
  const body = { properties: { loadBalancerBackendAddresses: [member("10.0.0.9")] } };
  expect(await refused("PUT", pool, body)).toBe("IPBasedBackendPoolNotSupported");
});

describe("an interface", () => {
  const nic = `${provider}/networkInterfaces/n`;

  test("has its addresses with the answer, IPv4 and IPv6", async () => {
    const { properties } = await made(nic, {
      location,
      properties: {
        ipConfigurations: [
          { name: "four", properties: { subnet, primary: true } },
          { name: "six", properties: { subnet, privateIPAddressVersion: "IPv6" } },
        ],
      },
    });
    const addresses = ((properties as JsonObject).ipConfigurations as JsonObject[]).map(
      (each) => (each.properties as JsonObject).privateIPAddress,
    );
    expect(addresses).toEqual(["10.0.0.4", "fd00:db8::4"]);
    const one = await world.ask("GET", `${nic}/ipConfigurations/six`);
    expect((one.body.properties as JsonObject).privateIPAddress).toBe("fd00:db8::4");
    const { ipConfigurations } = await seen(`${network}/subnets/s`);
    expect(ipConfigurations).toHaveLength(2);
  });

  test("is refused when the subnet is full, and can be made when one has gone", async () => {
    const tiny = { subnet: { id: `${network}/subnets/tiny` } };
    for (const name of ["a", "b", "c"])
      await made(`${provider}/networkInterfaces/${name}`, interfaceBody(tiny));
    expect(await refused("PUT", nic, interfaceBody(tiny))).toBe("SubnetIsFull");
    expect((await world.ask("DELETE", `${provider}/networkInterfaces/b`)).status).toBe(200);
    const { properties } = await made(nic, interfaceBody(tiny));
    const [only] = (properties as JsonObject).ipConfigurations as JsonObject[];
    expect(only?.properties).toMatchObject({ privateIPAddress: "10.0.1.5" });
  });

  test.each<[string, JsonObject, string]>([
    [
      "an address that another has",
      { privateIPAllocationMethod: "Static", privateIPAddress: "10.0.0.4" },
      "PrivateIPAddressIsAllocated",
    ],
    [
      "a subnet that is not there",
      { subnet: { id: `${network}/subnets/none` } },
      "InvalidResourceReference",
    ],
    [
      "a pool that is not there",
      { loadBalancerBackendAddressPools: [{ id: pool }] },
      "InvalidResourceReference",
    ],
    [
      "a number for an address",
      { privateIPAllocationMethod: "Static", privateIPAddress: 4 },
      "InvalidJson",
    ],
  ])("is refused with %s", async (_, properties, code) => {
    await made(`${provider}/networkInterfaces/first`, interfaceBody());
    expect(await refused("PUT", nic, interfaceBody(properties))).toBe(code);
    expect((await world.ask("GET", nic)).status).toBe(404);
  });
});
