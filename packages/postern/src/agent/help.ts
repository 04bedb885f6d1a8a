import { type AgentOption, formatOption, optionsOf } from "./options.ts";
import { type Subcommand, subcommands } from "./subcommands.ts";

/** The help of `postern agent`. */
export function helpOfAll(): string {
  const rows = Object.entries(subcommands).map(([name, { summary }]): Row => [name, summary]);
  return `Usage: postern agent <command> [options]

Register this machine with a Gateway load balancer, keep it registered, and deregister it on shutdown

Commands:
${table(rows)}

Options:
${table([helpRow])}

The agent runs on an Azure virtual machine. It identifies the machine with the instance metadata service, and uses the machine's
managed identity. Guide: docs/guides/appliances.md. Errors: docs/reference/agent-errors.md.

Examples:
  $ postern agent discover --pool inspect
  $ postern agent run --pool inspect --health-target http://127.0.0.1:9000/healthz
`;
}

/** The help of one subcommand. */
export function helpOf(subcommand: Subcommand): string {
  const { summary, example } = subcommands[subcommand];
  const rows = optionsOf(subcommand).map((each): Row => [formatOption(each), described(each[1])]);
  return `Usage: postern agent ${subcommand} [options]

${summary}

Options:
${table([...rows, helpRow])}

Example:
  $ postern agent ${example}
`;
}

type Row = readonly [left: string, right: string];

const helpRow: Row = ["-h, --help", "print this help"];

function described({ help, usual, shown = usual, env, choices, needed }: AgentOption): string {
  const more = [
    needed === true && "required",
    choices && `choices: ${choices.join(", ")}`,
    shown !== undefined && `default: ${shown}`,
    env !== undefined && `env: ${env}`,
  ].filter((each) => each !== undefined && each !== false);
  return more.length === 0 ? help : `${help} (${more.join(", ")})`;
}

function table(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
}
