import { wait } from "@postern/core/clock.ts";
import { isExplained } from "@postern/core/failure.ts";
import type { ApplianceContext } from "./context.ts";
import type { GWLBConfig } from "./gwlb-config.ts";
import {
  isRegisteredWithBackendPool,
  type RegisterOptions,
  registerWithBackendPool,
} from "./register.ts";

/** How to watch. */
export interface WatchOptions extends RegisterOptions {
  /** How often to look, on average: a minute, so that 200 agents of one identity take a seventh of what it may read. */
  everyMs?: number;
  /** Called after each check. */
  onCheck?: ((registered: boolean) => void | Promise<void>) | undefined;
}

const usualMs = 60_000;

/**
 * Look now and then whether this machine is still in the pool, and put it back where somebody took it out. It ends when
 * the context's signal says so, and never because something failed: the next look may see better.
 */
export async function watchRegistration(
  ctx: ApplianceContext,
  config: GWLBConfig,
  options: WatchOptions = {},
): Promise<void> {
  const { everyMs = usualMs, onCheck } = options;
  const { clock, signal, random, metrics, log } = ctx;
  let missing = false;
  while (!signal.aborted) {
    try {
      // Spread out, so that agents that started together do not ask together for ever.
      await wait(clock, everyMs * (0.75 + random() / 2), signal);
      const is = await isRegisteredWithBackendPool(ctx, config);
      if (!is && !missing) {
        missing = true;
        metrics.missing();
        log.warn({ pool: config.backendPoolResourceId }, "somebody has removed the registration");
      }
      if (!is) await registerWithBackendPool(ctx, config, options);
      if (missing) metrics.repaired();
      missing = false;
      await onCheck?.(is);
    } catch (error) {
      if (signal.aborted) return;
      if (!isExplained(error)) throw error;
      const { reason, message } = error.explain();
      log.warn({ code: reason, error: message }, "the registration could not be checked");
    }
  }
}
