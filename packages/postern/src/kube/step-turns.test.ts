import { expect, test } from "vitest";
import { mostSteps, StepTurns } from "./step-turns.ts";

const step = (name: string) => ({ do: "create widget", name, why: "it does not exist" }) as const;
const many = (count: number) => Array.from({ length: count }, (_, n) => step(`bad-${n}`));

test("a plan that is not large begins whole", () => {
  const turns = new StepTurns();
  const steps = many(mostSteps);
  expect(turns.choose("a/b", steps)).toEqual({ begin: steps, more: false });
});

test("a step that appears among hundreds that fail begins in the next reconcile", () => {
  const turns = new StepTurns();
  const bad = many(200);
  for (let reconcile = 0; reconcile < 7; reconcile++) {
    const { begin, more } = turns.choose("a/b", bad);
    expect(begin).toHaveLength(mostSteps);
    expect(more).toBe(reconcile < 6);
    turns.failed("a/b", bad, new Set(begin));
  }
  const good = step("good");
  expect(turns.choose("a/b", [...bad, good]).begin).toContain(good);
});

test("steps that fail have their turns again, those that failed longest ago first", () => {
  const turns = new StepTurns();
  const bad = many(3 * mostSteps);
  const begun = new Map<string, number>();
  for (let reconcile = 0; reconcile < 6; reconcile++) {
    const { begin } = turns.choose("a/b", bad);
    for (const { name } of begin) begun.set(name, (begun.get(name) ?? 0) + 1);
    turns.failed("a/b", bad, new Set(begin));
  }
  expect([...begun.values()]).toEqual(bad.map(() => 2));
});
