import { expect, test } from "vitest";
import type { Observation } from "../azure/gateway.ts";
import type { PrivateEndpoint } from "../azure/gateways/private-endpoints.ts";
import { reachOf } from "./endpoint-address.ts";

const service =
  "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/privateLinkServices/api";

/** An endpoint as a read gives it; only what differs is said. */
function endpoint(
  over: {
    state?: string | null;
    provisioning?: string;
    interfaces?: unknown;
    service?: string;
    manual?: boolean;
  } = {},
): Observation<PrivateEndpoint> {
  const connection = {
    properties: {
      privateLinkServiceId: over.service ?? service,
      privateLinkServiceConnectionState: { status: over.state ?? "Approved" },
    },
  };
  const lists = over.manual
    ? { manualPrivateLinkServiceConnections: [null, connection] }
    : { privateLinkServiceConnections: [connection] };
  const properties = {
    provisioningState: over.provisioning ?? "Succeeded",
    networkInterfaces: over.interfaces ?? [interfaceOf("10.0.0.7")],
    customDnsConfigs: [{ fqdn: "elsewhere", ipAddresses: ["10.9.9.9"] }],
    ...lists,
  };
  return { state: "exists", resource: { properties } as unknown as PrivateEndpoint };
}

function interfaceOf(...addresses: (string | null | undefined)[]) {
  const ipConfigurations = addresses.map((privateIPAddress) => ({
    properties: { privateIPAddress },
  }));
  return { id: "nic", properties: { ipConfigurations: [null, ...ipConfigurations] } };
}

const connected = { is: "connected", address: "10.0.0.7" };

test.each([
  ["an approved endpoint gives the address of its interface", endpoint(), connected],
  ["one that was approved by hand too", endpoint({ manual: true }), connected],
  [
    "the first address counts, over nulls and interfaces without one",
    endpoint({ interfaces: [null, { id: "a" }, interfaceOf(null, "10.0.0.7", "10.0.0.8")] }),
    connected,
  ],
  [
    "an address of version 6 is one",
    endpoint({ interfaces: [interfaceOf("fd00::7")] }),
    { is: "connected", address: "fd00::7" },
  ],
  ["ids compare without case", endpoint({ service: service.toUpperCase() }), connected],
  ["an absent endpoint gives none", { state: "absent" }, { is: "absent" }],
  [
    "no interfaces: the names of the endpoint are not asked instead",
    endpoint({ interfaces: [] }),
    { is: "without interface" },
  ],
  [
    "an endpoint without properties",
    { state: "exists", resource: {} },
    { is: "without interface" },
  ],
  [
    "interfaces without addresses",
    endpoint({ interfaces: [{ id: "a" }] }),
    { is: "without address" },
  ],
  [
    "an empty or unparseable address is none, and <nil> is not published",
    endpoint({ interfaces: [interfaceOf("", "nonsense")] }),
    { is: "without address" },
  ],
  [
    "a pending connection gives none, although it has an address: nobody could connect to it",
    endpoint({ state: "Pending" }),
    { is: "not approved", state: "Pending" },
  ],
  [
    "nor does a rejected one",
    endpoint({ state: "Rejected" }),
    { is: "not approved", state: "Rejected" },
  ],
  [
    "a failed endpoint gives none, although it has an address",
    endpoint({ provisioning: "Failed" }),
    { is: "failed", state: "Failed" },
  ],
  [
    "one that leads to the link of a cluster whose name begins the same gives none",
    endpoint({ service: `${service}2` }),
    { is: "elsewhere" },
  ],
] as const)("%s", (_name, observation, reach) => {
  expect(reachOf(observation as Observation<PrivateEndpoint>, service)).toEqual(reach);
});
