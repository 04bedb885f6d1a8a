import { expect, test } from "vitest";
import { shrink } from "./shrink.ts";

const numbers = Array.from({ length: 60 }, (_, n) => n + 1);
const needs =
  (...needed: number[]) =>
  async (entries: readonly number[]) =>
    needed.every((each) => entries.includes(each));

test("only what is needed to fail is left", async () => {
  expect(await shrink(numbers, needs(3, 17, 58), () => true)).toEqual([3, 17, 58]);
  expect(await shrink(numbers, needs(41), () => true)).toEqual([41]);
  expect(await shrink(numbers, needs(...numbers), () => true)).toEqual(numbers);
});

test("what is left still fails when the time is over", async () => {
  for (let most = 0; most < 30; most++) {
    let runs = 0;
    const fails = (entries: readonly number[]) => {
      runs++;
      return needs(3, 17, 58)(entries);
    };
    const left = await shrink(numbers, fails, () => runs < most);
    expect(left).toEqual(expect.arrayContaining([3, 17, 58]));
    expect(runs).toBeLessThanOrEqual(most);
  }
});
