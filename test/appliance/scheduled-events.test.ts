import { deregisterFromBackendPool } from "postern/appliance/deregister.ts";
import { discoverGWLBBackendPool } from "postern/appliance/discover.ts";
import { registerWithBackendPool } from "postern/appliance/register.ts";
import { watchScheduledEvents } from "postern/appliance/scheduled-events.ts";
import { expect, test } from "vitest";
import { gatewayWorld } from "./gateway-world.ts";

test.each(["Terminate", "Preempt"] as const)(
  "a %s of this instance makes it leave before it agrees; a sibling's does not",
  async (type) => {
    const world = await gatewayWorld();
    const [first = "", second = ""] = world.scaleSet("ss", "Flexible", 2);
    const one = await world.agent(first);
    const other = await world.agent(second);
    const join = async ({ ctx }: typeof one) => {
      const config = await discoverGWLBBackendPool(ctx, "inspect");
      await registerWithBackendPool(ctx, config);
      return config;
    };
    const [config, sibling] = await world.until(Promise.all([join(one), join(other)]));
    const imds = await world.simulator.machines.find(first);

    let startedWhenLeft: boolean | undefined = true;
    let id = "";
    const ended = watchScheduledEvents(one.ctx, config, async () => {
      await deregisterFromBackendPool(one.ctx, config);
      startedWhenLeft = imds?.events.started(id);
    });
    let siblingLeft = false;
    const untouched = watchScheduledEvents(other.ctx, sibling, async () => {
      siblingLeft = true;
    });
    await world.simulator.advance(5_000);
    expect(world.members()).toHaveLength(2);

    id = imds?.schedule({ type, resources: [config.vmName] }) ?? "";
    expect(await world.until(ended)).toMatchObject({ id, type, started: false });
    expect(startedWhenLeft).toBe(false);
    expect(imds?.events.started(id)).toBe(true);
    expect(world.members()).toEqual([sibling.privateIP]);
    await world.simulator.advance(5_000);
    expect(siblingLeft).toBe(false);
    other.stop();
    expect(await world.until(untouched)).toBeUndefined();
  },
);

test("what cannot leave does not agree, and tries again", async () => {
  const world = await gatewayWorld();
  const id = world.machine("fw");
  const { ctx } = await world.agent(id);
  const config = await world.until(discoverGWLBBackendPool(ctx, "inspect"));
  await world.until(registerWithBackendPool(ctx, config));
  const imds = await world.simulator.machines.find(id);
  const event = imds?.schedule({ type: "Terminate" }) ?? "";
  let tries = 0;
  const agreedAt: (boolean | undefined)[] = [];
  const ended = watchScheduledEvents(ctx, config, async () => {
    agreedAt.push(imds?.events.started(event));
    tries++;
    await deregisterFromBackendPool(ctx, config, tries === 1 ? { limitMs: 0 } : {});
  });
  await world.until(ended);
  expect(agreedAt).toEqual([false, false]);
  expect(imds?.events.started(event)).toBe(true);
  expect(world.members()).toEqual([]);
});
