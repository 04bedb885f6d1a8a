import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

const programs = ["operator", "agent", "simulator", "local", "version"];

test.each([
  ["oprator", "operator"],
  ["operatro", "operator"],
  ["Version", "version"],
  ["simulater", "simulator"],
  ["agnet", "agent"],
  ["agent", "agent"],
  ["kubectl", undefined],
  ["", undefined],
])("%s means %s", (typed, meant) => {
  expect(nearest(typed, programs)).toBe(meant);
});
