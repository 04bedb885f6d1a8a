import { type Format, isText, show, withOutput } from "@postern/core/process/output.ts";
import { Command, Option } from "commander";
import { address, limit, operationMs, publicHost, speed, switchValue } from "./options.ts";
import type { SimulatorSettings } from "./run.ts";

/** `postern simulator` and `azure-simulator`: an Azure that runs here. */
export function command(): Command {
  return new Command("simulator")
    .description(
      "Run a local Azure simulator: Resource Manager, Entra and instance metadata, for trials and tests",
    )
    .addOption(
      new Option("--listen <host:port>", "address for HTTPS")
        .argParser(address)
        .default(address("127.0.0.1:8443"), "127.0.0.1:8443"),
    )
    .addOption(
      new Option("--http-listen <host:port>", "address for plain HTTP")
        .argParser(address)
        .default(address("127.0.0.1:8442"), "127.0.0.1:8442"),
    )
    .addOption(
      new Option(
        "--public-host <name>",
        "hostname of this machine in the URLs of responses",
      ).argParser(publicHost),
    )
    .option("--state <file>", "file for persistent state (default: in memory)")
    .option("--seed <file>", "YAML file with the initial resources (default: one subscription)")
    .option("--reset", "start with an empty state file; an unreadable one is moved aside")
    .addOption(
      new Option("--clock <kind>", "with manual, time advances only through the control API")
        .choices(["real", "manual"])
        .default("real"),
    )
    .option(
      "--ready-file <file>",
      "write addresses, CA and identities to this file as JSON when ready",
    )
    .addOption(
      new Option(
        "--operation-ms <[type=]ms>",
        "duration of long-running operations; can be repeated",
      )
        .argParser(operationMs)
        .default(undefined, "0"),
    )
    .addOption(
      new Option("--speed <factor>", "factor by which operations are faster")
        .argParser(speed)
        .default(1),
    )
    .addOption(
      new Option("--reads <burst:perSecond>", "read limit of an identity").argParser(limit),
    )
    .addOption(
      new Option("--writes <burst:perSecond>", "write limit of an identity").argParser(limit),
    )
    .addOption(
      new Option("--deletes <burst:perSecond>", "delete limit of an identity").argParser(limit),
    )
    .addOption(
      new Option(
        "--network-reads <burst:perSecond>",
        "read limit of Microsoft.Network in a subscription",
      ).argParser(limit),
    )
    .addOption(
      new Option(
        "--network-writes <burst:perSecond>",
        "write and delete limit of Microsoft.Network in a subscription",
      ).argParser(limit),
    )
    .addOption(
      new Option(
        "--dns-reads <burst:perSecond>",
        "read limit of DNS and private DNS within Microsoft.Network",
      ).argParser(limit),
    )
    .option("--no-limits", "do not limit requests")
    .addOption(
      new Option(
        "--switch <name=value>",
        "choose a behaviour that Azure does not specify, such as linkServicesPerLoadBalancer=20 (list: docs/reference/simulator.md); can be repeated",
      ).argParser(switchValue),
    )
    .addHelpText(
      "after",
      ({ command }) => `
The default request limits are Azure's: for each identity reads 250:25, writes 200:10 and deletes 200:10, and 15 times as much for
the subscription; for Microsoft.Network 1,000 writes and deletes and 10,000 reads in 5 minutes, 500 of them for DNS. The clock,
faults, the request log and snapshots are under /_postern/: see docs/reference/simulator-control.md.

Example:
  $ ${command.name()} --seed examples/simulator/world.yaml --ready-file ready.json`,
    )
    .action(async (options: SimulatorSettings) => {
      const { runSimulator } = await import("./run.ts");
      await runSimulator(options);
    })
    .addCommand(
      withOutput(new Command("env"))
        .description(
          "Print the environment variables with which az, Terraform and the SDKs use a simulator",
        )
        .argument("<ready-file>", "file that the simulator wrote with --ready-file")
        .action(async (file: string, { output }: { output: Format }) => {
          const { environment, exportLines } = await import("./env.ts");
          const variables = environment(file);
          // The text is read by a shell, so it must not be folded.
          if (isText(output)) process.stdout.write(exportLines(variables));
          else show(output, variables, () => "");
        }),
    );
}
