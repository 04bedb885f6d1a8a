import { expect, test } from "vitest";
import { retryAfterMs } from "./retry-after.ts";

const now = Date.UTC(2026, 0, 1, 12);

test.each([
  ["7", 7_000],
  [" 7 ", 7_000],
  ["Thu, 01 Jan 2026 12:00:30 GMT", 30_000],
  ["999999999", 86_400_000],
])("%j is usable", (header, ms) => {
  expect(retryAfterMs(header, now)).toBe(ms);
});

test.each([
  undefined,
  "",
  "0",
  "-5",
  "0.2",
  "soon",
  "1e3",
  "2026-01-02",
  "Thu, 01 Jan 2026 11:59:00 GMT",
  "Thu, 99 Foo",
])("%j is as if it were not there", (header) => {
  expect(retryAfterMs(header, now)).toBeUndefined();
});
