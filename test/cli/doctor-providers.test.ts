import { startSimulator } from "@postern/azure-simulator/simulator.ts";
import { Arm } from "postern/azure/arm.ts";
import { customCloud } from "postern/azure/clouds.ts";
import { providerFindings } from "postern/cli/doctor-providers.ts";
import type { World } from "postern/view/world.ts";
import { expect, onTestFinished, test } from "vitest";
import { network, oneWorld } from "./one-world.ts";

const subscription = "11111111-1111-4111-8111-111111111111";
const tenant = "22222222-2222-4222-8222-222222222222";
const about = `/subscriptions/${subscription}`;
const none = oneWorld({
  kube: { hostedClusters: [], links: [], controlPlanes: [], azureClusters: [] },
  azure: { networks: [], loadBalancers: [], linkServices: [], endpoints: [] },
});

/** The findings, as somebody who may do everything or nothing. */
async function findings(world: World, { unregistered = false, isOwner = true } = {}) {
  const simulator = await startSimulator();
  onTestFinished(() => simulator.close());
  simulator.directory.addSubscription(subscription, tenant);
  const owner = { tenant, objectId: "owner", appId: "owner" };
  simulator.roles.makeOwner(owner);
  const asker = isOwner ? owner : { tenant, objectId: "nobody", appId: "nobody" };
  const path = `${about}/providers/Microsoft.Network/unregister?api-version=2021-04-01`;
  const authorization = `Bearer ${simulator.directory.tokenFor(owner)}`;
  if (unregistered)
    await fetch(simulator.url + path, { method: "POST", headers: { authorization } });
  const arm = new Arm({
    cloud: customCloud({ resourceManager: simulator.url }),
    credential: { identity: "x", token: async () => simulator.directory.tokenFor(asker) },
  });
  onTestFinished(() => arm.close());
  const { signal } = new AbortController();
  const reading = arm.for({ priority: "change", signal, mayWrite: () => false });
  return providerFindings(reading, world, subscription);
}

test("a subscription in which Microsoft.Network is registered is in order", async () => {
  expect(await findings(none)).toMatchObject([{ about, result: "ok" }]);
});

test("one in which it is not is wrong, and the remedy registers it", async () => {
  expect(await findings(none, { unregistered: true })).toMatchObject([
    {
      about,
      result: "failed",
      found: expect.stringContaining("is Unregistered"),
      remedy: `Register it: az provider register --namespace Microsoft.Network --subscription ${subscription}`,
    },
  ]);
});

test("who may not read it is told so, unless there are networks: then it was registered", async () => {
  expect(await findings(none, { isOwner: false })).toMatchObject([
    { result: "not checked", remedy: expect.stringContaining("providers/read") },
  ]);
  const home = `${about}/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/v`;
  const azure = { ...none.azure, networks: [network(home, "10.0.0.0/16", [])] };
  expect(await findings({ ...none, azure }, { isOwner: false })).toEqual([]);
});
