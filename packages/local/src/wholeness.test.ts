import { expect, test } from "vitest";
import type { Row } from "./clusters.ts";
import { wholeness } from "./wholeness.ts";

const rows = (...states: Row["state"][]): Row[] =>
  states.map((state, at) => ({ name: `c/${at}`, what: "Private", state, step: "" }));

test("everything is available only while it is", () => {
  const notes = wholeness(() => "3 s; 90 MB");
  expect(notes([])).toEqual([]);
  expect(notes(rows("Healthy", "Progressing"))).toEqual([]);
  expect(notes(rows("Healthy", "Healthy"))).toEqual(["Everything is available after 3 s; 90 MB."]);
  expect(notes(rows("Healthy", "Unavailable"))).toEqual([]);
  expect(notes(rows("Healthy", "Unknown"))).toEqual([]);
  expect(notes(rows("Healthy", "Healthy"))).toEqual(["Everything is available again."]);
});
