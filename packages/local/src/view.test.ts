import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import type { Row } from "./clusters.ts";
import { frameOf } from "./view.ts";

const row = (name: string, over: Partial<Row> = {}): Row => ({
  name,
  what: "Private",
  state: "Progressing",
  step: "private endpoint: Azure is making it, which takes a while",
  ...over,
});
const rows = [
  row("clusters/blue"),
  row("clusters/a-cluster-with-a-very-long-name", { state: "Healthy", step: "" }),
  row("inspector-0", { state: "Unavailable", what: "appliance" }),
];
const frame = {
  title: "demo",
  seconds: 12.7,
  rows,
  columns: 100,
  height: 24,
  color: false,
  notes: [],
};

test("a frame says how far it is, and a line for each cluster what it is at", () => {
  expect(frameOf(frame)).toEqual([
    "demo · 12 s · 1 of 3 Healthy",
    "clusters/blue                             Private    Progressing  private endpoint: Azure is making…",
    "clusters/a-cluster-with-a-very-long-name  Private    Healthy",
    "inspector-0                               appliance  Unavailable  private endpoint: Azure is making…",
  ]);
});

test.each([20, 40, 60, 80, 200])("no line is wider than %d columns", (columns) => {
  for (const color of [false, true])
    for (const line of frameOf({ ...frame, columns, color, notes: ["Everything is available"] }))
      expect(stripVTControlCharacters(line).length).toBeLessThanOrEqual(columns);
});

test("in forty columns the state of every cluster can still be read", () => {
  const lines = frameOf({ ...frame, columns: 40 });
  expect(lines[1]).toMatch(/^clusters\/blue +Progressing$/);
});

test("colors are left out where nobody wants them", () => {
  const text = (color: boolean) => frameOf({ ...frame, color }).join("");
  expect(text(false)).not.toContain("\x1b");
  expect(text(true)).toContain("\x1b[32mHealthy");
});

test("where there is no room for all, those that say most are shown", () => {
  const many = [...Array.from({ length: 300 }, (_, i) => row(`c/${i}`)), rows[2] as Row];
  const lines = frameOf({ ...frame, rows: many, height: 10 });
  expect(lines).toHaveLength(10);
  expect(lines[1]).toContain("inspector-0");
  expect(lines.at(-1)).toBe("… and 293 more");
});
