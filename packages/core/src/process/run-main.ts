import { describeError, exitCodes } from "./tell.ts";

/**
 * Does the work of a program to its end, tells a person what went wrong, and gives the exit code. Where nobody reads any more
 * what it says it ends, unless it is said that it goes on.
 */
export async function runMain(work: () => Promise<void>): Promise<number> {
  const endUnheard = (code: number) => {
    if (!continues) process.exit(code);
  };
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // The reader of a pipe has seen enough: `postern --help | head -1` is no error.
    if (error.code !== "EPIPE") throw error;
    endUnheard(exitCodes.ok);
  });
  process.stderr.on("error", () => endUnheard(ending));
  process.on("uncaughtException", (error) => process.exit(fail(error)));
  try {
    await work();
    // A command may have answered by its exit code already, as plan does with 2.
    return Number(process.exitCode ?? exitCodes.ok);
  } catch (error) {
    return fail(error);
  }
}

/** From now on it goes on to its end where nobody reads any more what it says: it changes something, or has something to take back. */
export function goOnUnheard(): void {
  continues = true;
}

let continues = false;

/** How it ends where what it has to tell cannot be told. */
let ending: number = exitCodes.failed;

function fail(error: unknown): number {
  const { text, exitCode } = describeError(error);
  ending = exitCode;
  try {
    process.stderr.write(`${text}\n`);
  } catch {
    // A full disk: there is no one else to tell.
  }
  return exitCode;
}
