import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { programs } from "postern/programs.ts";
import { expect, test } from "vitest";
import { root } from "./run-bin.ts";

const files = globSync("packages/{core,postern,local,dashboard}/src/**/*.{ts,tsx}", { cwd: root })
  // The scripts of completion are for shells.
  .filter((file) => !/\.test\.tsx?$|\/completions\.ts$/.test(file))
  .sort();

/** The commands of ours that people are told to run: each ends where its sentence, or its part of a condition, does. */
function commandsIn(text: string): string[] {
  const inTexts = text.replace(/^\s*(\/\/|\/?\*).*$/gm, "").replace(/\$\{[^{}]*\}/g, "VALUE");
  return [...inTexts.matchAll(/(?<![@\w/=-])postern ([a-z][a-z-]*(?: [^\s`"',;:·()]+)*)/g)].map(
    ([, command]) => command ?? "",
  );
}

/** Why a command would be refused; undefined where it is not. */
async function problemOf(text: string): Promise<string | undefined> {
  const [name = "", ...words] = text.split(" ");
  const program = programs[name];
  if (program === undefined) return `there is no program ${name}`;
  const loaded = await program.load();
  if (!("command" in loaded)) return undefined;
  let command: Command = loaded.command();
  const known = new Set(["--help"]);
  for (const word of words) {
    const below = command.commands.find((each) => each.name() === word);
    if (below) command = below;
    for (const { long } of command.options) known.add(long ?? "");
    if (word.startsWith("--") && !known.has(word.replace(/[.=].*$/, "")))
      return `${command.name()} has no option ${word}`;
  }
  return undefined;
}

const found = files.flatMap((file) =>
  commandsIn(readFileSync(join(root, file), "utf8")).map((command) => ({ file, command })),
);

test("every command that a remedy, an error or a help text names is one of ours, with options that it has", async () => {
  expect(found.length).toBeGreaterThan(40);
  const problems = await Promise.all(
    found.map(async ({ file, command }) => ({ file, command, problem: await problemOf(command) })),
  );
  expect(problems.filter(({ problem }) => problem !== undefined)).toEqual([]);
});

test("a program and an option that do not exist are found", async () => {
  expect(commandsIn('"see postern tee blue: it helps"')).toEqual(["tee blue"]);
  expect(await problemOf("tee blue")).toBe("there is no program tee");
  expect(await problemOf("cluster destroy VALUE --forever")).toBe(
    "destroy has no option --forever",
  );
});
