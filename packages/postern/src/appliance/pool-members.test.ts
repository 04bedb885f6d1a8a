import { expect, test } from "vitest";
import type { BackendAddress, BackendPool } from "../azure/gateways/backend-pools.ts";
import {
  asItIs,
  entryName,
  hasOwnIn,
  memberKindOf,
  membershipIn,
  type Self,
  withAdminState,
  withMember,
  withoutMember,
} from "./pool-members.ts";

const vnet = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v";
const nics = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/networkInterfaces";
const self: Self = {
  vmId: "AAAAAAAA-0000-4000-8000-000000000001",
  privateIP: "10.0.0.4",
  vnetResourceId: vnet,
  nicResourceId: `${nics}/me`,
};

/** A machine that had the address before. */
const replaced: Self = { ...self, vmId: "bbbbbbbb-0000-4000-8000-000000000002" };

function byAddress(ipAddress: string, more: object = {}): BackendAddress {
  const name = `of ${ipAddress}`;
  return { name, properties: { ipAddress, virtualNetwork: { id: vnet }, ...more } };
}

function byInterface(nic: string, more: object = {}): BackendAddress {
  const id = `${nics}/${nic}/ipConfigurations/ip`;
  return { name: nic, properties: { networkInterfaceIPConfiguration: { id }, ...more } };
}

function pool(...entries: BackendAddress[]): BackendPool {
  return { name: "p", etag: 'W/"1"', properties: { loadBalancerBackendAddresses: entries } };
}

test.each([
  ["is in no empty pool", pool(), undefined],
  ["is not in a pool of others", pool(byAddress("10.0.0.5"), byInterface("other")), undefined],
  [
    "is in a pool by its address",
    pool(byAddress("10.0.0.4")),
    { by: "address", madeBy: "somebody else", drained: false },
  ],
  [
    "is in a pool in whatever case its network is written",
    pool(byAddress("10.0.0.4", { virtualNetwork: { id: vnet.toUpperCase() } })),
    { by: "address", madeBy: "somebody else", drained: false },
  ],
  [
    "is another machine where the same address is in another network",
    pool(byAddress("10.0.0.4", { virtualNetwork: { id: `${vnet}2` } })),
    undefined,
  ],
  [
    "is in a pool by its subnet",
    pool({ properties: { ipAddress: "10.0.0.4", subnet: { id: `${vnet}/subnets/s` } } }),
    { by: "address", madeBy: "somebody else", drained: false },
  ],
  [
    "is drained",
    pool(byAddress("10.0.0.4", { adminState: "Down" })),
    { by: "address", madeBy: "somebody else", drained: true },
  ],
  [
    "is in a pool in the name of its own agent, where another entry has its address too",
    pool(byAddress("10.0.0.4"), { ...byAddress("10.0.0.4"), name: entryName(self).toUpperCase() }),
    { by: "address", madeBy: "this agent", drained: false },
  ],
  [
    "is in a pool in the name of the agent that had its address before",
    pool({ ...byAddress("10.0.0.4"), name: entryName(replaced) }),
    { by: "address", madeBy: "another agent", drained: false },
  ],
  ["is in a pool by its interface", pool(byInterface("ME")), { by: "interface", drained: false }],
  ["is not one whose name begins like its own", pool(byInterface("me2")), undefined],
  [
    "is in a pool that only lists configurations",
    {
      properties: { backendIPConfigurations: [{ id: `${nics}/me/ipConfigurations/ip` }] },
    } as BackendPool,
    { by: "interface", drained: false },
  ],
])("a machine %s", (_name, observed, membership) => {
  expect(membershipIn(observed, self)).toEqual(membership);
});

test("an address of IPv6 is the same however it is written", () => {
  const six = { ...self, privateIP: "fd00:db8::4" };
  expect(membershipIn(pool(byAddress("fd00:db8:0:0::4")), six)).toMatchObject({ by: "address" });
});

test("a pool holds addresses, interfaces or nothing", () => {
  expect(memberKindOf(pool())).toBe("nothing");
  expect(memberKindOf(pool(byInterface("a")))).toBe("interfaces");
  // Azure tells the interface of a member by address too.
  const both = byInterface("a", { ipAddress: "10.0.0.9" });
  expect(memberKindOf(pool(both))).toBe("addresses");
});

test("who joins and who leaves changes no entry but its own", () => {
  const others = [byAddress("10.0.0.5", { adminState: "Down" }), byAddress("10.0.0.6")];
  const joined = withMember(pool(...others), self);
  expect(joined.properties.loadBalancerBackendAddresses).toEqual([
    ...others,
    {
      name: entryName(self),
      properties: { ipAddress: "10.0.0.4", virtualNetwork: { id: vnet } },
    },
  ]);
  expect(withMember(joined, self)).toEqual(joined);
  expect(withoutMember(joined, self).properties.loadBalancerBackendAddresses).toEqual(others);
  const drained = withAdminState(joined, self, "Down").properties.loadBalancerBackendAddresses;
  expect(drained?.slice(0, 2)).toEqual(others);
  expect(drained?.[2]?.properties.adminState).toBe("Down");
});

test("what somebody else made for the address is neither drained nor taken out", () => {
  const foreign = pool(byAddress("10.0.0.4"));
  expect(withAdminState(foreign, self, "Down")).toEqual(asItIs(foreign));
  expect(withoutMember(foreign, self)).toEqual(asItIs(foreign));
  expect(hasOwnIn(foreign, self)).toBe(false);
});

test("a machine that got another address replaces its own entry", () => {
  const old = withMember(pool(), self);
  const moved = withMember(old, { ...self, privateIP: "10.0.0.7" });
  expect(moved.properties.loadBalancerBackendAddresses).toHaveLength(1);
  expect(membershipIn(moved, self)).toBeUndefined();
});

test("a machine that got the address of one that is gone replaces its entry, and keeps its own when that one moves", () => {
  const stale = withAdminState(withMember(pool(byAddress("10.0.0.5")), replaced), replaced, "Down");
  const joined = withMember(stale, self);
  expect(joined).toEqual(withMember(pool(byAddress("10.0.0.5")), self));
  const back = { ...replaced, privateIP: "10.0.0.8" };
  expect(membershipIn(withMember(joined, back), self)).toMatchObject({ madeBy: "this agent" });
  expect(withoutMember(joined, back)).toEqual(joined);
});

test("what only Azure fills in is not sent back, and what is not known here is", () => {
  const read = {
    ...pool(byAddress("10.0.0.5", { networkInterfaceIPConfiguration: { id: "x" } })),
    id: "/p",
  };
  const filled = { provisioningState: "Succeeded", backendIPConfigurations: [{ id: "x" }] };
  Object.assign(read.properties, filled, {
    tunnelInterfaces: [{ port: 2000 }],
    syncMode: "Manual",
  });
  expect(asItIs(read)).toEqual({
    name: "p",
    properties: {
      loadBalancerBackendAddresses: [byAddress("10.0.0.5")],
      tunnelInterfaces: [{ port: 2000 }],
      syncMode: "Manual",
    },
  });
});
