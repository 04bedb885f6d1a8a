import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const page = new URL("../../docs/security.md", import.meta.url);

/** Every test that the threat model names: `[label](../file) "name", "name"`. */
function namedTests(): { file: string; name: string }[] {
  const text = readFileSync(page, "utf8").replaceAll("\n", " ");
  const links = text.matchAll(/\]\(\.\.\/((?:packages|test)\/[^)]+\.test\.ts)\)((?:,? "[^"]+")*)/g);
  return [...links].flatMap(([, file = "", names = ""]) =>
    [...names.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => ({ file, name })),
  );
}

test("the threat model names tests", () => {
  expect(namedTests().length).toBeGreaterThan(30);
});

test.each(namedTests())(
  'docs/security.md names "$name" of $file, which exists',
  ({ file, name }) => {
    expect(readFileSync(new URL(`../../${file}`, import.meta.url), "utf8")).toContain(name);
  },
);
