import { enableCompileCache } from "node:module";
import { speed } from "@postern/azure-simulator/command/options.ts";
import { Command, InvalidArgumentError, Option } from "commander";
import { portCount } from "./ports.ts";

/** The options as they are parsed, before they are checked together. */
export interface LocalOptions {
  scenario?: string;
  data?: string;
  reset?: boolean;
  portBase: number;
  readyFile?: string;
  speed?: number;
  kubeconfig?: string;
  azure: "simulator" | "real";
  clusters: number;
}

/** `postern local`: everything on this machine. */
export function command(): Command {
  return new Command("local")
    .description(
      "Run everything on this machine: a Kubernetes API, an Azure simulator, and Postern",
    )
    .addOption(
      new Option(
        "--scenario <name>",
        "demo, empty, or a YAML file (default: demo; empty with --azure real)",
      ),
    )
    .option("--data <folder>", "folder for persistent data (default: data is deleted on exit)")
    .option(
      "--reset",
      "delete the data in that folder and start over; unreadable files are moved aside",
    )
    .addOption(
      new Option(
        "--port-base <port>",
        `first of ${portCount} consecutive ports; 0 for any free ports`,
      )
        .argParser(portBase)
        .default(7440),
    )
    .option(
      "--ready-file <file>",
      "write addresses and paths to this file as JSON when everything is ready",
    )
    .addOption(
      new Option(
        "--speed <factor>",
        "how many times faster than Azure the simulator is (default: 2; not with --azure real)",
      ).argParser(speed),
    )
    .option("--kubeconfig <file>", "use this cluster instead of the built-in Kubernetes API")
    .addOption(
      new Option(
        "--azure <which>",
        "the simulator, or the Azure subscription in the environment variables",
      )
        .choices(["simulator", "real"])
        .default("simulator"),
    )
    .addOption(
      new Option("--clusters <count>", "number of additional hosted clusters, for load tests")
        .argParser(count)
        .default(0),
    )
    .addHelpText(
      "after",
      `
Everything listens on 127.0.0.1 only. Ctrl-C stops it; without --data all data is deleted. With --data it continues where it
was stopped or killed; a scenario is applied to the folder only once. To write your own scenario, start with a copy of
examples/local/demo.yaml.

Examples:
  $ postern local
  $ postern local --data ~/postern --scenario my-clusters.yaml
  $ postern local --clusters 200 --speed 1000`,
    )
    .action(async (options: LocalOptions) => {
      // Half of the start is the compilation of hundreds of sources: the next start finds them compiled.
      enableCompileCache();
      const { runLocal } = await import("./run.ts");
      await runLocal(options);
    });
}

function portBase(text: string): number {
  const port = Number(text);
  if (text === "0" || (Number.isInteger(port) && port >= 1024 && port <= 65_536 - portCount))
    return port;
  throw new InvalidArgumentError(
    `use a port from 1024 to ${65_536 - portCount}, or 0 for any free ports`,
  );
}

function count(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0 && value <= 5_000) return value;
  throw new InvalidArgumentError("use a whole number from 0 to 5000");
}
