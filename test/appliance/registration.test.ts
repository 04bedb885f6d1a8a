import { describe, expect, test } from "vitest";
import { deregisterFromBackendPool } from "../../src/appliance/deregister.ts";
import { discoverGWLBBackendPool } from "../../src/appliance/discover.ts";
import {
  isRegisteredWithBackendPool,
  registerWithBackendPool,
} from "../../src/appliance/register.ts";
import { balancer, gatewayWorld, network, pool, subscription } from "./gateway-world.ts";

describe("a machine of each kind", () => {
  test.each(["plain", "Uniform", "Flexible"] as const)(
    "a %s machine is found, joins by its address in at most nine requests, and leaves",
    async (kind) => {
      const world = await gatewayWorld();
      const id = kind === "plain" ? world.machine("fw") : world.scaleSet("ss", kind, 2)[1];
      const { ctx, metrics } = await world.agent(id ?? "");
      const joined = (async () => {
        const config = await discoverGWLBBackendPool(ctx, "inspect");
        return { config, registration: await registerWithBackendPool(ctx, config) };
      })();
      const { config, registration } = await world.until(joined);
      expect(world.simulator.log.entries().length).toBeLessThanOrEqual(9);
      expect(config).toMatchObject({
        subscriptionId: subscription,
        resourceGroup: "rg",
        location: "westeurope",
        resourceId: id,
        vnetResourceId: network,
        loadBalancerName: "gw",
        loadBalancerResourceId: balancer,
        backendPoolName: "inspect",
        backendPoolResourceId: pool,
        tunnels: [{ type: "Internal", port: 10800, identifier: 900 }],
        tunnelsAssumed: false,
        probe: {
          protocol: "Http",
          port: 8080,
          path: "/healthz",
          intervalSeconds: 5,
          threshold: 2,
        },
      });
      expect(registration).toMatchObject({ by: "address", wrote: true, settled: true, retries: 0 });
      expect(world.members()).toEqual([config.privateIP]);
      expect(metrics.text()).toContain("postern_agent_registered 1\n");

      expect(await world.until(isRegisteredWithBackendPool(ctx, config))).toBe(true);
      const left = await world.until(deregisterFromBackendPool(ctx, config));
      expect(left).toMatchObject({ state: "left", retries: 0 });
      expect(world.members()).toEqual([]);
      expect(metrics.text()).toContain("postern_agent_registered 0\n");
    },
  );
});
