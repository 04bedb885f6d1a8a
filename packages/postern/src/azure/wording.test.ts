import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../../../..");

/** Where words are read on purpose. */
const allowed: Record<string, string> = {
  "packages/postern/src/azure/wording.ts": "Azure has no code for these",
  "packages/postern/src/view/health/condition-report.ts":
    "a condition has no field for its remedy: where the advice begins decides only where it is shown",
  "packages/postern/src/cli/completions.ts": "the help text of an argument, which is ours",
  "packages/postern/src/cluster-api/json-position.ts":
    "the parser of JSON does not always name a position; nothing is decided by it but the position that is shown",
  "packages/kubernetes-embedded/src/schema/schema-words.ts": "the message is the value of a user",
  "packages/dashboard/src/headline.tsx": "a name is not shown twice",
};

const words = "(?:message|sentence|description|detail|what|why)";
const wordsOf = "(?:wordsOf|messageOf|reasonOf|whyOf|String)\\(\\w+\\)";
const decisions = [
  new RegExp(
    `(?:\\b${words}\\)?|${wordsOf})\\??\\s*\\.(?:includes|startsWith|endsWith|match|search)\\(`,
  ),
  new RegExp(`/[a-z]*\\.(?:test|exec)\\([^()]*\\b${words}\\b`),
];

function decidesByWords(source: string): boolean {
  return decisions.some((each) => each.test(source));
}

test.each([
  'error.message.includes("locked")',
  'error.message\n  .startsWith("no")',
  "/ip[- ]based/i.test(error.message)",
  "wordsOf(error).startsWith(prefix)",
  "unread.some(({ what }) => what.endsWith(suffix))",
])("the search for decisions by the words of a message finds %s", (source) => {
  expect(decidesByWords(source)).toBe(true);
});

test("nothing is decided by the words of a message, except where Azure has no code", () => {
  const files = globSync("packages/*/src/**/*.{ts,tsx}", { cwd: root, exclude: ["**/*.test.ts"] });
  expect(files.length).toBeGreaterThan(500);
  const found = files.filter((file) => decidesByWords(readFileSync(join(root, file), "utf8")));
  expect(found.toSorted()).toEqual(Object.keys(allowed).toSorted());
});
