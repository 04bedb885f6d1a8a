import type { KubeObject } from "@postern/core/kind.ts";
import { expect, test } from "vitest";
import { Caches } from "../../kube/caches.ts";
import { linkFeature } from "./feature.ts";

/** Whether a cluster wakes anybody: whoever is asked for the links of a cluster is about to wake them. */
function waking() {
  const caches = new Caches({ client: undefined as never, log: undefined as never });
  const armClients = { managementGroup: "/subscriptions/s/resourceGroups/g" } as never;
  const options = { armClients, natPrefixLength: 24, installation: "0a1b2c3d" };
  const made = linkFeature({ ...options, natSubnets: "shared" })({ caches } as never);
  const [cluster] = made.watches ?? [];
  const links = caches.all().find(({ kind }) => kind.kind === "AzurePrivateLinkService");
  let asked = 0;
  const byIndex = () => {
    asked++;
    return [];
  };
  Object.assign(links as object, { byIndex });
  return (object: object) => {
    const before = asked;
    cluster?.keys(object as KubeObject);
    return asked > before;
  };
}

test("a link is woken by what its cluster is to be, and not by what is said of it", () => {
  const wakes = waking();
  const metadata = { namespace: "clusters", name: "one", uid: "1" };
  const spec = { clusterID: "a" };
  expect(wakes({ metadata, spec })).toBe(true);
  expect(wakes({ metadata, spec, status: { conditions: [] } })).toBe(false);
  expect(wakes({ metadata, spec: { ...spec, pausedUntil: "true" } })).toBe(true);
  const annotations = { "postern.io/foreign-endpoints": "refuse" };
  expect(wakes({ metadata: { ...metadata, annotations }, spec })).toBe(true);
});
