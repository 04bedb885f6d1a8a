import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { expect, test } from "vitest";
import { codeOf } from "./link-world.ts";
import { group, network, smallWorld } from "./small-world.ts";

const body = (addressPrefixes: string[], subnets: string[] = [], more: JsonObject = {}) => ({
  location: "westeurope",
  properties: {
    addressSpace: { addressPrefixes },
    subnets: subnets.map((addressPrefix, at) => ({
      name: `s${at}`,
      properties: { addressPrefix },
    })),
  },
  ...more,
});

test.each([
  ["host bits", body(["10.0.0.1/16"]), "InvalidCIDRNotation"],
  ["host bits in a subnet", body(["10.0.0.0/16"], ["10.0.0.1/24"]), "InvalidCIDRNotation"],
  ["what is no prefix", body(["10.0.0.0"]), "InvalidAddressPrefixFormat"],
  ["a prefix that is too long", body(["10.0.0.0/33"]), "InvalidAddressPrefixFormat"],
  ["overlapping prefixes", body(["10.0.0.0/16", "10.0.1.0/24"]), "NetcfgAddressSpaceOverlap"],
  ["a subnet smaller than /29", body(["10.0.0.0/16"], ["10.0.0.0/30"]), "NetcfgInvalidSubnet"],
  ["an IPv6 subnet of /80", body(["fd00::/56"], ["fd00::/80"]), "NetcfgInvalidSubnet"],
  [
    "a region that Azure does not have",
    body(["10.0.0.0/16"], [], { location: "atlantis" }),
    "LocationNotAvailableForResourceType",
  ],
  ["an unknown field", body(["10.0.0.0/16"], [], { colour: "red" }), "InvalidRequestContent"],
])("a network is refused with %s", async (_why, given, code) => {
  const { ask } = await smallWorld();
  await ask("PUT", group, { location: "westeurope" });
  const came = await ask("PUT", network, given);
  expect([came.status, codeOf(came)]).toEqual([400, code]);
});

test("properties that nobody knows are refused with their place, and nothing is written", async () => {
  const { ask } = await smallWorld();
  const provider = `${group}/providers/Microsoft.Network`;
  await ask("PUT", group, { location: "westeurope" });
  const messageOf = async (path: string, properties: JsonObject) => {
    const came = await ask("PUT", path, { location: "westeurope", properties });
    expect([came.status, codeOf(came)]).toEqual([400, "InvalidRequestFormat"]);
    expect((await ask("GET", path)).status).toBe(404);
    return (came.body.error as { details: { message: string }[] }).details[0]?.message;
  };
  const addressSpace = { addressPrefixes: ["10.0.0.0/16"] };
  expect(await messageOf(network, { addressSpace, colour: "red" })).toBe(
    "Could not find member 'colour' on object of type 'VirtualNetworkProperties'. Path 'properties.colour'.",
  );
  const subnets = [
    { name: "s", properties: { addressPrefix: "10.0.0.0/24", privateEndpoint: {} } },
  ];
  expect(await messageOf(network, { addressSpace, subnets })).toBe(
    "Could not find member 'privateEndpoint' on object of type 'SubnetProperties'. Path 'properties.subnets[0].properties.privateEndpoint'.",
  );
  expect(await messageOf(`${provider}/publicIPAddresses/a`, { idleTimeout: null })).toContain(
    "'PublicIPAddressProperties'",
  );
  // Names have no case, and what Azure shows can be sent back.
  await ask("PUT", network, body(["10.0.0.0/16"], ["10.0.0.0/24"]));
  const { body: shown } = await ask("GET", network);
  expect((await ask("PUT", network, shown)).status).toBe(200);
  const { body: again } = await ask("PUT", network, {
    location: "westeurope",
    properties: { ADDRESSSPACE: null, addressSpace },
  });
  expect(again.error).toBeUndefined();
});

test.each(["US Gov Virginia", "chinaeast2"])(
  "resources can be in %s, which is in another cloud of Azure",
  async (location) => {
    const { ask } = await smallWorld();
    expect((await ask("PUT", group, { location })).status).toBe(201);
    expect((await ask("PUT", network, { ...body(["10.0.0.0/16"]), location })).status).toBe(201);
  },
);

