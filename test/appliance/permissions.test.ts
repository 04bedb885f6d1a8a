import { deregisterFromBackendPool } from "postern/appliance/deregister.ts";
import { discoverGWLBBackendPool } from "postern/appliance/discover.ts";
import { registerWithBackendPool } from "postern/appliance/register.ts";
import { expect, test } from "vitest";
import {
  agentActions,
  type GatewayWorld,
  gatewayWorld,
  interfaceActions,
  pool,
} from "./gateway-world.ts";

/** Every action that the simulator held against the rights of an identity. */
function watchActions({ simulator: { roles } }: GatewayWorld): Set<string> {
  const asked = new Set<string>();
  const allow = roles.allow.bind(roles);
  roles.allow = (asker, action, scope) => {
    asked.add(action.toLowerCase());
    return allow(asker, action, scope);
  };
  return asked;
}

/** A machine joins and leaves. */
async function comeAndGo(world: GatewayWorld, id: string): Promise<void> {
  const { ctx } = await world.agent(id);
  const config = await world.until(discoverGWLBBackendPool(ctx, "inspect"));
  expect(await world.until(registerWithBackendPool(ctx, config))).toMatchObject({ wrote: true });
  await world.until(deregisterFromBackendPool(ctx, config));
}

/** The operation is asked only why a write came to nothing, and here none does. */
const elsewhere = ["Microsoft.Network/locations/operations/read"];

const sorted = (actions: Iterable<string>) => [...actions].map((one) => one.toLowerCase()).sort();

test("the agent's role is enough for every kind of machine, and holds nothing that none needs", async () => {
  const world = await gatewayWorld({ actions: agentActions, operationMs: { "*": 10_000 } });
  const ids = [
    world.machine("fw"),
    ...world.scaleSet("uniform", "Uniform", 1),
    ...world.scaleSet("flexible", "Flexible", 1),
  ];
  const asked = watchActions(world);
  for (const id of ids) await comeAndGo(world, id);
  expect(world.members()).toEqual([]);
  expect(sorted([...asked, ...elsewhere])).toEqual(sorted(agentActions));
});

test("a pool of interfaces needs the second role too, and nothing else", async () => {
  const world = await gatewayWorld({ operationMs: { "*": 10_000 } });
  world.machine("there", { pools: [pool] });
  const id = world.machine("fw");
  const asked = watchActions(world);
  await comeAndGo(world, id);
  const more = [...asked].filter((action) => !sorted(agentActions).includes(action));
  expect(sorted(more)).toEqual(sorted(interfaceActions));
});
