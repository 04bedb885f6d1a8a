import { join } from "node:path";
import { expect, test } from "vitest";
import { mostOverlap, overlaps, runsOf, shareOf } from "./measure-overlap.ts";

test("the overlap of two texts is the share of their runs of five tokens that both have, without imports and comments", () => {
  const one = runsOf('import { a } from "b";\n// words\nconst a = b + c;');
  expect([...one]).toEqual(["const a = b +", "a = b + c", "= b + c ;"]);
  expect(shareOf(one, runsOf("const a = b + c;"))).toBe(1);
  expect(shareOf(one, runsOf("const a = b + d;"))).toBeCloseTo(1 / 5);
  expect(shareOf(one, runsOf("nothing()"))).toBe(0);
});

test("no two files of different features or domain folders have 15 % of their code in common", () => {
  const all = overlaps(join(import.meta.dirname, ".."));
  expect(all.length).toBeGreaterThan(10_000);
  expect(all.filter(({ share }) => share >= mostOverlap)).toEqual([]);
});
