import type { Command } from "commander";
import { nearest } from "./cli/nearest.ts";
import { runMain } from "./cli/run-main.ts";
import { UsageError } from "./cli/usage-error.ts";

/** A program of Postern. It is loaded only when it is asked for, so that help and errors are instant. */
interface Program {
  summary: string;
  /** Its command, of commander; or the program itself, where it reads its own arguments. */
  load(): Promise<{ command(): Command } | { program(args: string[]): Promise<void> }>;
}

const programs: Record<string, Program> = {
  agent: {
    summary: "put an appliance behind a Gateway load balancer, and take it out",
    load: () => import("./agent/program.ts"),
  },
  local: {
    summary: "run everything on this machine, without Azure and without a cluster",
    load: () => import("./local/command.ts"),
  },
  operator: {
    summary: "run the controllers against a Kubernetes cluster and Azure",
    load: () => import("./operator/command.ts"),
  },
  plan: { summary: "say what would change in Azure, and why", load: () => import("./cli/plan.ts") },
  simulator: {
    summary: "run an Azure of your own, for trying and testing",
    load: () => import("./cli/simulator.ts"),
  },
  trace: {
    summary: "follow a host name to the machines behind it",
    load: () => import("./cli/trace.ts"),
  },
  tree: {
    summary: "show each cluster with its link, endpoint and names",
    load: () => import("./cli/tree.ts"),
  },
  version: { summary: "print the version", load: () => import("./cli/version.ts") },
};

/** Runs the program that the first argument names, to its end, and gives the exit code. */
export function main(args: string[]): Promise<number> {
  return runMain(() => dispatch(args));
}

async function dispatch([name = "help", ...rest]: string[]): Promise<void> {
  if (name === "-V" || name === "--version") return dispatch(["version", ...rest]);
  if (name === "help" && rest[0] !== undefined) return dispatch([rest[0], "--help"]);
  if (name === "help" || name === "-h" || name === "--help") {
    process.stdout.write(help());
    return;
  }
  const program = Object.hasOwn(programs, name) ? programs[name] : undefined;
  if (program === undefined) throw unknown(name);
  const loaded = await program.load();
  if ("program" in loaded) return loaded.program(rest);
  const { runProgram } = await import("./cli/run-program.ts");
  await runProgram(name, loaded.command(), rest);
}

function unknown(name: string): UsageError {
  const [kind, known] = name.startsWith("-")
    ? ["option", ["--help", "--version"]]
    : ["program", [...Object.keys(programs), "help"]];
  const meant = nearest(name, known);
  const right = meant ? `did you mean '${meant}'?` : `known are ${known.join(", ")}`;
  return new UsageError(`unknown ${kind} '${name}': ${right} (see postern --help)`);
}

function help(): string {
  const width = Math.max(...Object.keys(programs).map((name) => name.length));
  const rows = Object.entries(programs).map(
    ([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`,
  );
  return `Usage: postern <program> [options]

Private connectivity for Kubernetes control planes on Azure.

Programs:
${rows.join("\n")}

Options:
  -h, --help     print this help, or after a program's name the help of that program
  -V, --version  print the version

Example:
  $ postern local
`;
}
