import type { ServerResponse } from "node:http";
import { parseResourceId } from "@postern/core/resource-id.ts";
import { expect, test } from "vitest";
import { fakeArm, group } from "../../../../../test/azure/fake-arm.ts";
import { json } from "../../../../../test/loopback.ts";
import { ManualClock } from "../../../../../test/manual-clock.ts";
import { frontendsAt, isIpBased } from "./frontends.ts";

const scope = parseResourceId(group);
const balancers = `${group}/providers/Microsoft.Network/loadBalancers`;

function balancer(name: string, addresses: (string | undefined)[], sku = "Standard") {
  const id = `${balancers}/${name}`;
  return {
    id,
    location: "westeurope",
    sku: { name: sku },
    properties: {
      frontendIPConfigurations: addresses.map((privateIPAddress, n) => ({
        id: `${id}/frontendIPConfigurations/fe${n}`,
        properties: { privateIPAddress, subnet: { id: "/subnet" } },
      })),
    },
  };
}

/** The names of the load balancers that have an address, and how often they were listed. */
async function world(lists: (() => object[])[]) {
  let listed = 0;
  const clock = new ManualClock(1_000);
  const serve = (_request: unknown, response: ServerResponse) => {
    const list = lists[Math.min(listed++, lists.length - 1)];
    json(response, 200, { value: list?.() ?? [] });
  };
  const { arm } = await fakeArm(serve, { clock });
  const find = async (address: string, now = 1_000, maxAgeMs = 600_000) => {
    clock.moveTo(now);
    return (await frontendsAt(arm, [scope], address, maxAgeMs)).map(({ balancer: id }) =>
      id.slice(id.lastIndexOf("/") + 1),
    );
  };
  return { find, listed: () => listed };
}

test("an address is found however it is written, and one without an address is passed over", async () => {
  const { find } = await world([() => [balancer("lb", [undefined, "fd00:0:0::4", "10.0.0.4"])]]);
  expect(await find("fd00::4")).toEqual(["lb"]);
  expect(await find("FD00:0000::0004")).toEqual(["lb"]);
  expect(await find("10.0.0.4")).toEqual(["lb"]);
});

test("a group that cannot be read concerns only what is in no other", async () => {
  const other = parseResourceId(group.replace(/[^/]+$/, "other"));
  const { arm } = await fakeArm((request, response) =>
    request.url?.includes("/other/")
      ? json(response, 403, { error: { code: "AuthorizationFailed", message: "no" } })
      : json(response, 200, { value: [balancer("lb", ["10.0.0.4"])] }),
  );
  const find = (address: string) => frontendsAt(arm, [scope, other], address, 0);
  expect(await find("10.0.0.4")).toHaveLength(1);
  await expect(find("10.0.0.5")).rejects.toThrow("AuthorizationFailed");
});

test("several with one address come by id, whatever the order of the list", async () => {
  const { find } = await world([() => [balancer("b", ["10.0.0.4"]), balancer("A", ["10.0.0.4"])]]);
  expect(await find("10.0.0.4")).toEqual(["A", "b"]);
});

test("all who look share one list, and it is read again when it is too old", async () => {
  const { find, listed } = await world([() => [balancer("lb", ["10.0.0.4"])]]);
  await Promise.all(Array.from({ length: 100 }, () => find("10.0.0.4")));
  expect(listed()).toBe(1);
  await find("10.0.0.4", 200_000, 150_000);
  expect(listed()).toBe(2);
});

test("who finds nothing gets a fresher list, at most one in ten seconds for all", async () => {
  const { find, listed } = await world([() => [], () => [balancer("lb", ["10.0.0.4"])]]);
  expect(await find("10.0.0.4", 1_000)).toEqual([]);
  expect(await find("10.0.0.4", 5_000)).toEqual([]);
  expect(listed()).toBe(1);
  expect(await find("10.0.0.4", 11_001)).toEqual(["lb"]);
  expect(listed()).toBe(2);
});

test("a load balancer without properties, or with nulls, does not hide the others of its group", async () => {
  const id = `${balancers}/odd`;
  const frontend = { id: `${id}/frontendIPConfigurations/fe`, properties: null };
  const odd = [
    { id },
    { id, properties: null },
    { id: null },
    { id, sku: null, properties: { frontendIPConfigurations: [null, frontend] } },
  ];
  for (const each of odd) {
    const { find } = await world([() => [each, balancer("lb", ["10.0.0.4"])]]);
    expect(await find("10.0.0.4")).toEqual(["lb"]);
  }
});

test.each([
  ["an address", [{ properties: { ipAddress: "10.0.0.9" } }], true],
  [
    "an interface, whose address is shown",
    [{ properties: { ipAddress: "10.0.0.9", networkInterfaceIPConfiguration: { id: "/nic" } } }],
    false,
  ],
  ["nothing", [], false],
])("a load balancer with a pool of %s", (_what, loadBalancerBackendAddresses, is) => {
  const backendAddressPools = [{ properties: { loadBalancerBackendAddresses } }];
  expect(isIpBased({ properties: { backendAddressPools } })).toBe(is);
});
