import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { progressReasons } from "@postern/core/health.ts";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const declared = new Set(
  globSync("{hosted,cluster-api}/**/*.ts", { cwd: root })
    .filter((file) => !file.endsWith(".test.ts"))
    .flatMap((file) => [...readFileSync(join(root, file), "utf8").matchAll(/"([A-Z][A-Za-z]+)"/g)])
    .map(([, reason = ""]) => reason),
);

test("every reason of progress is one that a condition can have", () => {
  expect(Object.keys(progressReasons).filter((each) => !declared.has(each))).toEqual([]);
});

test("every listed reason whose name says that something is in progress counts as progress", () => {
  const files = globSync("**/reasons.ts", { cwd: root });
  const named = files.flatMap((file) => [
    ...readFileSync(join(root, file), "utf8").matchAll(
      /: "([A-Za-z]*(?:(?:Creat|Updat|Delet|Replac|Remov|Chang|Leav|Apply|Terminat)ing|Pending|Unknown|Being[A-Z][a-z]+|WaitingFor[A-Za-z]+))"/g,
    ),
  ]);
  expect(named.length).toBeGreaterThan(20);
  expect(
    named.map(([, reason = ""]) => reason).filter((each) => !Object.hasOwn(progressReasons, each)),
  ).toEqual([]);
});
