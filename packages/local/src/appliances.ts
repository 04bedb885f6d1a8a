import type { Simulator } from "@postern/azure-simulator/simulator.ts";
import { type Clock, wait } from "@postern/core/clock.ts";
import { isExplained } from "@postern/core/failure.ts";
import { lastSegment } from "@postern/core/resource-id.ts";
import { type ApplianceContext, applianceContext } from "postern/appliance/context.ts";
import { apply, cleanup } from "postern/appliance/lifecycle.ts";
import { watchScheduledEvents } from "postern/appliance/scheduled-events.ts";
import { watchRegistration } from "postern/appliance/watch.ts";
import { customCloud } from "postern/azure/clouds.ts";
import type { ScenarioAppliance } from "./scenario.ts";
import { scenarioError } from "./scenario-node.ts";

/** An appliance as it is now. */
export interface Appliance {
  name: string;
  pool: string;
  state: "joining" | "member" | "left" | "failed";
  /** Why it failed. */
  message?: string;
}

/** The agents of this machine. */
export interface Appliances {
  list(): readonly Appliance[];
  /** They stop as a machine does that loses its power: nobody leaves the pool. */
  stop(): Promise<void>;
}

/** As systemd starts an agent again that has failed. */
const retryMs = 10_000;

/** Run an agent for each appliance, against the metadata service of its machine. */
export async function startAppliances(
  wanted: readonly ScenarioAppliance[],
  simulator: Simulator,
  clock: Clock,
): Promise<Appliances> {
  const ending = new AbortController();
  const cloud = customCloud({ resourceManager: simulator.url });
  // All are found before the first one starts: nothing is left at work where one is not there.
  const found = await Promise.all(
    wanted.map(async ({ machine, pool, at }) => {
      const imds = await simulator.machines.find(machine);
      if (!imds) throw scenarioError(at, `machine ${machine} does not exist in azure`);
      return { machine, pool, imdsHost: imds.url };
    }),
  );
  const started = found.map(({ machine, pool, imdsHost }) => {
    const ctx = applianceContext({ imdsHost, cloud, clock, signal: ending.signal });
    const appliance: Appliance = { name: lastSegment(machine), pool, state: "joining" };
    return { ctx, appliance };
  });
  const ended = Promise.all(started.map(({ ctx, appliance }) => run(ctx, appliance)));
  // A stop tells of it.
  ended.catch(() => undefined);
  return {
    list: () => started.map(({ appliance }) => appliance),
    async stop() {
      ending.abort(new Error("stopping"));
      await ended;
    },
  };
}

async function run(ctx: ApplianceContext, appliance: Appliance): Promise<void> {
  const { clock, signal } = ctx;
  while (!signal.aborted && appliance.state !== "left") {
    try {
      await joinAndStay(ctx, appliance);
    } catch (error) {
      if (signal.aborted) break;
      appliance.state = "failed";
      appliance.message = isExplained(error) ? error.explain().message : String(error);
      await wait(clock, retryMs, signal).catch(() => undefined);
    }
  }
  ctx.close();
}

/** What `postern agent run` does, save that a stop of local mode is no reason to leave. */
async function joinAndStay(ctx: ApplianceContext, appliance: Appliance): Promise<void> {
  const applied = await apply(ctx, appliance.pool, { tunnel: "none" });
  appliance.state = "member";
  delete appliance.message;
  const leaving = new AbortController();
  const { config } = applied;
  const until = ctx.until(AbortSignal.any([ctx.signal, leaving.signal]));
  const failed = new AbortController();
  const watching = watchRegistration(until, config);
  try {
    const [event] = await Promise.all([
      watchScheduledEvents(
        ctx.until(AbortSignal.any([ctx.signal, failed.signal])),
        config,
        async () => {
          leaving.abort(new Error("leaving"));
          await watching;
          await cleanup(ctx, applied);
        },
      ),
      watching,
    ]);
    if (event !== undefined) appliance.state = "left";
  } catch (error) {
    failed.abort(error);
    leaving.abort(error);
    throw error;
  }
}
