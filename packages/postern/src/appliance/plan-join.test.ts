import { expect, test } from "vitest";
import type { BackendAddress, BackendPool } from "../azure/gateways/backend-pools.ts";
import type { GWLBConfig } from "./gwlb-config.ts";
import { type ObservedJoin, planJoin } from "./plan-join.ts";

const vnet = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v";
const config = {
  vmId: "1",
  privateIP: "10.0.0.4",
  vnetResourceId: vnet,
  nicResourceId: "/nics/me",
} as GWLBConfig;
const uniform: GWLBConfig = { ...config, scaleSet: { name: "ss", mode: "Uniform" } };

const own: BackendAddress = { name: "postern-1", properties: { ipAddress: "10.0.0.4" } };
const drained: BackendAddress = {
  name: "postern-1",
  properties: { ...own.properties, adminState: "Down" },
};
const address: BackendAddress = { name: "b", properties: { ipAddress: "10.0.0.5" } };
const nic = (of: string): BackendAddress => ({
  name: of,
  properties: { networkInterfaceIPConfiguration: { id: `/nics/${of}/ipConfigurations/ip` } },
});

function pool(entries: BackendAddress[], provisioningState = "Succeeded"): BackendPool {
  return { properties: { loadBalancerBackendAddresses: entries, provisioningState } };
}

const refuse = (code: string) => ({ do: "refuse", code });

test.each<[string, Partial<ObservedJoin>, object]>([
  ["adds itself to an empty pool", {}, { do: "add" }],
  ["adds itself to a pool of addresses", { pool: pool([address]) }, { do: "add" }],
  ["writes nothing where it is there", { pool: pool([own]) }, { do: "nothing", by: "address" }],
  [
    "waits for what is on its way",
    { pool: pool([own], "Updating") },
    { do: "wait", by: "address" },
  ],
  ["writes anew what failed", { pool: pool([own], "Failed") }, { do: "rewrite" }],
  ["takes connections again after a drain", { pool: pool([drained]) }, { do: "restore" }],
  [
    "leaves an entry alone that somebody else made for it, drained and in a pool that failed",
    { pool: pool([{ ...drained, name: "by-hand" }], "Failed") },
    { do: "nothing", by: "address" },
  ],
  [
    "replaces the entry of a machine that had its address before",
    { pool: pool([{ ...drained, name: "postern-bbbbbbbb-0000-4000-8000-000000000002" }]) },
    { do: "add" },
  ],
  [
    "writes nothing where it is there by its interface, whatever goes on",
    { pool: pool([nic("me")], "Updating") },
    { do: "nothing", by: "interface" },
  ],
  ["joins a pool of interfaces by its own", { pool: pool([nic("x")]) }, { do: "associate" }],
  [
    "says that it cannot where it is of a uniform scale set",
    { pool: pool([nic("x")]), config: uniform },
    refuse("InterfaceNotChangeable"),
  ],
  [
    "refuses a pool of interfaces where it may join by address only",
    { pool: pool([nic("x")]), joinBy: "address" },
    refuse("PoolHoldsInterfaces"),
  ],
  [
    "refuses a pool of addresses where it may join by interface only",
    { pool: pool([address]), joinBy: "interface" },
    refuse("PoolHoldsAddresses"),
  ],
  ["joins an empty pool by interface where told to", { joinBy: "interface" }, { do: "associate" }],
  [
    "joins by interface where addresses are refused",
    { addressesRefused: true },
    { do: "associate" },
  ],
  [
    "says that addresses are refused where it may join by address only",
    { addressesRefused: true, joinBy: "address" },
    refuse("AddressesRefused"),
  ],
  [
    "says that addresses are refused where it has no interface of its own",
    { addressesRefused: true, config: uniform },
    refuse("AddressesRefused"),
  ],
])("a machine %s", (_name, over, step) => {
  const observed = {
    pool: pool([]),
    config,
    joinBy: "auto",
    addressesRefused: false,
    ...over,
  } as const;
  expect(planJoin(observed)).toEqual(step);
});
