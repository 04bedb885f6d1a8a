// Writes docs/reference/commands.md from what every program says of itself with --help; with --check it only compares.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { programs } from "postern/programs.ts";

const page = fileURLToPath(new URL("../docs/reference/commands.md", import.meta.url));
const bin = fileURLToPath(new URL("../packages/postern/bin/postern.js", import.meta.url));

const help = (...words: string[]) =>
  execFileSync(process.execPath, [bin, ...words, "--help"], {
    encoding: "utf8",
    env: { ...process.env, COLUMNS: "100", NO_COLOR: "1" },
  }).trimEnd();

/** The commands below a program, as its help lists them. */
const below = (text: string): string[] => {
  const [, listed = ""] = /^Commands:\n((?: {2}.*\n?)+)/m.exec(text) ?? [];
  return [...listed.matchAll(/^ {2}([a-z][a-z-]*)/gm)].flatMap(([, name]) =>
    name === undefined || name === "help" ? [] : [name],
  );
};

const block = (title: string, text: string) => `${title}\n\n\`\`\`text\n${text}\n\`\`\`\n`;

const sections = Object.keys(programs).flatMap((name) => {
  const text = help(name);
  return [
    block(`## postern ${name}`, text),
    ...below(text).map((each) => block(`### postern ${name} ${each}`, help(name, each))),
  ];
});

const text = `# Commands

Made by \`npm run generate\` from what each program says of itself. Every program is also there as \`kubectl postern\`, where
\`kubectl-postern\` is on the path.

| exit code | means |
| --- | --- |
| 0 | done, and as it should be |
| 1 | it failed: the line says what, why and what to do |
| 2 | \`plan\`: something would change |
| 3 | \`tree\`, \`trace\`, \`doctor\`, \`orphans\`, \`adopt\`: there is something to look at |
| 64 | a mistake in the command: the line says what would be right |
| 70 | a bug in Postern: please report it |
| 130 | interrupted |

\`\`\`text
${help()}
\`\`\`

${sections.join("\n")}`;

if (process.argv.includes("--check")) {
  if (readFileSync(page, "utf8") !== text) {
    console.error("docs/reference/commands.md is behind: run npm run generate");
    process.exitCode = 1;
  }
} else writeFileSync(page, text);
