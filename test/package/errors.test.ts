import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { applianceCodes } from "postern/appliance/known-codes.ts";
import { knownCodes } from "postern/azure/known-codes.ts";
import { KubeError } from "postern/kube/errors.ts";
import { expect, test } from "vitest";
import { root } from "./run-bin.ts";

const read = (file: string) => readFileSync(join(root, file), "utf8");
const page = read("docs/reference/errors.md");

/** The part of the page under a heading. */
function part(heading: string): string {
  return page.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? "";
}

/** The codes of a part: the first cells of its table, or what it links to. */
function listed(heading: string): string[] {
  return [...part(heading).matchAll(/^\| `(\w+)` \||\[`(\w+)`\]\(/gm)]
    .map(([, cell, link]) => cell ?? link ?? "")
    .sort();
}

/** The codes in the text of a source, where the pattern finds them. */
function inSource(file: string, block: RegExp, code: RegExp): string[] {
  const [found = ""] = block.exec(read(file)) ?? [];
  return [...found.matchAll(code)].map(([, name = ""]) => name);
}

const sources = globSync("packages/*/src/**/*.ts", { cwd: root }).filter(
  (file) => !file.endsWith(".test.ts"),
);

/** Codes that a KubeError is given anywhere, by the answer's status, or for which there is a remedy. */
function kubeCodes(): string[] {
  const file = "packages/postern/src/kube/errors.ts";
  return [
    ...inSource(file, /const hints[\s\S]*?\n\};/, /^ {2}(\w+):/gm),
    ...inSource(file, /function reasonOf[\s\S]*/, /"([A-Z]\w+)"/g),
    ...sources.flatMap((each) => inSource(each, /[\s\S]*/, /new KubeError\(\s*"(\w+)"/g)),
  ];
}

const quoted = /"(\w+)"/g;

test.each([
  ["AzureError", Object.keys(knownCodes)],
  ["ApplianceError", Object.keys(applianceCodes)],
  ["KubeError", kubeCodes()],
  [
    "LocalError",
    inSource("packages/local/src/local-error.ts", /type LocalErrorCode =[^;]*;/, quoted),
  ],
  [
    "TestBedError",
    inSource(
      "packages/core/src/test-bed/test-bed-error.ts",
      /type TestBedErrorCode =[^;]*;/,
      quoted,
    ),
  ],
  [
    "Values and commands",
    [
      "packages/core/src/cidr-error.ts",
      "packages/core/src/resource-id.ts",
      "packages/core/src/tags.ts",
      "packages/core/src/kinds/private-access.ts",
      "packages/core/src/process/usage-error.ts",
      "packages/postern/src/cli/command-failure.ts",
    ].flatMap((file) => inSource(file, /readonly code\b[^;]*;/, quoted)),
  ],
])("docs/reference/errors.md lists every code of %s, and nothing else", (heading, known) => {
  expect(known.length).toBeGreaterThan(0);
  expect(listed(heading)).toEqual([...new Set(known)].sort());
});

test.each(listed("KubeError"))("the page says of %s what its message says", (code) => {
  const [, hint] = new KubeError(code, "it failed").explain().message.split(" · ");
  if (hint !== undefined) expect(part("KubeError")).toContain(` | ${hint} |`);
});

/** What is thrown for others to explain, and has no code of its own. */
const withoutCode = ["Refused"];

test("every error that explains itself is on the page", () => {
  const classes = sources.flatMap((file) =>
    inSource(file, /[\s\S]*/, /class (\w+) extends Error implements Explained/g),
  );
  const absent = classes.filter((name) => !new RegExp(`\\b${name}\\b`).test(page));
  expect(absent.sort()).toEqual(withoutCode);
});
