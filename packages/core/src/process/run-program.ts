import { type Command, CommanderError } from "commander";
import { UsageError } from "./usage-error.ts";

/** Parses the arguments with a program's command, as it is typed, and runs it to its end. What it throws is for `tell` in tell.ts. */
export async function runProgram(typed: string, program: Command, args: string[]): Promise<void> {
  program.name(typed);
  everyCommand(program).forEach(quiet);
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return; // help was asked for, and printed
    throw new UsageError(`${clause(error.message)} (see ${typed} --help)`, { cause: error });
  }
}

function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

/** Commander ends the process and prints in its own words unless told not to. */
function quiet(command: Command): void {
  command.exitOverride().configureOutput({ outputError: () => undefined });
}

/** `error: unknown option '--nmae'\n(Did you mean --name?)` becomes one plain clause. */
function clause(message: string): string {
  return message
    .replace(/^error: /, "")
    .replace(/\n\(Did you mean (.+)\?\)$/, ": did you mean '$1'?")
    .replace(/\.$/, "");
}
