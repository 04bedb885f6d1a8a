import { expect, test } from "vitest";
import { duration } from "./duration.ts";

test.each([
  [-5_000, "0 s"],
  [400, "0 s"],
  [59_400, "59 s"],
  [60_000, "1 min"],
  [3_599_000, "59 min"],
  [7_200_000, "2 h"],
  [200_000_000, "2 d"],
])("%i ms are %s", (ms, text) => {
  expect(duration(ms)).toBe(text);
});
