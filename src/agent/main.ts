import { runMain } from "../cli/run-main.ts";
import { program } from "./program.ts";

/**
 * `postern agent` without the other programs, for bin/postern.js: how soon an appliance answers probes after its machine has
 * booted depends on how much is loaded first. The published package has this and all that it imports in one file.
 */
export function main([, ...args]: string[]): Promise<number> {
  return runMain(() => program(args));
}