test("a group is refused in a region that Azure does not have, and no child is written into nothing", async () => {
  const { ask } = await smallWorld();
  expect(codeOf(await ask("PUT", group, { location: "atlantis" }))).toBe(
    "LocationNotAvailableForResourceGroup",
  );
  await ask("PUT", group, { location: "West Europe" });
  const subnet = await ask("PUT", `${network}/subnets/s`, {
    properties: { addressPrefix: "10.0.0.0/24" },
  });
  expect([subnet.status, codeOf(subnet)]).toEqual([404, "ParentResourceNotFound"]);
  expect(codeOf(await ask("GET", `${network}/subnets/s`))).toBe("ResourceNotFound");
});

test("an interface with a pool, a NAT rule or a security group is written by an operation, others at once", async () => {
  const { ask } = await smallWorld({ operationMs: { "*": 60_000 } });
  const provider = `${group}/providers/Microsoft.Network`;
  await ask("PUT", group, { location: "westeurope" });
  await ask("PUT", network, body(["10.0.0.0/16"], ["10.0.0.0/24"]));
  const subnet = { id: `${network}/subnets/s0` };
  await ask("PUT", `${provider}/loadBalancers/lb`, {
    location: "westeurope",
    sku: { name: "Standard" },
    properties: {
      frontendIPConfigurations: [{ name: "f", properties: { subnet } }],
      backendAddressPools: [{ name: "p" }],
    },
  });
  const nat = `${provider}/loadBalancers/lb/inboundNatRules/ssh`;
  const frontend = { id: `${provider}/loadBalancers/lb/frontendIPConfigurations/f` };
  const ports = { protocol: "Tcp", frontendPort: 2222, backendPort: 22 };
  await ask("PUT", nat, { properties: { frontendIPConfiguration: frontend, ...ports } });
  const pool = { id: `${provider}/loadBalancers/lb/backendAddressPools/p` };
  const write = async (more: JsonObject, own: JsonObject = {}, name = "n") => {
    const came = await ask("PUT", `${provider}/networkInterfaces/${name}`, {
      location: "westeurope",
      properties: { ...own, ipConfigurations: [{ name: "c", properties: { subnet, ...more } }] },
    });
    const isLong = came.headers.get("azure-asyncoperation") !== null;
    return [came.status, isLong, (came.body.properties as JsonObject).provisioningState];
  };
  expect(await write({})).toEqual([201, false, "Succeeded"]);
  const takesTime = [200, true, "Updating"];
  expect(await write({ loadBalancerBackendAddressPools: [pool] })).toEqual(takesTime);
  expect(await write({})).toEqual(takesTime);
  expect(await write({ loadBalancerInboundNatRules: [{ id: nat }] })).toEqual(takesTime);
  const networkSecurityGroup = { id: `${provider}/networkSecurityGroups/g` };
  expect(await write({}, { networkSecurityGroup }, "m")).toEqual([201, true, "Updating"]);
});

test.each([
  ["Gateway", "Regional", () => true],
  ["Standard", "Global", () => true],
  ["Basic", "Regional", () => false],
])("the write of a %s load balancer, %s, takes time or not", async (name, tier, takes) => {
  const { ask } = await smallWorld({ operationMs: { "*": 60_000 } });
  await ask("PUT", group, { location: "westeurope" });
  const came = await ask("PUT", `${group}/providers/Microsoft.Network/loadBalancers/lb`, {
    location: "westeurope",
    sku: { name, tier },
  });
  const { provisioningState } = came.body.properties as JsonObject;
  expect(provisioningState === "Updating").toBe(takes());
});

test("about a quarter of the writes of Standard load balancers take time, the same in every run", async () => {
  const slow = async () => {
    const { ask } = await smallWorld({ operationMs: { "*": 60_000 } });
    await ask("PUT", group, { location: "westeurope" });
    const states: unknown[] = [];
    for (let at = 0; at < 80; at++) {
      const lb = `${group}/providers/Microsoft.Network/loadBalancers/lb${at}`;
      const came = await ask("PUT", lb, { location: "westeurope", sku: { name: "Standard" } });
      states.push((came.body.properties as JsonObject).provisioningState);
    }
    return states;
  };
  const states = await slow();
  expect(states.filter((each) => each === "Updating").length).toBeGreaterThan(8);
  expect(states.filter((each) => each === "Updating").length).toBeLessThan(36);
  expect(await slow()).toEqual(states);
});
