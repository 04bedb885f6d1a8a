import { ManualClock as SteppedClock } from "@postern/azure-simulator/control/manual-clock.ts";

/** The simulator's own manual clock, which can also wait for what its timers start. */
export class ManualClock extends SteppedClock {
  /** Move on, calling what becomes due in its order and letting what it starts settle. */
  async move(ms: number): Promise<void> {
    const end = this.now() + ms;
    do await settle();
    while (this.step(end));
    await settle();
  }
}

/** Let everything that is ready to go on do so. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
  await new Promise((resolve) => setImmediate(resolve));
}
