import { expect, test } from "vitest";
import { ageOf, durationText } from "./ages.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

test.each([
  [0, "0s"],
  [-500, "0s"],
  [-5 * second, "<invalid>"],
  [119 * second, "119s"],
  [2 * minute, "2m"],
  [9 * minute + 59 * second, "9m59s"],
  [10 * minute + 5 * second, "10m"],
  [179 * minute, "179m"],
  [3 * hour + 5 * minute, "3h5m"],
  [8 * hour + 5 * minute, "8h"],
  [47 * hour, "47h"],
  [2 * day + 3 * hour, "2d3h"],
  [8 * day + 3 * hour, "8d"],
  [729 * day, "729d"],
  [731 * day, "2y1d"],
  [9 * 365 * day, "9y"],
])("%i ms are said as %s", (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

test("a time that is not known, or is none, is said to be so", () => {
  expect(ageOf(undefined, 0)).toBe("<unknown>");
  expect(ageOf("yesterday", 0)).toBe("<invalid>");
});
