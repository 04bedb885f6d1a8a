import { runMain } from "@postern/core/process/run-main.ts";
import { runProgram } from "@postern/core/process/run-program.ts";
import { command } from "./command.ts";

/** `azure-simulator`, which is `postern simulator` without the rest of Postern. */
export function main(args: string[]): Promise<number> {
  return runMain(() => runProgram("azure-simulator", command(), args));
}
