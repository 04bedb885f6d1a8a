import { parseResourceId } from "@postern/core/resource-id.ts";
import { expect, test } from "vitest";
import { ManualClock } from "../../../../../test/manual-clock.ts";
import type { ArmClient } from "../../azure/arm.ts";
import { ReadCache } from "../../azure/read-cache.ts";
import { observeZone } from "./observe.ts";

const zones =
  "/subscriptions/22222222-2222-4222-8222-222222222222/resourceGroups/guest/providers/Microsoft.Network/privateDnsZones";
const zone = `${zones}/one.hypershift.local`;
const link = `${zone}/virtualNetworkLinks/private-router-vnet-link`;

test("a link that does not resolve yet is read again although it is cached", async () => {
  const clock = new ManualClock(0);
  const readCache = new ReadCache({ clock });
  let virtualNetworkLinkState = "InProgress";
  const paths: string[] = [];
  const arm = {
    readCache,
    prove: async () => undefined,
    check: async () => undefined,
    request: async (_method: string, path: string) => {
      paths.push(path.slice(zones.length));
      const one = { id: link, properties: { virtualNetworkLinkState } };
      if (path === link) return { status: 200, headers: {}, body: one };
      if (path === zone) return { status: 200, headers: {}, body: { id: zone, properties: {} } };
      const value = path.endsWith("/virtualNetworkLinks") ? [one] : [];
      return { status: 200, headers: {}, body: { value } };
    },
  } as unknown as ArmClient;
  const observe = async () => {
    const reads = {
      reconcile: { failedReads: [] },
      drift: false,
      maxAgeMs: 600_000,
      countedAgeMs: 600_000,
      isDue: () => false,
    };
    const observed = await observeZone({ id: parseResourceId(zone) }, arm, reads);
    return observed.links.map(({ observation }) =>
      observation.state === "exists"
        ? observation.resource.properties.virtualNetworkLinkState
        : observation.state,
    );
  };
  expect(await observe()).toEqual(["InProgress"]);
  await clock.move(10_000);
  virtualNetworkLinkState = "Completed";
  expect(await observe()).toEqual(["Completed"]);
  paths.length = 0;
  await clock.move(10_000);
  expect(await observe()).toEqual(["Completed"]);
  expect(paths).toEqual([]);
});
