import { Command, Option } from "commander";
import { address, limit, operationMs, publicHost, speed, switchValue } from "./options.ts";
import type { SimulatorSettings } from "./run.ts";

/** `postern simulator` and `azure-simulator`: an Azure that runs here. */
export function command(): Command {
  return new Command("simulator")
    .description("run an Azure of your own: Resource Manager and Entra, for trying and testing")
    .addOption(
      new Option("--listen <host:port>", "where HTTPS is served")
        .argParser(address)
        .default(address("127.0.0.1:8443"), "127.0.0.1:8443"),
    )
    .addOption(
      new Option("--http-listen <host:port>", "where plain HTTP is served")
        .argParser(address)
        .default(address("127.0.0.1:8442"), "127.0.0.1:8442"),
    )
    .addOption(
      new Option(
        "--public-host <name>",
        "the name of this machine in the addresses that answers give",
      ).argParser(publicHost),
    )
    .option("--state <file>", "keep the world in this file (default: in memory)")
    .option("--seed <file>", "a world in YAML to start with (default: one subscription)")
    .option("--reset", "begin with an empty state file; one that cannot be read is kept aside")
    .addOption(
      new Option("--clock <kind>", "manual: it stands until the control surface moves it")
        .choices(["real", "manual"])
        .default("real"),
    )
    .option("--ready-file <file>", "write addresses, CA and identities here when ready, as JSON")
    .addOption(
      new Option("--operation-ms <[type=]ms>", "how long operations take; may be given again")
        .argParser(operationMs)
        .default(undefined, "0"),
    )
    .addOption(
      new Option("--speed <factor>", "how many times faster than that").argParser(speed).default(1),
    )
    .addOption(new Option("--reads <burst:perSecond>", "reads of an identity").argParser(limit))
    .addOption(new Option("--writes <burst:perSecond>", "writes of an identity").argParser(limit))
    .addOption(new Option("--deletes <burst:perSecond>", "deletes of an identity").argParser(limit))
    .addOption(
      new Option(
        "--network-reads <burst:perSecond>",
        "reads that Microsoft.Network answers in a subscription",
      ).argParser(limit),
    )
    .addOption(
      new Option(
        "--network-writes <burst:perSecond>",
        "writes and deletes that it answers in a subscription",
      ).argParser(limit),
    )
    .addOption(
      new Option(
        "--dns-reads <burst:perSecond>",
        "those of its reads that are of DNS and private DNS",
      ).argParser(limit),
    )
    .option("--no-limits", "never answer 429 by itself")
    .addOption(
      new Option(
        "--switch <name=value>",
        "what Azure leaves open, such as linkServicesPerLoadBalancer=20; docs/reference/simulator.md lists them; may be given again",
      ).argParser(switchValue),
    )
    .addHelpText(
      "after",
      ({ command }) => `
Limits are Azure's by default: reads 250:25, writes 200:10, deletes 200:10 for each identity, 15 times that for the subscription;
1,000 writes and deletes and 10,000 reads of Microsoft.Network in 5 minutes, 500 of them of DNS. Under /_postern/ are the
clock, faults, the request log and snapshots; see docs/reference/simulator-control.md.

Example:
  $ ${command.name()} --seed examples/simulator/world.yaml --ready-file ready.json`,
    )
    .action(async (options: SimulatorSettings) => {
      const { runSimulator } = await import("./run.ts");
      await runSimulator(options);
    })
    .addCommand(
      new Command("env")
        .description("print the environment that makes az, Terraform and the SDKs use a simulator")
        .argument("<ready-file>", "what the simulator wrote with --ready-file")
        .action(async (file: string) => {
          const { environment } = await import("./env.ts");
          process.stdout.write(environment(file));
        }),
    );
}
