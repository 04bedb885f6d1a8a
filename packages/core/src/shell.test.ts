import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { shellWord } from "./shell.ts";

test.each(["/subscriptions/1/resourceGroups/rg-1", "one.1f", "a/b"])(
  "%j stays as it is",
  (text) => {
    expect(shellWord(text)).toBe(text);
  },
);

test.each([
  "a; touch b",
  "$(id)",
  "`id`",
  "it's",
  "",
  "two words",
  "(group)",
  "line\nend",
  "-x",
  "a'$(id)'b",
])("attack: %j is one word for a shell, and nothing in it runs", (text) => {
  const script = `printf '%s' ${shellWord(text)}`;
  expect(execFileSync("/bin/sh", ["-c", script], { encoding: "utf8" })).toBe(text);
});
