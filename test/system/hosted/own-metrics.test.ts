import { Registry } from "@prometheus-io/client";
import { Arm } from "postern/azure/arm.ts";
import { customCloud } from "postern/azure/clouds.ts";
import { silentLog } from "postern/kube/log.ts";
import { Metrics } from "postern/kube/metrics.ts";
import { startOwnMetrics } from "postern/operator/own-metrics.ts";
import { expect, onTestFinished, test } from "vitest";
import { managementGroup } from "./azure.ts";
import { hostedClusterObject } from "./objects.ts";
import { wholeChain } from "./whole-chain.ts";
import { describeHosted } from "./world.ts";

/** The value of a series; undefined where there is none. */
function valueIn(text: string, series: string): number | undefined {
  const line = text.split("\n").find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

describeHosted("the metrics of clusters", (start) => {
  test("follow a cluster from its creation to its deletion", async () => {
    const registry = new Registry();
    const metrics = new Metrics();
    const stops: (() => void)[] = [];
    const world = await start({
      metrics,
      features: wholeChain,
      stopped: true,
      onRuntime(runtime) {
        const { azure } = world;
        const cloud = customCloud({ resourceManager: azure.simulator.url });
        const arm = new Arm({ cloud, credential: azure.operator, clock: world.clock });
        const stop = startOwnMetrics(registry, {
          runtime,
          azure: { arm },
          clock: world.clock,
          log: silentLog,
          management: { managementGroup, installation: "0f0f0f0f" },
        });
        stops.push(stop, () => arm.close());
      },
    });
    onTestFinished(() => {
      for (const stop of stops) stop();
    });
    await world.start();
    await world.cluster.request("POST", "/api/v1/namespaces", { metadata: { name: "clusters" } });
    const health = (text: string, state: string) =>
      valueIn(
        text,
        `postern_cluster_health{kind="HostedCluster",namespace="clusters",name="metered",health="${state}"}`,
      );
    const hosted = await world.make(hostedClusterObject("clusters", "metered"));
    const available = async () =>
      world.condition(
        await world.get("HostedCluster", "clusters", "metered"),
        "AzurePrivateLinkServiceAvailable",
      );
    await world.until(
      "it is not available",
      async () => (await available()) === "True AzureSuccess",
    );
    await world.advance(11 * 60_000);

    const text = await registry.metrics();
    expect(health(text, "Healthy")).toBe(1);
    expect(health(text, "Unavailable")).toBe(0);
    expect(
      valueIn(text, `postern_cluster_time_to_available_seconds_count{kind="HostedCluster"}`),
    ).toBe(1);
    const state = `{kind="AzurePrivateLinkService",namespace="clusters-metered",name="private-router",state="Approved"}`;
    expect(valueIn(text, `postern_connection_state${state}`)).toBe(1);
    expect(text).toMatch(/^postern_load_balancer_link_services\{load_balancer="[^"]+"\} 1$/m);
    expect(text).toMatch(/^postern_nat_subnet_free_addresses\{subnet="[^"]+"\} \d+$/m);
    expect(valueIn(text, "postern_orphaned_link_services")).toBe(0);
    expect(text).toMatch(
      /^postern_azure_budget_remaining\{subscription="[^"]+",kind="reads"\} \d/m,
    );

    const before = await metrics.registry.metrics();
    const corrected = (all: string) =>
      [...all.matchAll(/^postern_drift_corrected_total\{.*\} (\d+)$/gm)].reduce(
        (sum, [, count]) => sum + Number(count),
        0,
      );
    const [endpoint = ""] = world.azure.ids("privateendpoints");
    world.azure.simulator.drop(endpoint);
    await world.advance(15 * 60_000);
    expect(corrected(await metrics.registry.metrics())).toBeGreaterThan(corrected(before));

    await world.remove(hosted);
    await world.until(
      "it is not deleted",
      async () => (await world.get("HostedCluster", "clusters", "metered")) === undefined,
    );
    expect(health(await registry.metrics(), "Healthy")).toBeUndefined();
  });
});
