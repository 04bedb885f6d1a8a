import { Registry } from "@prometheus-io/client";
import { DnsMetrics } from "postern/cluster-api/dns/azure/metrics.ts";
import { expect, test } from "vitest";
import { describeHosted, type HostedWorld } from "../hosted/world.ts";
import {
  baseZone,
  deleteCluster,
  groupOf,
  makeWorkload,
  managementGroup,
  namesIn,
  privateZone,
  publicZone,
  startDns,
  valuesAt,
} from "./dns-world.ts";
import { identityObject } from "./objects.ts";

const prefix = "azure-private-endpoint-operator.giantswarm.io/private-link";
const get = (world: HostedWorld) => world.get("AzureCluster", "org", "wc1");
const isTold = (world: HostedWorld, desired = "True GSDNSZonesCreated") =>
  world.until(
    `wc1 says ${desired}`,
    async () => world.condition(await get(world), "GSDNSZoneReady") === desired,
  );
const there = privateZone(managementGroup, "wc1");

describeHosted("what the operator for names before us did, or could not", (startWorld) => {
  test("the endpoint of a cluster that lists no links has the name of its chart, and of one that does that of the link", async () => {
    const world = await startDns(startWorld);
    const { azureCluster } = await makeWorkload(world, "wc1");
    await isTold(world);
    expect(world.azure.ids("/privateendpoints/wc1-api-privatelink-")).toHaveLength(1);
    expect(namesIn(world, there)).toEqual(["a api", "a apiserver"]);
    const natIPConfigurations = [{ allocationMethod: "Dynamic", subnet: "nodes" }];
    const lbFrontendIPConfigNames = ["front"];
    const privateLinks = [{ name: "mine", natIPConfigurations, lbFrontendIPConfigNames }];
    await world.patch(azureCluster, { spec: { networkSpec: { apiServerLB: { privateLinks } } } });
    await world.until("the zone is gone", () => world.azure.at(there) === undefined);
  });

  test.each([
    ["the public zone", `${publicZone(groupOf("wc1"), "wc1")}*`],
    ["the zone in the management network", `${there.slice(0, there.lastIndexOf("/"))}*`],
    ["the base zone", `${baseZone}*`],
  ])(
    "a living cluster of which %s cannot be read is told, keeps its names, and goes on",
    async (_, path) => {
      const world = await startDns(startWorld);
      await makeWorkload(world, "wc1");
      await isTold(world);
      const before = world.azure.ids("zones/");
      const fault = world.azure.simulator.addFault({
        match: { method: "GET", path },
        effect: {
          kind: "answer",
          status: 403,
          body: { error: { code: "AuthorizationFailed", message: "The client may not do that." } },
        },
      });
      await isTold(world, "False AuthorizationFailed");
      expect(world.azure.ids("zones/")).toEqual(before);
      world.azure.simulator.faults.remove(fault);
      await isTold(world);
      expect(world.azure.ids("zones/")).toEqual(before);
    },
  );

  test("the metrics of a zone name the tenant of the identity by which it is reached", async () => {
    const registry = new Registry();
    const world = await startDns(startWorld, { metrics: new DnsMetrics(registry) });
    await world.make(identityObject("org", "one", { tenantID: "tenant-wc" }));
    await world.make(identityObject("org-mc", "one", { tenantID: "tenant-mc" }));
    await makeWorkload(world, "wc1");
    await isTold(world);
    const lines = (await registry.metrics()).split("\n");
    const tenants = lines.flatMap((line) => {
      const found = /zone_info.*zone="([^.]+).*type="(\w+)".*tenant_id="([^"]*)"/.exec(line);
      return found ? [found.slice(1).join(" ")] : [];
    });
    // No identity says the tenant of the base zone.
    expect(tenants.sort()).toEqual([
      "example public ",
      "mc private tenant-wc",
      "wc1 private tenant-mc",
      "wc1 public tenant-wc",
    ]);
  });

  test("an annotation that goes before its cluster does not leave a zone behind", async () => {
    const world = await startDns(startWorld);
    const annotations = {
      [`${prefix}-apiserver-ip`]: "10.0.5.5",
      [`${prefix}-mc-ingress-ip`]: "10.1.5.5",
    };
    const before = world.azure.ids("zones/");
    const made = await makeWorkload(world, "wc1", { annotations });
    await isTold(world);
    expect(valuesAt(world, there, "A", "apiserver")).toHaveLength(1);
    await world.stop();
    const none = Object.fromEntries(Object.keys(annotations).map((name) => [name, null]));
    await world.patch(made.azureCluster, { metadata: { annotations: none } });
    await deleteCluster(world, made);
    await world.start();
    await world.until("it is let go", async () => (await get(world)) === undefined);
    expect(world.azure.ids("zones/")).toEqual(before);
  });
});
