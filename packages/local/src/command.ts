import { enableCompileCache } from "node:module";
import { speed } from "@postern/azure-simulator/command/options.ts";
import { Command, InvalidArgumentError, Option } from "commander";
import { portCount } from "./ports.ts";

/** What the options say before they are looked at together. */
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
      "run everything on this machine: a Kubernetes API, an Azure, and Postern between them",
    )
    .addOption(
      new Option(
        "--scenario <name>",
        "demo, empty, or a YAML file (default: demo; empty with --azure real)",
      ),
    )
    .option("--data <folder>", "keep everything here, beyond the end (default: nothing is kept)")
    .option("--reset", "begin anew in that folder; what cannot be read there is kept aside")
    .addOption(
      new Option("--port-base <port>", `the first of ${portCount} ports; 0 for any free ones`)
        .argParser(portBase)
        .default(7440),
    )
    .option("--ready-file <file>", "write addresses and paths here when all is ready, as JSON")
    .addOption(
      new Option(
        "--speed <factor>",
        "how many times faster than Azure things are done (default: 2; with --azure real it has its own pace)",
      ).argParser(speed),
    )
    .option("--kubeconfig <file>", "use this cluster instead of the API server that comes along")
    .addOption(
      new Option("--azure <which>", "the simulator, or the Azure that the environment names")
        .choices(["simulator", "real"])
        .default("simulator"),
    )
    .addOption(
      new Option("--clusters <count>", "so many more hosted clusters, for load")
        .argParser(count)
        .default(0),
    )
    .addHelpText(
      "after",
      `
Everything listens on 127.0.0.1 only. Ctrl-C ends it; without --data nothing stays. --data DIR goes on where it was
stopped or killed, and a scenario is applied to it once. A scenario of your own begins as a copy of
examples/local/demo.yaml.

Examples:
  $ postern local
  $ postern local --data ~/postern --scenario my-clusters.yaml
  $ postern local --clusters 200 --speed 1000`,
    )
    .action(async (options: LocalOptions) => {
      // Half of the start is the reading of hundreds of sources: the next one finds them as they were compiled.
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
    `give a port from 1024 to ${65_536 - portCount}, or 0 for any free ones`,
  );
}

function count(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0 && value <= 5_000) return value;
  throw new InvalidArgumentError("give a whole number from 0 to 5000");
}
