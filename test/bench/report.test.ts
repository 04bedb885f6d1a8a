import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { asTable, atLeast, atMost, makeReport, median, publish, told } from "../../bench/report.ts";

test("a row is ok on its target and not beyond it", () => {
  expect(atLeast("rate", 2, "x", 2).ok).toBe(true);
  expect(atLeast("rate", 1.999, "x", 2).ok).toBe(false);
  expect(atMost("CPU", 0.45, "x", 0.45).ok).toBe(true);
  expect(atMost("CPU", 0.4501, "x", 0.45).ok).toBe(false);
  expect(told("memory", 12_345.6, "MB")).toEqual({
    name: "memory",
    value: 12_346,
    unit: "MB",
    target: null,
    ok: true,
  });
});

test("a value that was rounded onto its target has still missed it", () => {
  expect(atLeast("rate", 1.9999, "x", 2)).toMatchObject({ value: 2, ok: false });
});

test("the median is the middle one, or the mean of the two in the middle", () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(() => median([])).toThrow("a median of nothing");
});

test("a missed target is reported with by how much and why", () => {
  const rows = [atMost("CPU", 0.9, "x", 0.45), atMost("failed", 3, "writes", 0)];
  const report = makeReport("test", rows, { CPU: "the reason" });
  expect(report.notes).toEqual([
    "CPU: missed by 100 % · the reason",
    "failed: missed by 3 writes · not explained yet",
  ]);
  expect(asTable(report)).toContain("MISSED");
});

test("a figure that is no number is a fault of the bench", () => {
  expect(() => makeReport("test", [told("ratio", 0 / 0, "x")])).toThrow('"ratio" has no value');
});

test("the file has the rows, and beside them the commit, the Node version and the cores", () => {
  const folder = mkdtempSync(join(tmpdir(), "postern-report-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const printed = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  onTestFinished(() => printed.mockRestore());
  publish(makeReport("test", [atLeast("rate", 3, "x", 2)]), join(folder, "report.json"));
  const report: unknown = JSON.parse(readFileSync(join(folder, "report.json"), "utf8"));
  expect(report).toMatchObject({
    rows: [{ name: "rate", value: 3, unit: "x", target: ">= 2", ok: true }],
    commit: expect.stringMatching(/^([\da-f]{7,}\+?|unknown)$/),
    node: process.version,
    cores: expect.any(Number),
  });
});
