import { expect, test } from "vitest";
import { fold } from "./fold.ts";
import { table } from "./output.ts";

test("what fits is left as it is, and so is everything where there is no terminal", () => {
  expect(fold("one two\nthree", 7)).toBe("one two\nthree");
  expect(fold("a line that is longer than that", undefined)).toBe(
    "a line that is longer than that",
  );
});

test("a long line goes on below where it began, and no word is broken", () => {
  expect(fold("    do this: approve it with postern approve /subscriptions/a/b", 24)).toBe(
    [
      "    do this: approve it",
      "      with postern",
      "      approve",
      "      /subscriptions/a/b",
    ].join("\n"),
  );
});

test("the branches of a tree go on beside what was folded", () => {
  expect(fold("├─ ✓ zone one.example.com  links 1\n│  └─ ✗ record a.b  wrong address", 20)).toBe(
    [
      "├─ ✓ zone",
      "│      one.example.com",
      "│      links 1",
      "│  └─ ✗ record a.b",
      "│         wrong",
      "│         address",
    ].join("\n"),
  );
});

test("a colour takes no place", () => {
  expect(fold("\u001b[32mone\u001b[0m two", 7)).toBe("\u001b[32mone\u001b[0m two");
});

test("a table that does not fit has its columns one below the other", () => {
  const rows = [
    ["pe-one", "asks to be let in"],
    ["pe-two", "asks too"],
  ];
  expect(table(["NAME", "SAYS"], rows, 80)).toBe(
    "NAME     SAYS\npe-one   asks to be let in\npe-two   asks too",
  );
  expect(table(["NAME", "SAYS"], rows, 20)).toBe(
    "NAME pe-one\nSAYS asks to be let in\n\nNAME pe-two\nSAYS asks too",
  );
});
