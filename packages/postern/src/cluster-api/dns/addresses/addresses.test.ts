import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { resourceGroupId } from "@postern/core/resource-id.ts";
import { expect, test } from "vitest";
import { apiAddresses, bastionAddresses, hostOf } from "./addresses.ts";

const group = resourceGroupId("33333333-3333-4333-8333-333333333333", "wc1");
const looking = {
  reconcile: { failedReads: [] },
  maxAgeMs: 0,
  drift: false,
  now: 0,
};
/** Nothing is to be asked of Azure here. */
const nobody = undefined as never;

function cluster(spec: object): AzureCluster {
  return { metadata: { name: "wc1" }, spec: { location: "westeurope", ...spec } } as AzureCluster;
}

test.each([
  ["none is known for a load balancer that is not there", { networkSpec: {} }, { state: "none" }],
  [
    "none is known for a load balancer that is null",
    { networkSpec: { apiServerLB: null } },
    { state: "none" },
  ],
  [
    "the address of the endpoint counts where there is no load balancer",
    { controlPlaneEndpoint: { host: "192.0.2.1", port: 6443 } },
    { state: "known", values: ["192.0.2.1"] },
  ],
  [
    "the frontend of a private cluster counts",
    {
      networkSpec: {
        apiServerLB: { type: "Internal", frontendIPs: [{ name: "f", privateIP: "10.0.0.100" }] },
      },
    },
    { state: "known", values: ["10.0.0.100"] },
  ],
  [
    "a frontend without an address, or with one that is none, is waited for",
    {
      networkSpec: {
        apiServerLB: { type: "Internal", frontendIPs: [null, { name: "f", privateIP: "<nil>" }] },
      },
    },
    { state: "unknown" },
  ],
  [
    "a public frontend that is not named yet is waited for",
    { networkSpec: { apiServerLB: { type: "Public" } } },
    { state: "unknown" },
  ],
])("%s", async (_what, spec, desired) => {
  expect(await apiAddresses(cluster(spec), group, nobody, looking)).toEqual(desired);
});

test.each([
  {},
  { bastionSpec: null },
  { bastionSpec: {} },
  { bastionSpec: { azureBastion: null } },
])("without a bastion in %j nothing is asked for", async (spec) => {
  expect(await bastionAddresses(cluster(spec), group, nobody, looking)).toEqual({ state: "none" });
});

test.each([
  ["192.0.2.1", { state: "known", values: ["192.0.2.1"] }],
  ["fd00::1", { state: "known", values: ["fd00::1"] }],
  [undefined, { state: "unknown" }],
  ["api.example.net", { state: "none", host: "api.example.net" }],
  ["<nil>", { state: "none", host: "<nil>" }],
])("an endpoint at %s on other infrastructure is %j", (host, desired) => {
  const spec = host === undefined ? {} : { controlPlaneEndpoint: { host, port: 6443 } };
  expect(hostOf({ metadata: { name: "wc1" }, spec })).toEqual(desired);
});
