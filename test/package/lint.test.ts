import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "./run-bin.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "postern-lint-"));
  const config = JSON.parse(readFileSync(join(root, "biome.json"), "utf8"));
  const { $schema: _schema, vcs: _vcs, ...rest } = config;
  writeFileSync(join(folder, "biome.json"), JSON.stringify(rest));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The lint rules that a file with this source breaks, under the configuration of this repository. */
function brokenRules(file: string, source: string): Promise<string[]> {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), source);
  const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
  const args = [biome, "lint", "--error-on-warnings", "--reporter=json", file];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder }, (error, stdout) => {
      const { diagnostics } = JSON.parse(stdout) as { diagnostics: { category: string }[] };
      const rules = diagnostics.map(({ category }) => category.split("/").at(-1) ?? "");
      resolve(error ? rules : []);
    });
  });
}

const late = "async function late(): Promise<number> { return 1; }\n";

test.each([
  ["a promise that nobody waits for", "noFloatingPromises", `${late} late();`],
  ["a promise as a condition", "noMisusedPromises", `${late} export const a = late() ? 1 : 2;`],
  [
    "a switch that forgets a case",
    "useExhaustiveSwitchCases",
    `export function f(a: "x" | "y"): number { switch (a) { case "x": return 1; } return 2; }`,
  ],
  ["a line on the console", "noConsole", `console.log("a");`],
  ["a default export", "noDefaultExport", "export default 1;"],
  [
    "a type imported as a value",
    "useImportType",
    `import { Stats } from "node:fs"; export const a: Stats[] = [];`,
  ],
  [
    "a module of Node without node:",
    "useNodejsImportProtocol",
    `import { rmSync } from "fs"; rmSync("a");`,
  ],
  ["any", "noExplicitAny", "export const a: any = 1;"],
])("the linter refuses %s", async (_name, rule, source) => {
  expect(await brokenRules("packages/core/src/wrong.ts", source)).toEqual([rule]);
});

test.each([["packages/postern/src/cli/a.ts"], ["scripts/a.ts"], ["bench/a.ts"], ["test/a.ts"]])(
  "the linter lets %s use the console",
  async (file) => {
    expect(await brokenRules(file, `console.log("a");`)).toEqual([]);
  },
);
