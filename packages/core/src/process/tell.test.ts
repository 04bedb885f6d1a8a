import { expect, test } from "vitest";
import type { Failure } from "../failure.ts";
import { describeError } from "./tell.ts";
import { UsageError } from "./usage-error.ts";

class AzureIsDown extends Error {
  explain(): Failure {
    return { reason: "Unreachable", message: "ARM does not answer ·\n  it is down · try later" };
  }
}

test("a usage error is one line and exit code 64", () => {
  const described = describeError(new UsageError("unknown command 'oprator'"));
  expect(described).toEqual({ text: "postern: unknown command 'oprator'", exitCode: 64 });
});

test("an error thrown on purpose is its explanation on one line and exit code 1", () => {
  const described = describeError(new AzureIsDown("HTTP 503 with a long body"));
  expect(described).toEqual({
    text: "postern: ARM does not answer. It is down. Try later.",
    exitCode: 1,
  });
});

test("anything else is a bug: it asks for a report, shows the stack, and exits 70", () => {
  const { text, exitCode } = describeError(new TypeError("x is not a function"));
  expect(exitCode).toBe(70);
  expect(text).toMatch(/^postern: this is a bug \(Postern \d+\.\d+\.\d+, Node \d/);
  expect(text).toContain("TypeError: x is not a function\n    at ");
});

test("a thrown value that is not an error is reported as well", () => {
  expect(describeError("just a string").text).toContain("\njust a string");
});
