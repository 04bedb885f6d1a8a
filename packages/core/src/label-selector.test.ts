import { expect, test } from "vitest";
import { isEmptySelector, type LabelSelector, matchesLabels } from "./label-selector.ts";

const labels = { team: "a", env: "prod" };

test.each<[string, LabelSelector, boolean]>([
  ["every label that it names is the same", { matchLabels: { team: "a", env: "prod" } }, true],
  ["a label differs", { matchLabels: { team: "b" } }, false],
  ["a label is not there", { matchLabels: { zone: "1" } }, false],
  ["a label's name is one that every object has", { matchLabels: { toString: "a" } }, false],
  ["the value is in the list", expression("team", "In", ["a", "b"]), true],
  ["the value is not in the list", expression("team", "In", ["c"]), false],
  ["it must not be in the list, and is", expression("team", "NotIn", ["a"]), false],
  ["it must not be in the list, and is not there", expression("zone", "NotIn", ["1"]), true],
  ["it must be there, and is", expression("team", "Exists"), true],
  ["it must be there, and is not", expression("constructor", "Exists"), false],
  ["it must not be there, and is", expression("team", "DoesNotExist"), false],
  ["it must not be there, and is not", expression("zone", "DoesNotExist"), true],
  ["the operator is unknown", expression("team", "Like", ["a"]), false],
  ["there is nothing to meet", {}, true],
])("where %s", (_name, selector, expected) => {
  expect(matchesLabels(selector, labels)).toBe(expected);
});

test("all of it must be met", () => {
  const selector = { matchLabels: { team: "a" }, ...expression("env", "In", ["test"]) };
  expect(matchesLabels(selector, labels)).toBe(false);
});

test("one that asks for nothing is empty", () => {
  expect(
    [undefined, null, {}, { matchLabels: {}, matchExpressions: [] }].map(isEmptySelector),
  ).toEqual([true, true, true, true]);
  expect(isEmptySelector({ matchLabels: { a: "b" } })).toBe(false);
});

function expression(key: string, operator: string, values?: string[]): LabelSelector {
  return { matchExpressions: [{ key, operator, ...(values && { values }) }] };
}
