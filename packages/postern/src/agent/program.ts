import { fold, terminalWidth } from "@postern/core/process/fold.ts";
import { nearest } from "@postern/core/process/nearest.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { helpOf, helpOfAll } from "./help.ts";
import { readOptions } from "./read-options.ts";
import { isSubcommand, type Subcommand, subcommands } from "./subcommands.ts";
import { type AgentOptions, deregister, discover, register, run, status } from "./work.ts";

/** `postern agent`: what an appliance behind a Gateway load balancer runs. */
export async function program([name, ...args]: string[]): Promise<void> {
  if (name === undefined)
    throw new UsageError(`use one of ${Object.keys(subcommands).join(", ")} ${see}`);
  if (name === "help") return print(args[0] === undefined ? helpOfAll() : helpOf(known(args[0])));
  if (name === "-h" || name === "--help") return print(helpOfAll());
  const subcommand = known(name);
  const options = readOptions(subcommand, args);
  return options === "help" ? print(helpOf(subcommand)) : work[subcommand](options);
}

const work: Record<Subcommand, (options: AgentOptions) => Promise<void>> = {
  run,
  register,
  deregister,
  status,
  discover,
};

const see = "(see postern agent --help)";

function known(name: string): Subcommand {
  if (isSubcommand(name)) return name;
  const names = Object.keys(subcommands);
  const meant = nearest(name, names);
  const right = meant ? `did you mean '${meant}'?` : `use one of ${names.join(", ")}`;
  throw new UsageError(`unknown command '${name}': ${right} ${see}`);
}

function print(text: string): void {
  process.stdout.write(fold(text, terminalWidth()));
}
