import { realClock, wait } from "@postern/core/clock.ts";
import type { ArmClient } from "../azure/arm.ts";
import type { Write } from "../azure/operations.ts";

/** See a write of Azure to its end: a command has nothing else to do meanwhile. Ctrl-C leaves it running in Azure. */
export async function finish<T>(
  arm: ArmClient,
  write: Write<T>,
  signal: AbortSignal,
): Promise<void> {
  if (write.state === "done") return;
  let { retryAfterMs } = write;
  for (;;) {
    await wait(realClock, retryAfterMs, signal);
    const now = await arm.check(write.id);
    if (now === undefined || now.state === "done") return;
    if (now.state === "failed") throw now.error;
    retryAfterMs = now.retryAfterMs;
  }
}
