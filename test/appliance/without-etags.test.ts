import { request } from "node:http";
import { discoverGWLBBackendPool } from "postern/appliance/discover.ts";
import { registerWithBackendPool } from "postern/appliance/register.ts";
import { watchRegistration } from "postern/appliance/watch.ts";
import { customCloud } from "postern/azure/clouds.ts";
import { expect, test } from "vitest";
import { serve } from "../loopback.ts";
import { gatewayWorld } from "./gateway-world.ts";

test("where Azure ignored If-Match on pools, whoever was overwritten comes back", async () => {
  const world = await gatewayWorld();
  const { simulator } = world;
  // No recording shows 412 for a write to a pool: should Azure take all of them, nobody may stay away for good.
  const { url } = await serve((seen, response) => {
    const { "if-match": _ifMatch, host: _host, ...headers } = seen.headers;
    const onward = request(
      `${simulator.url}${seen.url}`,
      { method: seen.method, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on("error", () => response.destroy());
    onward.end(seen.body);
  });
  const cloud = customCloud({ resourceManager: url, audience: simulator.url });
  const ids = Array.from({ length: 12 }, (_, at) => world.machine(`fw${at}`));
  const agents = await Promise.all(ids.map((id) => world.agent(id, { cloud })));
  const configs = await world.until(
    Promise.all(agents.map(({ ctx }) => discoverGWLBBackendPool(ctx, "inspect"))),
  );
  simulator.addFault({ match: {}, effect: { kind: "slow", ms: 40 } });
  const joined = configs.map(async (config, at) => {
    const ctx = agents[at]?.ctx ?? expect.fail("no agent");
    await registerWithBackendPool(ctx, config);
    return { watching: watchRegistration(ctx, config) };
  });
  await world.until(Promise.all(joined));
  await simulator.advance(600_000);
  expect(world.members().sort()).toEqual(configs.map(({ privateIP }) => privateIP).sort());
  const told = agents.map(({ metrics }) => metrics.text()).join("");
  expect(simulator.log.entries({ status: 412 })).toEqual([]);
  expect(told).toMatch(/_lost_total [1-9]/);
  for (const agent of agents) agent.stop();
  for (const each of joined) await (await each).watching;
});
