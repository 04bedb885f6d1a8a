import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { variables } from "./environment-variables.ts";
import { settingsPage } from "./generate-settings-page.ts";

const root = join(import.meta.dirname, "..");

/** The variables that the sources read: by name, by taking an environment apart, or as the option that one stands in for. */
function readInSources(): string[] {
  const files = globSync("packages/*/src/**/*.ts", { cwd: root });
  const found = new Set<string>();
  for (const file of files) {
    if (file.endsWith(".test.ts")) continue;
    const text = readFileSync(join(root, file), "utf8");
    for (const [, name = ""] of text.matchAll(/\benv\??\.([A-Z][A-Z0-9_]+)/g)) found.add(name);
    for (const [, name = ""] of text.matchAll(/\benv: "([A-Z][A-Z0-9_]+)"/g)) found.add(name);
    for (const [, names = ""] of text.matchAll(/\{([^{}]*)\} = env(?:ironment)?;/g))
      for (const [name] of names.matchAll(/\b[A-Z][A-Z0-9_]+\b/g)) found.add(name);
  }
  return [...found].sort();
}

test("the page names every variable that the sources read, and no other", () => {
  const named = Object.values(variables).flatMap((all) => all.map(({ name }) => name));
  expect(named.toSorted()).toEqual(readInSources());
});

test("the page is in step with the options of the programs", () => {
  expect(readFileSync(join(root, "docs/reference/settings.md"), "utf8")).toBe(settingsPage());
});
