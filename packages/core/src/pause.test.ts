import { describe, expect, test } from "vitest";
import { isPauseReadable, paused } from "./pause.ts";

const now = new Date("2026-08-22T12:00:00Z");

describe("a cluster is paused", () => {
  test.each(["true", "True", "TRUE", "t", "T", "1"])("without an end by %s", (value) => {
    expect(paused(value, now)).toEqual({ paused: true });
  });

  test.each([
    ["2026-08-22T12:01:30Z", 90_000],
    ["2026-08-22T12:00:00.250Z", 250],
    ["2026-08-22T14:00:01+02:00", 1000],
  ])("until %s", (value, untilMs) => {
    expect(paused(value, now)).toEqual({ paused: true, untilMs });
  });
});

describe("a cluster is not paused", () => {
  test.each([
    [undefined],
    [""],
    ["false"],
    ["0"],
    ["yes"],
    ["tRuE"],
    ["2026-08-22T12:00:00Z"],
    ["2020-01-01T00:00:00Z"],
    ["2030-01-01"],
    ["2030-01-01 00:00:00Z"],
    ["2030-01-01T00:00:00"],
    ["2030-02-30T00:00:00Z"],
    ["2030-13-01T00:00:00Z"],
    ["2030-01-01T25:00:00Z"],
    ["2030"],
    ["March 7 2030"],
  ])("by %s", (value) => {
    expect(paused(value, now)).toEqual({ paused: false });
  });
});

test.each([
  ["true", true],
  ["False", true],
  ["", true],
  [undefined, true],
  ["2020-01-01T00:00:00Z", true],
  ["tomorrow", false],
  ["yes", false],
  ["2030-01-01", false],
])("whether %s says anything about a pause is known", (value, readable) => {
  expect(isPauseReadable(value)).toBe(readable);
});
