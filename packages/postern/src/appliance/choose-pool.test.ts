import { expect, test } from "vitest";
import type { LoadBalancer } from "../azure/gateways/load-balancers.ts";
import { choosePool, type PoolQuery } from "./choose-pool.ts";

const vnet = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v";

function balancer(
  name: string,
  over: Partial<LoadBalancer> = {},
  pools = ["inspect"],
): LoadBalancer {
  const id = `/lbs/${name}`;
  return {
    id,
    name,
    location: "westeurope",
    sku: { name: "Gateway" },
    properties: {
      frontendIPConfigurations: [
        { properties: { privateIPAddress: "10.0.0.9", subnet: { id: `${vnet}/subnets/s` } } },
      ],
      backendAddressPools: pools.map((each) => ({
        id: `${id}/backendAddressPools/${each}`,
        name: each,
        properties: {},
      })),
    },
    ...over,
  };
}

const query: PoolQuery = {
  poolName: "inspect",
  location: "West Europe",
  vnetResourceId: vnet,
  scope: "resource group rg",
};

function refused(found: LoadBalancer[], over: Partial<PoolQuery> = {}): string {
  try {
    choosePool(found, { ...query, ...over });
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
  throw new Error("it was not refused");
}

test("the one Gateway load balancer with the pool is chosen among others", () => {
  const standard = balancer("web", { sku: { name: "Standard" } });
  const selected = choosePool([standard, balancer("gw"), balancer("other", {}, ["x"])], query);
  expect(selected).toMatchObject({
    loadBalancerName: "gw",
    backendPoolResourceId: "/lbs/gw/backendAddressPools/inspect",
    frontendIPs: ["10.0.0.9"],
  });
});

test("a pool that says nothing of its tunnels has those of the portal, and they are called assumed", () => {
  expect(choosePool([balancer("gw")], query)).toMatchObject({
    tunnels: [
      { type: "Internal", port: 10800, identifier: 800 },
      { type: "External", port: 10801, identifier: 801 },
    ],
    tunnelsAssumed: true,
  });
});

test("the tunnels of a pool are those that it says, and no others", () => {
  const gw = balancer("gw");
  const [pool] = gw.properties.backendAddressPools ?? [];
  Object.assign(pool?.properties ?? {}, {
    tunnelInterfaces: [{ type: "External", port: 2001, identifier: 801, protocol: "VXLAN" }],
  });
  const { tunnels, tunnelsAssumed } = choosePool([gw], query);
  expect(tunnels).toEqual([{ type: "External", port: 2001, identifier: 801 }]);
  expect(tunnelsAssumed).toBe(false);
});

test("a tunnel that is not of VXLAN is none, and none is assumed in its place", () => {
  const gw = balancer("gw");
  const [pool] = gw.properties.backendAddressPools ?? [];
  Object.assign(pool?.properties ?? {}, {
    tunnelInterfaces: [
      { type: "Internal", port: 2000, identifier: 800, protocol: "Native" },
      { type: "External", port: 2001, identifier: 801 },
    ],
  });
  expect(choosePool([gw], query)).toMatchObject({
    tunnels: [{ type: "External", port: 2001, identifier: 801 }],
    tunnelsAssumed: false,
  });
  pool?.properties.tunnelInterfaces?.pop();
  expect(choosePool([gw], query)).toMatchObject({ tunnels: [], tunnelsAssumed: false });
});

test.each([
  ["nothing there", [], {}, "(LoadBalancerNotFound)", "resource group rg has none"],
  [
    "load balancers of other kinds",
    [balancer("web", { sku: { name: "Standard" } })],
    {},
    "(LoadBalancerNotFound)",
    "web (Standard)",
  ],
  [
    "a named one of another kind",
    [balancer("web", { sku: { name: "Standard" } })],
    { named: "WEB" },
    "(LoadBalancerNotGateway)",
    "web (Standard)",
  ],
  [
    "none of the name among others",
    [balancer("gw"), balancer("web", { sku: { name: "Standard" } })],
    { named: "gwx" },
    "(LoadBalancerNotFound)",
    '"gwx" is not in resource group rg, which has gw (Gateway), web (Standard)',
  ],
  ["no such pool", [balancer("gw", {}, ["a", "b"])], {}, "(PoolNotFound)", "gw has a, b"],
  [
    "a pool that differs in case",
    [balancer("gw", {}, ["Inspect"])],
    {},
    "(PoolNotFound)",
    "Inspect",
  ],
  ["two of them", [balancer("a"), balancer("b")], {}, "(PoolAmbiguous)", "/lbs/a, /lbs/b"],
  [
    "one in another region",
    [balancer("gw", { location: "northeurope" })],
    {},
    "(PoolInAnotherRegion)",
    "gw is in northeurope, this machine in West Europe",
  ],
  [
    "another network",
    [balancer("gw")],
    { vnetResourceId: "/other" },
    "(PoolInAnotherNetwork)",
    vnet,
  ],
] as const)("of %s the error lists what was seen", (_name, found, over, code, detail) => {
  const message = refused([...found], over);
  expect(message).toContain(code);
  expect(message).toContain(detail);
  expect(message).toContain('find the backend pool "inspect"');
});

test("of two pools of one name the one in the machine's region is meant", () => {
  const found = [balancer("far", { location: "northeurope" }), balancer("near")];
  expect(choosePool(found, query).loadBalancerName).toBe("near");
});
