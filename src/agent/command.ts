import { Command, InvalidArgumentError, Option } from "commander";
import type { AgentOptions } from "./subcommands.ts";

/** `postern agent`: what an appliance behind a Gateway load balancer runs. */
export function command(): Command {
  const agent = new Command("agent")
    .description("put this machine behind a Gateway load balancer, keep it there and take it out")
    .addHelpText(
      "after",
      `
It runs on an Azure machine, finds itself by the instance metadata service and acts by the machine's managed identity.
Errors are described in docs/reference/agent-errors.md, and the whole in docs/guides/appliances.md.

Examples:
  $ postern agent discover --pool inspect
  $ postern agent run --pool inspect --appliance-health http://127.0.0.1:9000/healthz`,
    );
  agent.addCommand(
    everywhere(new Command("run"))
      .description("join, stay until SIGTERM or until Azure ends this machine, then leave")
      .addOption(
        new Option("--health-listen <host:port>", "where health probes are answered")
          .argParser(address)
          .default(address("0.0.0.0:8080"), "0.0.0.0:8080"),
      )
      .option("--no-health", "the appliance answers the probes itself, from its first second")
      .addOption(
        new Option(
          "--appliance-health <url>",
          "ask the appliance here for every probe, once it has answered 200",
        ).argParser(url),
      )
      .addOption(
        new Option("--tunnel <way>", "find the tunnel's interface, also make its links, or neither")
          .choices(["find", "configure", "none"])
          .default("find"),
      )
      .option("--ingress-device-file <file>", "write the name of the interface to this file")
      .option("--ingress-device-env-file <file>", "set INGRESS_DEVICE in this file of variables")
      .option("--ingress-device-hook <command>", "run this with INGRESS_DEVICE set; empty to undo")
      .addOption(
        new Option("--metrics-listen <host:port>", "where /metrics is served").argParser(address),
      )
      .addOption(joinBy())
      .option("--no-events", "do not look for events that end this machine")
      .addHelpText("after", example("run --pool inspect --tunnel configure --output json"))
      .action(async (options: AgentOptions) => (await subcommands()).run(options)),
  );
  agent.addCommand(
    everywhere(new Command("register"))
      .description("put this machine into the pool and end")
      .addOption(joinBy())
      .addHelpText("after", example("register --pool inspect --load-balancer gw"))
      .action(async (options: AgentOptions) => (await subcommands()).register(options)),
  );
  agent.addCommand(
    everywhere(new Command("deregister"))
      .description("take this machine's own entry out of the pool and end")
      .addHelpText("after", example("deregister --pool inspect"))
      .action(async (options: AgentOptions) => (await subcommands()).deregister(options)),
  );
  agent.addCommand(
    everywhere(new Command("status"))
      .description("say whether this machine is in the pool; exit code 1 where it is not")
      .addHelpText("after", example("status --pool inspect --output json"))
      .action(async (options: AgentOptions) => (await subcommands()).status(options)),
  );
  agent.addCommand(
    everywhere(new Command("discover"))
      .description("say which machine this is and which pool it would join; writes nothing")
      .addHelpText("after", example("discover --pool inspect --resource-group security"))
      .action(async (options: AgentOptions) => (await subcommands()).discover(options)),
  );
  return agent;
}

/** Loaded when one is asked for. */
function subcommands(): Promise<typeof import("./subcommands.ts")> {
  return import("./subcommands.ts");
}

function everywhere(sub: Command): Command {
  return sub
    .addOption(
      new Option("--pool <name>", "the backend pool, by its exact name")
        .env("POSTERN_POOL")
        .makeOptionMandatory(),
    )
    .option("--load-balancer <name>", "the Gateway load balancer, by name or resource id")
    .option("--resource-group <name>", "its resource group (default: the machine's)")
    .option("--subscription <id>", "its subscription (default: the machine's)")
    .option("--client-id <id>", "the user-assigned identity to act by")
    .addOption(
      new Option("--patience <seconds>", "how long to go on while something is not there yet")
        .argParser(seconds)
        .default(120),
    )
    .addOption(
      new Option("--imds <url>", "where the metadata service answers")
        .argParser(url)
        .default(undefined, "http://169.254.169.254"),
    )
    .addOption(
      new Option(
        "--resource-manager <url>",
        "where Azure answers, in a cloud of its own",
      ).argParser(url),
    )
    .addOption(
      new Option("--output <format>", "how the output and the log look")
        .choices(["text", "json"])
        .default("text"),
    )
    .addOption(
      new Option("--log-level <level>", "what is logged")
        .choices(["debug", "info", "warn"])
        .default("info"),
    );
}

function joinBy(): Option {
  return new Option("--join-by <kind>", "what joins; auto: what the pool already holds")
    .choices(["auto", "address", "interface"])
    .default("auto");
}

function example(words: string): string {
  return `\nExample:\n  $ postern agent ${words}`;
}

function url(text: string): URL {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text);
  throw new InvalidArgumentError("give a URL, such as http://127.0.0.1:9000/healthz");
}

function seconds(text: string): number {
  if (/^\d{1,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("give a whole number of seconds, such as 120");
}

function address(text: string): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535)
    throw new InvalidArgumentError("give HOST:PORT, such as 0.0.0.0:8080 or [::]:8080");
  return { host: match[1] ?? match[2] ?? "", port };
}
