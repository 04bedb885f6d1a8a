import { parseArgs } from "node:util";
import { nearest } from "@postern/core/process/nearest.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { type AgentOption, formatOption, optionsOf } from "./options.ts";
import type { Subcommand } from "./subcommands.ts";
import type { AgentOptions } from "./work.ts";

/** Read the options of a subcommand; `help` where that is asked for. */
export function readOptions(
  subcommand: Subcommand,
  args: string[],
  env: NodeJS.ProcessEnv = process.env,
): AgentOptions | "help" {
  const known = new Map(optionsOf(subcommand));
  const refuse = (why: string) => new UsageError(`${why} (see postern agent ${subcommand} --help)`);
  const given = wordsIn(args, known, refuse);
  if (given === "help") return "help";
  const read: Record<string, unknown> = {};
  for (const each of known) {
    const [name, option] = each;
    const text = given.get(name) ?? textOf(option, env);
    if (text === undefined && option.needed === true)
      throw refuse(`required option '${formatOption(each)}' not specified`);
    if (text !== undefined) Object.assign(read, readOption(each, text, refuse));
  }
  return read as unknown as AgentOptions;
}

type Refuse = (why: string) => UsageError;

/** The text of every option that is given; that of a switch is empty. */
function wordsIn(
  args: string[],
  known: ReadonlyMap<string, AgentOption>,
  refuse: Refuse,
): Map<string, string> | "help" {
  const words = new Map<string, string>();
  const described = Object.fromEntries(
    [...known].map(([name, { takes }]) => [
      name,
      { type: takes === undefined ? "boolean" : "string" } as const,
    ]),
  );
  const help = { type: "boolean", short: "h" } as const;
  const { tokens } = parseArgs({
    args,
    options: { ...described, help },
    strict: false,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind === "positional") throw refuse(`unexpected argument '${token.value}'`);
    if (token.kind === "option-terminator") continue;
    if (token.name === "help") return "help";
    const option = known.get(token.name);
    if (option === undefined) throw refuse(unknown(token.rawName, known));
    if (option.takes !== undefined && token.value === undefined)
      throw refuse(`option '${formatOption([token.name, option])}' argument missing`);
    if (option.takes === undefined && token.value !== undefined)
      throw refuse(`option '--${token.name}' does not take an argument`);
    words.set(token.name, token.value ?? "");
  }
  return words;
}

function unknown(typed: string, known: ReadonlyMap<string, AgentOption>): string {
  const names = [...known.keys(), "help"].map((name) => `--${name}`);
  const meant = nearest(typed, names);
  return `unknown option '${typed}'${meant === undefined ? "" : `: did you mean '${meant}'?`}`;
}

function textOf({ env: variable, usual }: AgentOption, env: NodeJS.ProcessEnv): string | undefined {
  return (variable === undefined ? undefined : env[variable]) ?? usual;
}

/** An option by its name in the program: `--health-listen` is `healthListen`, and `--no-health` sets `health` to false. */
function readOption(
  [name, option]: [string, AgentOption],
  text: string,
  refuse: Refuse,
): Record<string, unknown> {
  if (option.takes === undefined)
    return { [camel(name.replace(/^no-/, ""))]: !name.startsWith("no-") };
  const wrong = (why: string) =>
    refuse(`option '${formatOption([name, option])}' argument '${text}' is invalid. ${why}`);
  if (option.choices?.includes(text) === false)
    throw wrong(`Allowed choices are ${option.choices.join(", ")}`);
  try {
    return { [camel(name)]: option.read === undefined ? text : option.read(text) };
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error));
  }
}

function camel(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
