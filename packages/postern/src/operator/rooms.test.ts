import { globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";

const source = join(import.meta.dirname, "..");
const rooms = [
  "feature",
  "observe",
  "observed",
  "plan",
  "plan-delete",
  "steps",
  "apply",
  "reasons",
];
const required = ["feature", "observe", "observed", "plan", "steps", "apply"];
const features = globSync("{hosted,cluster-api}/**/feature.ts", { cwd: source }).map(dirname);

test("there are features", () => {
  expect(features.length).toBeGreaterThan(10);
});

describe.each(features.sort())("%s", (feature) => {
  const files = readdirSync(join(source, feature)).filter((file) => file.endsWith(".ts"));

  test("has the rooms of every feature, and no others", () => {
    const others = files.filter(
      (file) => file !== "laws.test.ts" && !rooms.includes(file.replace(/(\.test)?\.ts$/, "")),
    );
    expect(others, "more goes into a named sub-folder").toEqual([]);
    expect(files).toEqual(expect.arrayContaining(required.map((room) => `${room}.ts`)));
  });

  test("has the arguments of every feature in the same order", () => {
    const observe = parametersOf(feature, "observe");
    expect(observe.length).toBeGreaterThanOrEqual(2);
    expect(observe[0]).not.toMatch(/: Reconcile$/);
    expect(observe.at(-1)).toMatch(/: Reconcile$/);
    expect(parametersOf(feature, "plan")).toHaveLength(1);
    const apply = parametersOf(feature, "apply");
    expect(apply).toHaveLength(3);
    expect(apply[0]).toMatch(/: \w+Step(<T>)?$/);
    expect(apply[2]).toMatch(/: Reconcile$/);
  });
});

/** The parameters of the function that a room exports under its own name; it may be one that features share. */
function parametersOf(feature: string, room: string): string[] {
  let text = readFileSync(join(source, feature, `${room}.ts`), "utf8");
  const shared = new RegExp(`^export const ${room} = (\\w+)<\\w+>;$`, "m").exec(text)?.[1];
  const file = new RegExp(`^import { ${shared} } from "(.+)";$`, "m").exec(text)?.[1];
  if (file !== undefined) text = readFileSync(join(source, feature, file), "utf8");
  const name = shared ?? room;
  const list = new RegExp(`^export (?:async )?function ${name}(?:<[^>]*>)?\\(([^)]*)\\)`, "m").exec(
    text,
  )?.[1];
  expect(list, `${room}.ts exports the function ${room}`).toBeDefined();
  const withoutBraces = (list ?? "").replace(/\{[^}]*\}/g, "{}");
  return withoutBraces.split(",").flatMap((each) => each.replace(/\s+/g, " ").trim() || []);
}
