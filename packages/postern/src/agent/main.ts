import { goOnUnheard, runMain } from "@postern/core/process/run-main.ts";
import { program } from "./program.ts";

/**
 * `postern agent` without the other programs, for bin/postern.js: how soon an appliance answers probes after its machine has
 * booted depends on how much is loaded first. The published package has this and all that it imports in one file.
 */
export async function main([, ...args]: string[]): Promise<number> {
  // A log that nobody reads any more is no reason to leave an entry in the pool or a link on the machine.
  goOnUnheard();
  const code = await runMain(() => program(args));
  // A token that is still being asked for, for nobody, would hold the end up for a minute.
  process.exit(code);
}
