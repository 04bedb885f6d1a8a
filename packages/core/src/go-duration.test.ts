import { expect, test } from "vitest";
import { parseGoDuration } from "./go-duration.ts";

test.each([
  ["15s", 15_000],
  ["1m30s", 90_000],
  ["500ms", 500],
  ["1.5h", 5_400_000],
  [".5s", 500],
  ["2.s", 2_000],
  ["250us", 0.25],
  ["3µs", 0.003],
  ["0", 0],
  ["0s", 0],
])("%s is read as Go reads it", (text, ms) => {
  expect(parseGoDuration(text)).toBeCloseTo(ms, 9);
});

test.each(["", "15", "s", "15 s", "-1s", "1s2", "1d", "1s 2s", ".s", "1,5s", "15S"])(
  "%j is no duration",
  (text) => {
    expect(parseGoDuration(text)).toBeUndefined();
  },
);
