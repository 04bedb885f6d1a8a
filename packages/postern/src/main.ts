import { fold, terminalWidth } from "@postern/core/process/fold.ts";
import { nearest } from "@postern/core/process/nearest.ts";
import { runMain } from "@postern/core/process/run-main.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { programs } from "./programs.ts";

/** Runs the program that the first argument names, to its end, and gives the exit code. */
export function main(args: string[]): Promise<number> {
  return runMain(() => dispatch(args));
}

async function dispatch([name = "help", ...rest]: string[]): Promise<void> {
  if (name === "-V" || name === "--version") return dispatch(["version", ...rest]);
  if (name === "help" && rest[0] !== undefined) return dispatch([...rest, "--help"]);
  if (name === "help" || name === "-h" || name === "--help") {
    process.stdout.write(fold(help(), terminalWidth()));
    return;
  }
  // For the scripts of shells: nobody types it, and help does not name it.
  if (name === "__complete") return (await import("./cli/complete.ts")).complete(rest);
  const program = Object.hasOwn(programs, name) ? programs[name] : undefined;
  if (program === undefined) throw unknown(name);
  const loaded = await program.load();
  if ("program" in loaded) return loaded.program(rest);
  const { runProgram } = await import("@postern/core/process/run-program.ts");
  await runProgram(`postern ${name}`, loaded.command(), rest);
}

function unknown(name: string): UsageError {
  const [kind, known] = name.startsWith("-")
    ? ["option", ["--help", "--version"]]
    : ["command", [...Object.keys(programs), "help"]];
  const meant = nearest(name, known);
  const hint = meant ? `did you mean '${meant}'?` : `use one of ${known.join(", ")}`;
  return new UsageError(`unknown ${kind} '${name}': ${hint} (see postern --help)`);
}

function help(): string {
  const width = Math.max(...Object.keys(programs).map((name) => name.length));
  const groups = Map.groupBy(Object.entries(programs), ([, { group }]) => group);
  const blocks = [...groups].map(([group, all]) =>
    [`${group}:`, ...all.map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`)].join(
      "\n",
    ),
  );
  return `Usage: postern <command> [options]

Private connectivity for Kubernetes control planes on Azure.

${blocks.join("\n\n")}

Options:
  -h, --help     print this help, or after a command the help of that command
  -V, --version  print the version

Example:
  $ postern local
`;
}
