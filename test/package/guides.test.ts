import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { options as agentOptions } from "postern/agent/options.ts";
import { subcommands } from "postern/agent/subcommands.ts";
import { programs } from "postern/programs.ts";
import { expect, test } from "vitest";
import { root } from "./run-bin.ts";

const read = (file: string) => readFileSync(join(root, file), "utf8");
const pages = [
  "README.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => /^(guides|reference)\/.*\.md$/.test(file) && !file.endsWith("commands.md"))
    .map((file) => `docs/${file}`),
].sort();

/** Tools of others that the pages use. */
const others = [
  "az",
  "bash",
  "cp",
  "curl",
  "docker",
  "echo",
  "eval",
  "export",
  "helm",
  "kill",
  "kubectl",
  "oc",
  "openssl",
  "rm",
  "sleep",
  "tar",
  "terraform",
  "unset",
  "velero",
];

const fence = /^ *```(\w*)\n([\s\S]*?)^ *```/gm;

/** The commands of the shell blocks of a page, and what is named like one in its text. */
function commandsIn(page: string): string[] {
  // Those of the reference have tests of their own, or are no commands.
  const lines = page.startsWith("docs/reference/") ? [] : shellLinesOf(page);
  const inText = read(page)
    .replaceAll(fence, "")
    .matchAll(/`((?:npx )?postern [a-z][^`]*)`/g);
  return [...lines.flatMap(partsOf), ...Array.from(inText, ([, command = ""]) => command)];
}

/** The lines of the shell blocks of a page. */
function shellLinesOf(page: string): string[] {
  return [...read(page).matchAll(fence)]
    .filter(([, kind]) => kind === "sh" || kind === "bash")
    .flatMap(([, , block = ""]) => block.replaceAll(/\\\n\s*/g, "").split("\n"));
}

/** What a line runs: without comment, loop and variables, and each side of what joins two commands. */
function partsOf(line: string): string[] {
  return line
    .replace(/(^|\s)#.*/, "")
    .replaceAll(/'[^']*'|"(?:\\.|[^"])*"/g, "TEXT")
    .replace(/^(?:for|until|while) .*?; do (.*); done$/, "$1")
    .split(/\s*(?:&&|\|\||;|\||&$)\s*/)
    .map((part) => part.trim().replace(/^(?:[A-Z_]+=(?:\$\([^)]*\)|\S*)\s*)+/, ""))
    .filter((part) => part !== "");
}

/** The words and options that may follow a program. */
async function knownIn(words: readonly string[]): Promise<{ flags: string[]; wrong?: string }> {
  const [name = "", second = ""] = words;
  const program = programs[name];
  if (program === undefined) return { flags: [], wrong: `there is no program ${name}` };
  if (name === "agent") {
    const known = second.startsWith("-") || second === "" || second in subcommands;
    const flags = ["--help", ...Object.keys(agentOptions).map((each) => `--${each}`)];
    return { flags, ...(!known && { wrong: `postern agent has no ${second}` }) };
  }
  const loaded = await program.load();
  if (!("command" in loaded)) throw new Error(`the test cannot read the options of ${name}`);
  const whole = loaded.command();
  const below = whole.commands.find((each) => each.name() === second.split("|")[0]);
  if (whole.commands.length > 0 && below === undefined && /^[a-z]/.test(second))
    return { flags: [], wrong: `postern ${name} has no ${second}` };
  return { flags: flagsOf(below ?? whole) };
}

function flagsOf({ options }: Command): string[] {
  return ["--help", "-h", ...options.flatMap(({ long, short }) => [long ?? "", short ?? ""])];
}

/** What is wrong with a command: a tool, a program, an option or a script that does not exist. */
async function wrongIn(command: string): Promise<string[]> {
  const [tool = "", ...words] = command.split(/\s+/);
  if (tool === "npm") {
    const script = (words[0] === "run" ? words[1] : words[0]) ?? "";
    const { scripts } = JSON.parse(read("package.json"));
    return ["ci", ...Object.keys(scripts)].includes(script) ? [] : [`npm has no ${script}`];
  }
  const ours = tool === "npx" ? words.slice(1) : words;
  if (tool === "npx" ? words[0] !== "postern" : tool !== "postern")
    return others.includes(tool) ? [] : [`nobody knows the tool ${tool}`];
  if (/^(-h|--help|-V|--version)$/.test(ours[0] ?? "")) return [];
  const { flags, wrong } = await knownIn(ours);
  if (wrong !== undefined) return [wrong];
  const given = ours.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.split("=")[0]);
  return given
    .filter((flag) => !flags.includes(flag ?? ""))
    .map((flag) => `postern ${ours[0]} has no ${flag}`);
}

test.each(pages)("%s names only commands and options that exist", async (page) => {
  const wrong: string[] = [];
  for (const command of commandsIn(page))
    wrong.push(...(await wrongIn(command)).map((each) => `${command}: ${each}`));
  expect(wrong).toEqual([]);
});

test.each(pages)("%s runs postern by npx, as a clone does", (page) => {
  // The agent runs in the image of an appliance, where it is on the path.
  const bare = shellLinesOf(page).filter((line) => /(^\s*|\$\()postern (?!agent\b)/.test(line));
  expect(bare).toEqual([]);
});

test("a command that does not exist is found", async () => {
  const commands = [
    "npx postern tre",
    "postern tree --al",
    "postern cluster destory x",
    "npm run x",
  ];
  for (const command of commands) expect(await wrongIn(command), command).not.toEqual([]);
  expect(partsOf("A=1 npx postern tre && b | c # d")).toEqual(["npx postern tre", "b", "c"]);
});
