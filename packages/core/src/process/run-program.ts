import { type Command, CommanderError } from "commander";
import { fold, terminalWidth } from "./fold.ts";
import { UsageError } from "./usage-error.ts";

/** Parses the arguments with a program's command, as it is typed, and runs it to its end. What it throws is for `tell` in tell.ts. */
export async function runProgram(typed: string, program: Command, args: string[]): Promise<void> {
  program.name(typed);
  let failed = program;
  for (const command of everyCommand(program))
    quiet(command, () => {
      failed = command;
    });
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help was asked for, or a group of commands was called without one of them: it is printed.
    if (error.exitCode === 0 || error.code === "commander.help") return;
    const help = `${pathOf(failed)} --help`;
    throw new UsageError(`${clause(error.message)} (see ${help})`, { cause: error });
  }
}

/** A command as it is typed, after the commands that it belongs to. */
function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

/** Commander ends the process and prints in its own words unless told not to. It wraps only a part of its help. */
function quiet(command: Command, onFailure: () => void): void {
  const write = (text: string) => void process.stdout.write(fold(text, terminalWidth()));
  command
    .exitOverride((error) => {
      onFailure();
      throw error;
    })
    .configureOutput({ writeOut: write, writeErr: write, outputError: () => undefined });
}

/** `error: unknown option '--nmae'\n(Did you mean --name?)` becomes one plain clause. */
function clause(message: string): string {
  return message
    .replace(/^error: /, "")
    .replace(/\n\(Did you mean (.+)\?\)$/, ": did you mean '$1'?")
    .replace(/\.$/, "");
}
