import { expect, test } from "vitest";
import { fold } from "./fold.ts";

test("what fits is left as it is, and so is everything where there is no terminal", () => {
  expect(fold("one two\nthree", 7)).toBe("one two\nthree");
  expect(fold("a line that is longer than that", undefined)).toBe(
    "a line that is longer than that",
  );
});

test("a long line goes on below where it began, and no word is broken", () => {
  expect(fold("    Remedy: Approve it with postern approve /subscriptions/a/b", 24)).toBe(
    [
      "    Remedy: Approve it",
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
