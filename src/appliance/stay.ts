import type { ApplianceContext } from "./context.ts";
import { type Applied, cleanup } from "./lifecycle.ts";
import { type EndingEvent, watchScheduledEvents } from "./scheduled-events.ts";
import { type WatchOptions, watchRegistration } from "./watch.ts";

/** How an appliance stays. */
export interface StayOptions extends WatchOptions {
  /** Whether to look for events that end this machine; it is done if nothing is said. */
  events?: boolean | undefined;
}

/** Why an appliance left: the signal, or what Azure said. */
export type Left = { because: "stopped" } | { because: "event"; event: EndingEvent };

/** A preempted machine has 30 s for everything: https://learn.microsoft.com/azure/virtual-machines/spot-vms */
const preemptDrainMs = 5_000;

/**
 * Stay in the pool, registered again where somebody removes it, until the context's signal or an event that ends this
 * machine; then leave. What looks after the registration has ended before it leaves, so that it cannot come back.
 */
export async function stayInBackendPool(
  ctx: ApplianceContext,
  applied: Applied,
  options: StayOptions = {},
): Promise<Left> {
  const leaving = new AbortController();
  const until = ctx.until(AbortSignal.any([ctx.signal, leaving.signal]));
  const watching = watchRegistration(until, applied.config, options);
  const leave = async (mostDrainMs?: number) => {
    leaving.abort(new Error("leaving"));
    await watching;
    await cleanup(ctx, applied, { mostDrainMs });
  };
  const events =
    options.events === false
      ? aborted(ctx.signal)
      : watchScheduledEvents(ctx, applied.config, ({ type }) =>
          leave(type === "Preempt" ? preemptDrainMs : undefined),
        );
  const event = await Promise.race([events, failureOf(watching)]);
  if (event !== undefined) return { because: "event", event };
  await leave();
  return { because: "stopped" };
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}

/** Only a bug ends the watch with an error. */
function failureOf(watching: Promise<void>): Promise<never> {
  return new Promise((_resolve, reject) => {
    watching.catch(reject);
  });
}
