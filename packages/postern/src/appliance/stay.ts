import type { ApplianceContext } from "./context.ts";
import { type Applied, cleanup } from "./lifecycle.ts";
import { type EndingEvent, watchScheduledEvents } from "./scheduled-events.ts";
import { reportPackets } from "./tunnel-links.ts";
import { type WatchOptions, watchRegistration } from "./watch.ts";

/** How an appliance stays. */
export interface StayOptions extends WatchOptions {
  /** How long leaving may take in all; see `cleanup`. */
  leaveMs?: number | undefined;
  /** Whether to look for events that end this machine; it is done if nothing is said. */
  events?: boolean | undefined;
  /** Told when it begins to leave. */
  leaving?: (() => void) | undefined;
}

/** Why an appliance left: the signal, or what Azure said. */
export type Left = { because: "stopped" } | { because: "event"; event: EndingEvent };

/** A preempted machine has 30 s for everything: https://learn.microsoft.com/azure/virtual-machines/spot-vms */
const preemptDrainMs = 5_000;

/**
 * Stay in the pool, registered again where somebody removes it, until the context's signal or an event that ends this
 * machine; then leave. What looks after the registration has ended before it leaves, so that it cannot come back. Where the
 * signal comes while it leaves for an event, it goes on leaving, and agrees to the event as it would have. Where it cannot
 * leave for an event and Azure withdraws that, it throws the error: whoever starts it again joins again.
 */
export async function stayInBackendPool(
  ctx: ApplianceContext,
  applied: Applied,
  options: StayOptions = {},
): Promise<Left> {
  const { leaveMs: limitMs } = options;
  const ending = new AbortController();
  const failed = new AbortController();
  const until = ctx.until(AbortSignal.any([ctx.signal, ending.signal]));
  const onCheck = async (registered: boolean) => {
    await options.onCheck?.(registered);
    await reportPackets(ctx, applied.links);
  };
  const watching = watchRegistration(until, applied.config, { ...options, onCheck });
  const leave = async (mostDrainMs?: number) => {
    // A second try, after one that failed, has nobody left to wait for.
    const again = ending.signal.aborted;
    if (!again) options.leaving?.();
    ending.abort(new Error("leaving"));
    await watching;
    await cleanup(ctx, applied, { limitMs, mostDrainMs: again ? 0 : mostDrainMs });
  };
  const events =
    options.events === false
      ? aborted(ctx.signal)
      : watchScheduledEvents(
          ctx.until(AbortSignal.any([ctx.signal, failed.signal])),
          applied.config,
          ({ type }) => leave(type === "Preempt" ? preemptDrainMs : undefined),
        );
  let event: EndingEvent | undefined;
  try {
    event = await Promise.race([events, failureOf(watching)]);
  } catch (error) {
    // A bug, or it could not leave for an event that was withdrawn. Who cannot look after its registration must not keep it.
    failed.abort(error);
    const again = ending.signal.aborted;
    ending.abort(error);
    await watching.catch(() => undefined);
    const mostDrainMs = again ? 0 : undefined;
    await cleanup(ctx, applied, { limitMs, mostDrainMs }).catch(() => undefined);
    throw error;
  }
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
