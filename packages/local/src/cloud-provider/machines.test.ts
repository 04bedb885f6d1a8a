import type { LoadBalancer } from "postern/azure/gateways/load-balancers.ts";
import type { NetworkInterface } from "postern/azure/gateways/network-interfaces.ts";
import { expect, test } from "vitest";
import { joining } from "./machines.ts";

const balancer = (name: string, pools = ["kubernetes"]): LoadBalancer => ({
  id: `/b/${name}`,
  properties: { backendAddressPools: pools.map((each) => ({ name: each, properties: {} })) },
});
const machine = (...pools: string[]): NetworkInterface => ({
  id: "/nic",
  etag: "1",
  properties: {
    ipConfigurations: [
      {
        name: "primary",
        properties: {
          primary: true,
          loadBalancerBackendAddressPools: pools.map((id) => ({ id })),
        },
      },
      { name: "second", properties: {} },
    ],
  },
});
const pool = (name: string) => `/b/${name}/backendAddressPools/kubernetes`;
/** The pools that each interface is to be in. */
const become = (...given: Parameters<typeof joining>) =>
  joining(...given).map(({ body, etag }) => ({
    etag,
    pools: body.properties.ipConfigurations?.map(({ properties }) =>
      properties.loadBalancerBackendAddressPools?.map(({ id }) => id),
    ),
  }));

test("a machine joins the pool of every load balancer by its first address, and stays in the others", () => {
  expect(become([machine("/other", pool("x"))], [balancer("x"), balancer("y"), undefined])).toEqual(
    [{ etag: "1", pools: [["/other", pool("x"), pool("y")], undefined] }],
  );
});

test("a machine that is everywhere is left alone, whatever the case of an id", () => {
  expect(become([machine(pool("X"))], [balancer("x")])).toEqual([]);
});

test("a load balancer without our pool is somebody else's", () => {
  expect(become([machine()], [balancer("x", ["theirs"])])).toEqual([]);
});
